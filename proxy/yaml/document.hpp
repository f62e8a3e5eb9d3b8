#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/yaml/error.hpp"

namespace sluice::config {

struct Entry;

/// One value of a YAML file with its position.
struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  Place place;
  std::string text;            ///< scalar: what is written, quotes removed
  std::vector<Node> items;     ///< list
  std::vector<Entry> entries;  ///< map, in the order of the file, keys unique

  /// The entry of a map; null when it has none of that name.
  [[nodiscard]] const Entry* find(std::string_view key) const;
  /// How an error message names it: `"text"`, `a list`, `a map`, `nothing`.
  [[nodiscard]] std::string to_string() const;
};

/// A key of a map and its value.
struct Entry {
  std::string key;
  Place place;  ///< of the key
  Node value;
};

/// What a file may hold at most; a configuration needs far less.
struct DocumentLimits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t depth = 24;
  std::size_t nodes = 50'000;
  std::size_t errors = 100;  ///< reading ends after so many
};

/// Reads one YAML document into a tree. Refused: syntax errors, a second document, anchors and aliases, explicit tags,
/// keys that are not plain text, duplicate keys, and whatever exceeds the limits. Errors go to `errors`; the
/// tree holds what could be read (an empty map when nothing could).
[[nodiscard]] Node parse_document(std::string_view text, const std::string& file, std::vector<Error>& errors,
                                  const DocumentLimits& limits = {});

/// The bytes of a file. An unreadable or too long one is an error; at most limit + 1 bytes are read, so that a device
/// or a pipe does no harm.
[[nodiscard]] std::string read_text(const std::string& file, std::size_t limit, std::vector<Error>& errors);

}  // namespace sluice::config
