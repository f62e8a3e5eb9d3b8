#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/yaml/scalar.hpp"

// Type-erased declarations of keys, which the visitors of Section receive.

namespace sluice::config {

/// Word that is a valid value of an enumeration key.
template <typename E>
struct Choice {
  std::string_view word;
  E value;
  std::string_view help = {};  ///< help text of the word for the reference
};

/// Texts and functions to read, print and document a key with a scalar value, independent of its type.
struct ScalarSpec {
  std::string kind;     ///< type of the value as error messages describe it: "a duration such as 20ms (…)"
  std::string name;     ///< type of the value as the reference names it: "duration"
  std::string range;    ///< accepted range, such as "1ms … 10s"; empty if every value of the type is accepted
  bool quoted = false;  ///< true if print() writes the value in quotes
  bool present = true;  ///< false if the value is optional and is not set
  std::string current;  ///< text of the current value, which is the default before the file is read
  std::string choices;  ///< words of an enumeration with their explanations, as Markdown; empty for other types

  /// Sets the value. Returns false if the text is malformed or outside the range.
  std::function<bool(std::string_view)> assign;
};

/// Functions to read, print and document a list of scalars, independent of their type.
struct ListSpec {
  std::size_t min_size = 0;
  std::size_t max_size = 1024;
  std::size_t size = 0;
  std::function<void()> clear;
  std::function<ScalarSpec(std::size_t)> at;  ///< returns the description of the existing element with the given index
  std::function<ScalarSpec()> append;         ///< appends an element and returns its description
};

namespace detail {

template <typename T>
[[nodiscard]] std::optional<Range<T>> whole_range() {
  return std::nullopt;
}
template <typename T>
[[nodiscard]] bool within(const T& value, const std::optional<Range<T>>& range) {
  if constexpr (requires { Scalar<T>::limits(); }) {
    const Range<T> wide = Scalar<T>::limits();
    const T& min = range ? range->min : wide.min;
    const T& max = range ? range->max : wide.max;
    return !(value < min) && !(max < value);
  } else {
    return true;
  }
}
template <typename T>
[[nodiscard]] std::string range_text(const std::optional<Range<T>>& range) {
  if constexpr (requires { Scalar<T>::limits(); }) {
    if (!range) return {};
    const std::string min = Scalar<T>::format(range->min);
    return range->max == Scalar<T>::limits().max ? "at least " + min : min + " … " + Scalar<T>::format(range->max);
  } else {
    return {};
  }
}
template <typename T>
[[nodiscard]] ScalarSpec untyped_spec(const std::optional<Range<T>>& range) {
  ScalarSpec spec;
  spec.kind = Scalar<T>::kind;
  spec.name = Scalar<T>::name;
  spec.range = range_text(range);
  spec.quoted = std::same_as<T, std::string>;
  return spec;
}
/// Returns a function that parses a text and stores the value in `target`. `target` is a T or an optional T. The
/// function returns false if the text is malformed or the value is outside the range.
template <typename T, typename Target>
[[nodiscard]] auto assign_to(Target& target, const std::optional<Range<T>>& range) {
  return [&target, range](std::string_view text) {
    const std::optional<T> read = Scalar<T>::parse(text);
    if (!read || !within(*read, range)) return false;
    target = *read;
    return true;
  };
}
template <typename T>
[[nodiscard]] ScalarSpec spec_of(T& value, const std::optional<Range<T>>& range) {
  ScalarSpec spec = untyped_spec(range);
  spec.current = Scalar<T>::format(value);
  spec.assign = assign_to(value, range);
  return spec;
}
template <typename T>
[[nodiscard]] ScalarSpec spec_of_optional(std::optional<T>& value, const std::optional<Range<T>>& range) {
  ScalarSpec spec = untyped_spec(range);
  spec.present = value.has_value();
  if (value) spec.current = Scalar<T>::format(*value);
  spec.assign = assign_to(value, range);
  return spec;
}
template <typename E>
[[nodiscard]] ScalarSpec spec_of_choice(E& value, std::span<const Choice<E>> table) {
  ScalarSpec spec;
  spec.name = "word";
  for (const Choice<E>& choice : table) {
    if (!spec.kind.empty()) spec.kind += ", ";
    spec.kind += choice.word;
    if (!spec.choices.empty()) spec.choices += "; ";
    spec.choices += "`" + std::string(choice.word) + "`";
    if (!choice.help.empty()) spec.choices += ": " + std::string(choice.help);
    if (choice.value == value) spec.current = choice.word;
  }
  spec.kind = "one of " + spec.kind;
  spec.assign = [&value, table](std::string_view text) {
    for (const Choice<E>& choice : table) {
      if (choice.word == text) return value = choice.value, true;
    }
    return false;
  };
  return spec;
}
template <typename T>
[[nodiscard]] ListSpec list_of(std::vector<T>& values, const Range<std::size_t>& size,
                               const std::optional<Range<T>>& range) {
  ListSpec spec;
  spec.min_size = size.min;
  spec.max_size = size.max;
  spec.size = values.size();
  spec.clear = [&values] { values.clear(); };
  spec.at = [&values, range](std::size_t index) { return spec_of(values[index], range); };
  spec.append = [&values, range] { return spec_of(values.emplace_back(), range); };
  return spec;
}

}  // namespace detail
}  // namespace sluice::config
