#pragma once

#include <string>
#include <vector>

namespace sluice::config {

/// One key as the reference shows it. In the texts, backticks enclose what the user types.
struct KeyRow {
  std::string key;
  std::string kind;     ///< type of the value, such as "duration"
  std::string range;    ///< accepted range, such as "1ms … 10s"; may be empty
  std::string value;    ///< default value, or "required", "not set", "empty", "see below"
  std::string meaning;  ///< help text, with the words of an enumeration
};

/// Keys of one map.
struct KeyTable {
  std::string path;  ///< path of the map, such as "ports.radio"; empty at the top level
  std::vector<KeyRow> rows;
};

/// Returns the tables as Markdown.
[[nodiscard]] std::string to_markdown(const std::vector<KeyTable>& tables);

}  // namespace sluice::config
