#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::config {

/// A position in a file; both count from 1. Line 0 means the file as a whole.
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;
  constexpr auto operator<=>(const Place&) const = default;
};

/// One error in a file, in terms of what the user wrote.
struct Error {
  std::string file;
  Place place;
  std::string what;      ///< key or problem: "ports.radio.mtu", "unknown key 'prots'"
  std::string expected;  ///< values that would be accepted; may be empty
  std::string got;       ///< value in the file; may be empty

  /// Returns "file:line:column: what, expected X, got Y" without the empty parts.
  [[nodiscard]] std::string to_string() const;
  auto operator<=>(const Error&) const = default;
};

/// Result of loading a file: a value, or every error that was found.
template <typename T>
struct Loaded {
  std::optional<T> value;       ///< set if and only if `errors` is empty
  std::vector<Error> errors;    ///< errors in the order of the file
  std::vector<Error> warnings;  ///< settings that work but probably not as intended

  explicit operator bool() const { return value.has_value(); }
  [[nodiscard]] T& operator*() { return *value; }
  [[nodiscard]] const T& operator*() const { return *value; }
  [[nodiscard]] T* operator->() { return &*value; }
  [[nodiscard]] const T* operator->() const { return &*value; }
};

/// Returns one line per error.
[[nodiscard]] std::string to_string(const std::vector<Error>& errors);

}  // namespace sluice::config
