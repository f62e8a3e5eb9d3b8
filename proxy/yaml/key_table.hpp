#pragma once

#include <string>
#include <vector>

namespace sluice::config {

/// One key as its explanations show it; backticks in the texts stand around what is typed.
struct KeyRow {
  std::string key;
  std::string kind;     ///< "duration"
  std::string range;    ///< "1ms … 10s"; may be empty
  std::string value;    ///< the default, or "required", "not set", "empty", "see below"
  std::string meaning;  ///< with the words of an enumeration
};

/// The keys of one map.
struct KeyTable {
  std::string path;  ///< "ports.radio"; empty at the top level
  std::vector<KeyRow> rows;
};

/// The tables as Markdown.
[[nodiscard]] std::string to_markdown(const std::vector<KeyTable>& tables);

}  // namespace sluice::config
