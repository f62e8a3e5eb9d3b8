#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "proxy/ops/sluicectl/pages.hpp"

namespace sluice::manual {

/// Returns a bash script that completes the command line of a program: its options, subcommands, `verbs` with their
/// literal arguments, and otherwise file names.
[[nodiscard]] std::string bash_completion(const CLI::App& program, const std::vector<Verb>& verbs = {});

}  // namespace sluice::manual
