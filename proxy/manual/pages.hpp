#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "proxy/manual/roff.hpp"
#include "proxy/yaml/key_table.hpp"

namespace sluice::manual {

/// What a page says besides what it is made from.
struct Words {
  std::vector<std::string> description;  ///< paragraphs
  std::vector<std::string> see_also;     ///< "sluicectl(1)"
};

/// A word that a program takes, and what it does.
struct Verb {
  std::string usage;  ///< "flows [LIMIT]"
  std::string help;
};

/// The manual page of a program: its options and those of its subcommands as it declares them, `verbs` as its commands,
/// and its footer.
[[nodiscard]] std::string program_page(const Title& title, const Words& words, const CLI::App& program,
                                       const std::vector<Verb>& verbs = {});
/// The manual page of a file whose keys these are.
[[nodiscard]] std::string file_page(const Title& title, const Words& words,
                                    const std::vector<config::KeyTable>& tables);

}  // namespace sluice::manual
