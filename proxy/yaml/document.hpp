#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/yaml/error.hpp"

namespace sluice::config {

struct Entry;

/// Value in a YAML file (scalar, list or map) with its position.
struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  Place place;
  std::string text;            ///< text of a scalar, without quotes
  std::vector<Node> items;     ///< elements of a list
  std::vector<Entry> entries;  ///< entries of a map in the order of the file, with unique keys

  /// files that the document includes, at the root only; Place::file counts them from 1
  std::vector<std::string> included_files{};

  /// Returns the map entry with this key, or null if there is none.
  [[nodiscard]] const Entry* find(std::string_view key) const;
  /// Returns the value as an error message shows it: `"text"`, `a list`, `a map` or `nothing`.
  [[nodiscard]] std::string to_string() const;
};

/// Key of a YAML map with its value.
struct Entry {
  std::string key;
  Place place;  ///< position of the key
  Node value;
};

/// Upper bounds on the size of a YAML file; a configuration needs far less.
struct DocumentLimits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t depth = 24;
  std::size_t nodes = 50'000;
  std::size_t errors = 100;  ///< number of errors after which reading the file ends
};

/// Reads one YAML document into a tree. Refuses syntax errors, a second document, anchors, aliases, explicit tags,
/// non-text or duplicate keys, and sizes above `limits`. Errors are appended to `errors`. The tree holds what could
/// be read, or an empty map.
[[nodiscard]] Node parse_document(std::string_view text, const std::string& file, std::vector<Error>& errors,
                                  const DocumentLimits& limits = {});

/// Reads a file as a tree, with the files that its key `include` names and with environment variables in place of
/// ${NAME}. A key of the file wins over one that it includes, a later included file over an earlier one; maps are
/// merged. After an error the tree has no entries.
[[nodiscard]] Node load_document(const std::string& file, std::vector<Error>& errors,
                                 const DocumentLimits& limits = {});
/// Returns the file in which a position of the tree is; `file` is the one that load_document() read.
[[nodiscard]] const std::string& file_of(const Node& root, const Place& place, const std::string& file);

/// Returns the contents of a file. A file that is unreadable or longer than `limit` is an error. At most limit + 1
/// bytes are read, so that a device or a pipe cannot exhaust memory.
[[nodiscard]] std::string read_text(const std::string& file, std::size_t limit, std::vector<Error>& errors);

}  // namespace sluice::config
