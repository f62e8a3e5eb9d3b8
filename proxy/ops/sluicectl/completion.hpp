#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/sluicectl/pages.hpp"

namespace sluice::manual {

/// Declares the option --completion, which prints a completion script: `--completion` for bash, `--completion=zsh` for
/// zsh. `shell` receives the shell's name.
void declare_completion(CLI::App& program, std::string& shell);

/// Returns a script that completes a program's command line in a shell ("bash", "zsh" or "fish"). It completes options,
/// subcommands, `verbs` with their literal arguments, and otherwise file names. For the placeholders UE and NAME it
/// requests the names of UEs and counters from the running program.
[[nodiscard]] std::string completion(std::string_view shell, const CLI::App& program,
                                     const std::vector<Verb>& verbs = {});

}  // namespace sluice::manual
