#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "proxy/ops/sluicectl/roff.hpp"
#include "proxy/yaml/key_table.hpp"

namespace sluice::manual {

/// Texts of a manual page that are written by hand. The other texts are generated from declarations.
struct Words {
  std::vector<std::string> description;  ///< paragraphs of the section DESCRIPTION
  std::vector<std::string> see_also;     ///< manual pages of the section SEE ALSO, such as "sluicectl(1)"
};

/// Command of a program, for the manual page and the completion script.
struct Verb {
  std::string usage;  ///< command with its arguments, such as "flows [LIMIT]"
  std::string help;
};

/// Returns the manual page of a program. It contains the declared options and subcommands, the commands `verbs`, and
/// the footer of `program`.
[[nodiscard]] std::string program_page(const Title& title, const Words& words, const CLI::App& program,
                                       const std::vector<Verb>& verbs = {});
/// Returns the manual page of a configuration file with the keys in `tables`.
[[nodiscard]] std::string file_page(const Title& title, const Words& words,
                                    const std::vector<config::KeyTable>& tables);

}  // namespace sluice::manual
