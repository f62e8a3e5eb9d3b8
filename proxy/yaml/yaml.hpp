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

/// Selects whether print() writes values that were declared secret().
enum class Secrets { hide, show };

namespace detail {
/// Reads the root map of a YAML document into the variables that `body` declares. Errors are in the order of the file.
void read(std::string_view text, const std::string& file, const DocumentLimits& limits,
          const std::function<void(Section&)>& body, std::vector<Error>& errors, std::vector<Error>& warnings);
/// Reads a parsed, possibly modified tree into the variables that `body` declares.
void read(const Node& root, const std::string& file, const std::function<void(Section&)>& body,
          std::vector<Error>& errors, std::vector<Error>& warnings);
[[nodiscard]] std::string print(const std::function<void(Section&)>& body, Secrets secrets);
[[nodiscard]] std::vector<KeyTable> key_tables(const std::function<void(Section&)>& body);
[[nodiscard]] std::vector<std::string> live_keys(const std::function<void(Section&)>& body);
}  // namespace detail

/// Parses YAML text into a T whose defaults are `value`. `file` names the text in errors. Every error is reported,
/// not only the first. Errors are bad syntax, duplicate, unknown or missing keys, malformed or out-of-range values,
/// and rules that describe() checks.
template <typename T>
[[nodiscard]] Loaded<T> parse(std::string_view text, const std::string& file, T value = {},
                              const DocumentLimits& limits = {}) {
  Loaded<T> loaded;
  detail::read(
      text, file, limits, [&value](Section& root) { describe(root, value); }, loaded.errors, loaded.warnings);
  if (loaded.errors.empty()) loaded.value = std::move(value);
  return loaded;
}

/// Reads a T from a tree of parse_document(), for files whose values are varied before they are read.
template <typename T>
[[nodiscard]] Loaded<T> parse(const Node& root, const std::string& file, T value = {}) {
  Loaded<T> loaded;
  detail::read(
      root, file, [&value](Section& section) { describe(section, value); }, loaded.errors, loaded.warnings);
  if (loaded.errors.empty()) loaded.value = std::move(value);
  return loaded;
}

/// Reads a T from a file, those that it includes and the environment (load_document()), with the checks of parse().
template <typename T>
[[nodiscard]] Loaded<T> load(const std::string& file, T value = {}, const DocumentLimits& limits = {}) {
  Loaded<T> loaded;
  const Node root = load_document(file, loaded.errors, limits);
  if (!loaded.errors.empty()) return loaded;
  return parse(root, file, std::move(value));
}

/// Returns every key with its value as YAML. If secrets are shown, parse() reads an equal T back.
template <typename T>
[[nodiscard]] std::string print(const T& value, Secrets secrets = Secrets::hide) {
  T copy = value;
  return detail::print([&copy](Section& root) { describe(root, copy); }, secrets);
}

/// Returns the reference of every key with type, range, default and meaning: one table per map.
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

/// Returns the top-level keys that were declared live. These keys, and everything below them, can be changed while the
/// program is running.
template <typename T>
[[nodiscard]] std::vector<std::string> live_keys() {
  T value{};
  return detail::live_keys([&value](Section& root) { describe(root, value); });
}

}  // namespace sluice::config
