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

/// One thing that is wrong with a file, in terms of what the user wrote.
struct Error {
  std::string file;
  Place place;
  std::string what;      ///< the key or the complaint: "ports.radio.mtu", "unknown key 'prots'"
  std::string expected;  ///< what would be right; may be empty
  std::string got;       ///< what is there; may be empty

  /// "file:line:column: what, expected X, got Y"; parts that are empty are left out.
  [[nodiscard]] std::string to_string() const;
  auto operator<=>(const Error&) const = default;
};

/// What loading a file came to: a value, or every error that was found.
template <typename T>
struct Loaded {
  std::optional<T> value;       ///< set exactly when `errors` is empty
  std::vector<Error> errors;    ///< in the order of the file
  std::vector<Error> warnings;  ///< what works but hardly as intended

  explicit operator bool() const { return value.has_value(); }
  [[nodiscard]] T& operator*() { return *value; }
  [[nodiscard]] const T& operator*() const { return *value; }
  [[nodiscard]] T* operator->() { return &*value; }
  [[nodiscard]] const T* operator->() const { return &*value; }
};

/// One line per error.
[[nodiscard]] std::string to_string(const std::vector<Error>& errors);

}  // namespace sluice::config
