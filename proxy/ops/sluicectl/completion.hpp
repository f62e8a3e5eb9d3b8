#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/sluicectl/pages.hpp"

namespace sluice::manual {

/// Declares the flag --completion, which prints a completion: `--completion` for bash, or `--completion=zsh`.
void declare_completion(CLI::App& program, std::string& shell);

/// Returns a script for a shell ("bash", "zsh" or "fish") that completes the command line of a program: its options,
/// subcommands, `verbs` with their literal arguments, and otherwise file names. For the placeholders UE and NAME of a
/// verb the script asks the running program for its UEs and counters.
[[nodiscard]] std::string completion(std::string_view shell, const CLI::App& program,
                                     const std::vector<Verb>& verbs = {});

}  // namespace sluice::manual
