#pragma once

#include <string>
#include <vector>

namespace sluice::config {

/// Row of the configuration reference that describes one key. In the texts, backticks enclose what the user types.
struct KeyRow {
  std::string key;
  std::string kind;     ///< type of the key's value, such as "duration"
  std::string range;    ///< accepted range of the value, such as "1ms … 10s"; may be empty
  std::string value;    ///< default value, or "required", "not set", "empty", "see below"
  std::string meaning;  ///< help text of the key, with the words of an enumeration
};

/// Table of the configuration reference with the keys of one map.
struct KeyTable {
  std::string path;  ///< dotted path of the map, such as "ports.radio"; empty at the top level
  std::vector<KeyRow> rows;
};

/// Returns the tables of the configuration reference as Markdown.
[[nodiscard]] std::string to_markdown(const std::vector<KeyTable>& tables);

}  // namespace sluice::config
