#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "proxy/manual/pages.hpp"

namespace sluice::manual {

/// What bash reads to complete a program's command line: its options, its subcommands with theirs, `verbs` with the
/// fixed words of their arguments, and files for all else.
[[nodiscard]] std::string bash_completion(const CLI::App& program, const std::vector<Verb>& verbs = {});

}  // namespace sluice::manual
