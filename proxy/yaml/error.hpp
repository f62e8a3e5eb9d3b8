#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::config {

/// Position in a file; lines and columns count from 1. Line 0 means the file as a whole.
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;
  std::size_t file = 0;  ///< 0 for the file itself, else the number of the included file
  constexpr auto operator<=>(const Place&) const = default;
};

/// Error in a file, described in terms of what the user wrote.
struct Error {
  std::string file;
  Place place;
  std::string what;      ///< key or problem at fault: "ports.radio.mtu", "unknown key 'prots'"
  std::string expected;  ///< description of the values that would be accepted; may be empty
  std::string got;       ///< value that the file contains; may be empty

  /// Returns the error as "file:line:column: what, expected X, got Y" without the empty parts.
  [[nodiscard]] std::string to_string() const;
  auto operator<=>(const Error&) const = default;
};

/// Result of loading a file: a value, or every error that was found.
template <typename T>
struct Loaded {
  std::optional<T> value;       ///< value that was read; set if and only if `errors` is empty
  std::vector<Error> errors;    ///< errors in the file, in its order
  std::vector<Error> warnings;  ///< settings in the file that work but probably not as intended

  explicit operator bool() const { return value.has_value(); }
  [[nodiscard]] T& operator*() { return *value; }
  [[nodiscard]] const T& operator*() const { return *value; }
  [[nodiscard]] T* operator->() { return &*value; }
  [[nodiscard]] const T* operator->() const { return &*value; }
};

/// Returns the errors as text, one line each.
[[nodiscard]] std::string to_string(const std::vector<Error>& errors);

}  // namespace sluice::config
