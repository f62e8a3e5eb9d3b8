#pragma once

#include <string>
#include <vector>

namespace sluice::config {

/// Description of one key in the configuration reference. In the texts, backticks enclose what the user types.
struct KeyRow {
  std::string key;
  std::string kind;     ///< type of the key's value, such as "duration"
  std::string range;    ///< accepted range of the value, such as "1ms … 10s"; may be empty
  std::string value;    ///< default value, or one of "required", "not set", "empty" and "see below"
  std::string meaning;  ///< explanation of the key, with its valid words if it is an enumeration
};

/// Table in the configuration reference that describes the keys of one map.
struct KeyTable {
  std::string path;  ///< dotted path of the map, such as "ports.radio"; empty at the top level
  std::vector<KeyRow> rows;
};

/// Returns tables of the configuration reference as Markdown.
[[nodiscard]] std::string to_markdown(const std::vector<KeyTable>& tables);

}  // namespace sluice::config
