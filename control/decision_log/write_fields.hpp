#pragma once

#include <concepts>
#include <optional>
#include <ranges>
#include <type_traits>

#include "control/decision_log/line_writer.hpp"
#include "control/decision_log/values.hpp"
#include "control/reference.hpp"
#include "control/smvs/framing.hpp"
#include "dataplane/units/rate.hpp"

namespace sluice::control {

template <typename T>
void write_value(LineWriter& line, const T& value);

/// Writes the fields of an object as JSON: amounts in bytes, times in nanoseconds, rates in bytes per second.
class FieldWriter {
 public:
  explicit FieldWriter(LineWriter& line) : line_(line) {}

  template <typename T>
  void operator()(std::string_view name, const T& value) {
    line_.name(name);
    write_value(line_, value);
  }
  template <typename T, typename Most>
  void operator()(std::string_view name, const T& value, const Most& /*most*/) {
    (*this)(name, value);
  }

 private:
  LineWriter& line_;
};

constexpr std::string_view unit_word(Reference::Unit unit) {
  return unit == Reference::Unit::frames ? "frames" : unit == Reference::Unit::bytes ? "B" : "s";
}

template <typename T>
void write_enum(LineWriter& line, T value) {
  const auto number = static_cast<std::size_t>(value);
  if constexpr (requires { EnumWords<T>::words; }) {
    line.word(EnumWords<T>::words.at(number));
  } else {
    line.whole(std::uint64_t{number});
  }
}

template <typename T>
void write_number(LineWriter& line, T value) {
  if constexpr (std::same_as<T, bool>) {
    line.truth(value);
  } else if constexpr (std::floating_point<T>) {
    line.real(value);
  } else if constexpr (std::signed_integral<T>) {
    line.whole(std::int64_t{value});
  } else {
    line.whole(std::uint64_t{value});
  }
}

template <typename T>
void write_value(LineWriter& line, const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    write_number(line, value);
  } else if constexpr (std::is_enum_v<T>) {
    write_enum(line, value);
  } else if constexpr (std::same_as<T, std::string_view>) {
    line.word(value);
  } else if constexpr (std::same_as<T, Bytes>) {
    line.whole(value.count());
  } else if constexpr (std::same_as<T, Rate>) {
    line.real(value.bytes_per_second());
  } else if constexpr (std::same_as<T, Duration>) {
    line.whole(std::int64_t{value.count()});
  } else if constexpr (std::same_as<T, Instant>) {
    line.whole(std::int64_t{value.time_since_epoch().count()});
  } else if constexpr (std::same_as<T, Reference>) {
    line.amount(value.value(), unit_word(value.unit()));
  } else if constexpr (is_wrapped<T, OnWire>) {
    write_value(line, value.amount());
  } else if constexpr (is_wrapped<T, OrUnlimited>) {
    value.amount == Bytes::max() ? line.word("unlimited") : write_value(line, value.amount);
  } else if constexpr (is_wrapped<T, OrNever>) {
    value.when == never ? line.word("never") : write_value(line, value.when);
  } else if constexpr (is_wrapped<T, std::optional>) {
    value ? write_value(line, *value) : line.nothing();
  } else if constexpr (std::ranges::range<const T>) {
    line.open('[');
    for (const auto& each : value) write_value(line, each);
    line.close(']');
  } else {
    line.open('{');
    FieldWriter fields(line);
    each_field(value, fields);
    line.close('}');
  }
}

}  // namespace sluice::control
