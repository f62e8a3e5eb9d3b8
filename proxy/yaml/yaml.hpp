#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/yaml/document.hpp"
#include "proxy/yaml/error.hpp"
#include "proxy/yaml/key_table.hpp"
#include "proxy/yaml/section.hpp"

namespace sluice::config {

/// Selects whether print() writes or hides values that were declared secret.
enum class Secrets { hide, show };

namespace detail {
/// Reads the root map of a YAML document into the variables of the keys that `body` declares. Errors and warnings are
/// appended to `errors` and `warnings` in the order of the file.
void read(std::string_view text, const std::string& file, const DocumentLimits& limits,
          const std::function<void(Section&)>& body, std::vector<Error>& errors, std::vector<Error>& warnings);
/// Reads a tree, which may have been modified after parsing, into the variables of the keys that `body` declares.
/// Errors and warnings are appended to `errors` and `warnings`.
void read(const Node& root, const std::string& file, const std::function<void(Section&)>& body,
          std::vector<Error>& errors, std::vector<Error>& warnings);
[[nodiscard]] std::string print(const std::function<void(Section&)>& body, Secrets secrets);
[[nodiscard]] std::vector<KeyTable> key_tables(const std::function<void(Section&)>& body);
[[nodiscard]] std::vector<std::string> live_keys(const std::function<void(Section&)>& body);
}  // namespace detail

/// Parses YAML text into a T. Keys that are missing keep the values in `value`. `file` is the file name in errors.
/// Reports every error, not only the first. Errors are wrong syntax; duplicate, unknown or missing keys; malformed or
/// out-of-range values; and violated rules of describe().
template <typename T>
[[nodiscard]] Loaded<T> parse(std::string_view text, const std::string& file, T value = {},
                              const DocumentLimits& limits = {}) {
  Loaded<T> loaded;
  detail::read(
      text, file, limits, [&value](Section& root) { describe(root, value); }, loaded.errors, loaded.warnings);
  if (loaded.errors.empty()) loaded.value = std::move(value);
  return loaded;
}

/// Reads a T from a tree that parse_document() has returned. Used for files whose values are changed before they are
/// read. Keys that are missing keep the values in `value`.
template <typename T>
[[nodiscard]] Loaded<T> parse(const Node& root, const std::string& file, T value = {}) {
  Loaded<T> loaded;
  detail::read(
      root, file, [&value](Section& section) { describe(section, value); }, loaded.errors, loaded.warnings);
  if (loaded.errors.empty()) loaded.value = std::move(value);
  return loaded;
}

/// Reads a T from a file, the files that it includes, and environment variables; see load_document(). The checks are
/// those of parse(). Keys that are missing keep the values in `value`.
template <typename T>
[[nodiscard]] Loaded<T> load(const std::string& file, T value = {}, const DocumentLimits& limits = {}) {
  Loaded<T> loaded;
  const Node root = load_document(file, loaded.errors, limits);
  if (!loaded.errors.empty()) return loaded;
  return parse(root, file, std::move(value));
}

/// Returns every key with its value as YAML. If secrets are shown, parse() of the text returns an equal T.
template <typename T>
[[nodiscard]] std::string print(const T& value, Secrets secrets = Secrets::hide) {
  T copy = value;
  return detail::print([&copy](Section& root) { describe(root, copy); }, secrets);
}

/// Returns the reference of every key: type, range, default and explanation. Each map has one table.
template <typename T>
[[nodiscard]] std::vector<KeyTable> key_tables() {
  T value{};
  return detail::key_tables([&value](Section& root) { describe(root, value); });
}

/// Returns the reference of every key of T as Markdown.
template <typename T>
[[nodiscard]] std::string reference() {
  return to_markdown(key_tables<T>());
}

/// Returns those top-level keys that were declared live, which means that they and all keys below them can be changed
/// while the program is running.
template <typename T>
[[nodiscard]] std::vector<std::string> live_keys() {
  T value{};
  return detail::live_keys([&value](Section& root) { describe(root, value); });
}

}  // namespace sluice::config
