#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::config {

/// Position in a file. Lines and columns are counted from 1. Line 0 stands for the whole file.
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;
  std::size_t file = 0;  ///< 0 for the main file, else the number of an included file
  constexpr auto operator<=>(const Place&) const = default;
};

/// Error in a file, described with the names and values that the user has written.
struct Error {
  std::string file;
  Place place;
  std::string what;      ///< key or problem that causes the error, such as "ports.radio.mtu" or "unknown key 'prots'"
  std::string expected;  ///< description of the values that are accepted; may be empty
  std::string got;       ///< value that the file contains; may be empty

  /// Returns the error as "file:line:column: what, expected X, got Y". Empty parts are omitted.
  [[nodiscard]] std::string to_string() const;
  auto operator<=>(const Error&) const = default;
};

/// Result of loading a file: the value, or all errors that were found.
template <typename T>
struct Loaded {
  std::optional<T> value;       ///< value that was read; set if and only if there are no errors
  std::vector<Error> errors;    ///< errors in the order in which they are in the file
  std::vector<Error> warnings;  ///< settings that are valid but probably not what the user intended

  explicit operator bool() const { return value.has_value(); }
  [[nodiscard]] T& operator*() { return *value; }
  [[nodiscard]] const T& operator*() const { return *value; }
  [[nodiscard]] T* operator->() { return &*value; }
  [[nodiscard]] const T* operator->() const { return &*value; }
};

/// Returns the errors as text with one line for each error.
[[nodiscard]] std::string to_string(const std::vector<Error>& errors);

}  // namespace sluice::config
