#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/yaml/error.hpp"

namespace sluice::config {

struct Entry;

/// Value in a YAML file (scalar, list or map) and its position.
struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  Place place;
  std::string text;            ///< text of a scalar, without quotes
  std::vector<Node> items;     ///< elements of a list
  std::vector<Entry> entries;  ///< entries of a map in the order of the file; each key occurs once

  /// Names of the files that the document includes, only set in the root. The first one has the number 1 in
  /// Place::file.
  std::vector<std::string> included_files{};

  /// Returns the map entry with this key, or null if there is none.
  [[nodiscard]] const Entry* find(std::string_view key) const;
  /// Returns a description of the value for an error message: `"text"`, `a list`, `a map` or `nothing`.
  [[nodiscard]] std::string to_string() const;
};

/// Key of a YAML map and its value.
struct Entry {
  std::string key;
  Place place;  ///< position of the key
  Node value;
};

/// Limits on the size of a YAML file. A configuration is far smaller.
struct DocumentLimits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t depth = 24;
  std::size_t nodes = 50'000;
  std::size_t errors = 100;  ///< number of errors after which the rest of the file is not read
};

/// Reads one YAML document into a tree. Refuses syntax errors, a second document, anchors, aliases, explicit tags, and
/// keys that are not text or occur twice. Also refuses sizes above `limits`. Errors are appended to `errors`. The tree
/// contains what could be read, or is an empty map.
[[nodiscard]] Node parse_document(std::string_view text, const std::string& file, std::vector<Error>& errors,
                                  const DocumentLimits& limits = {});

/// Reads a file into a tree. Also reads the files that its key `include` names. ${NAME} is replaced by the value of an
/// environment variable. A key in the file replaces the same key of an included file; a later included file replaces an
/// earlier one. Maps are merged. After an error the tree has no entries.
[[nodiscard]] Node load_document(const std::string& file, std::vector<Error>& errors,
                                 const DocumentLimits& limits = {});
/// Returns the name of the file that contains a position in the tree. `file` is the file that load_document() has read.
[[nodiscard]] const std::string& file_of(const Node& root, const Place& place, const std::string& file);

/// Returns the contents of a file. Reports an error if the file cannot be read or is longer than `limit`. At most limit
/// + 1 bytes are read, so that a device or pipe cannot exhaust memory.
[[nodiscard]] std::string read_text(const std::string& file, std::size_t limit, std::vector<Error>& errors);

}  // namespace sluice::config
