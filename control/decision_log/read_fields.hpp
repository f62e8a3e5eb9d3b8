#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "control/decision_log/values.hpp"
#include "control/reference.hpp"
#include "control/smvs/framing.hpp"
#include "dataplane/units/rate.hpp"

namespace sluice::control {

/// Error in a line of a decision log. The text states the place in the line and what was expected there.
struct ReplayError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Place of a value in a line of a decision log: the name of its field and of the object that contains it.
struct FieldPlace {
  const FieldPlace* parent = nullptr;
  std::string_view name;

  [[nodiscard]] std::string path() const;
  /// Throws ReplayError. Its text names the field and the object that contains it, and states what was expected there.
  [[noreturn]] void refuse(std::string_view expected) const;
};

/// Reads a whole number from JSON. Throws ReplayError if it is not in `least` … `most`, because a controller's
/// arithmetic is defined in this range only. `place` is stated in the error.
[[nodiscard]] std::int64_t read_whole(const nlohmann::json& json, std::int64_t least, std::int64_t most,
                                      const FieldPlace& place);
[[nodiscard]] std::uint64_t read_count(const nlohmann::json& json, std::uint64_t most, const FieldPlace& place);
[[nodiscard]] double read_real(const nlohmann::json& json, double least, double most, const FieldPlace& place);
/// Reads an amount of bytes from JSON: a number of bytes, or text with a unit such as "64 KiB". Throws ReplayError,
/// which states `place`, for any other value.
[[nodiscard]] Bytes read_bytes(const nlohmann::json& json, const FieldPlace& place);
/// Reads a duration from JSON: a number of nanoseconds, or text with a unit such as "20ms". Throws ReplayError, which
/// states `place`, for any other value.
[[nodiscard]] Duration read_duration(const nlohmann::json& json, const FieldPlace& place);
[[nodiscard]] Reference read_reference(const nlohmann::json& json, const FieldPlace& place);
[[nodiscard]] std::size_t read_word(const nlohmann::json& json, std::span<const std::string_view> words,
                                    const FieldPlace& place);

/// Limit of times in a decision log, in nanoseconds. Neither the sum nor the difference of two such times overflows.
inline constexpr std::int64_t furthest = std::int64_t{1} << 61U;
/// Limit of floating-point numbers, such as amounts of bytes, and of rates in bytes per second. No link or queue
/// reaches it. A rate of this size times the longest duration that read_duration() accepts does not overflow.
inline constexpr double largest = 1e12;

template <typename T>
void read_value(const nlohmann::json& json, T& value, const FieldPlace& place);

/// Reads the fields of a JSON object, which must contain each of the expected fields and no other.
class FieldReader {
 public:
  /// Starts reading the JSON `object` at `place`. Both must outlive the reader. Throws ReplayError if it is no JSON
  /// object.
  FieldReader(const nlohmann::json& object, const FieldPlace& place);

  template <typename T>
  void operator()(std::string_view name, T& value) {
    read_value(member(name), value, FieldPlace{&place_, name});
  }
  template <typename T, typename Most>
  void operator()(std::string_view name, T& value, const Most& most) {
    const FieldPlace place{&place_, name};
    value = static_cast<T>(read_count(member(name), static_cast<std::uint64_t>(most), place));
  }
  void operator()(std::string_view name, double& value, const Between& range) {
    value = read_real(member(name), range.least, range.most, FieldPlace{&place_, name});
  }
  /// Throws ReplayError if the JSON object has fields that were not read. Called after the last field.
  void refuse_others() const;

 private:
  [[nodiscard]] const nlohmann::json& member(std::string_view name);

  const nlohmann::json& object_;
  const FieldPlace& place_;
  std::vector<std::string_view> seen_;
};

template <typename T>
void read_number(const nlohmann::json& json, T& value, const FieldPlace& place) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) place.refuse("true or false");
    value = json.get<bool>();
  } else if constexpr (std::floating_point<T>) {
    value = read_real(json, -largest, largest, place);
  } else if constexpr (std::signed_integral<T>) {
    constexpr auto least = std::max<std::int64_t>(Limits::min(), -furthest);
    constexpr auto most = std::min<std::int64_t>(Limits::max(), furthest);
    value = static_cast<T>(read_whole(json, least, most, place));
  } else {
    value = static_cast<T>(read_count(json, Limits::max(), place));
  }
}

template <typename T>
void read_fields(const nlohmann::json& json, T& value, const FieldPlace& place) {
  FieldReader fields(json, place);
  each_field(value, fields);
  fields.refuse_others();
}

template <typename T>
void read_list(const nlohmann::json& json, T& list, const FieldPlace& place) {
  if (!json.is_array() || json.size() != list.size())
    place.refuse("a list of " + std::to_string(list.size()) + ", as many as the parameters ask for");
  std::size_t i = 0;
  for (auto& each : list) read_value(json[i++], each, place);
}

template <typename T>
void read_value(const nlohmann::json& json, T& value, const FieldPlace& place) {
  if constexpr (std::is_arithmetic_v<T>) {
    read_number(json, value, place);
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(read_word(json, EnumWords<T>::words, place));
  } else if constexpr (std::same_as<T, Bytes>) {
    value = read_bytes(json, place);
  } else if constexpr (std::same_as<T, Rate>) {
    value = Rate::bytes_per_second(read_real(json, 0, largest, place));
  } else if constexpr (std::same_as<T, Duration>) {
    value = read_duration(json, place);
  } else if constexpr (std::same_as<T, Instant>) {
    value = Instant(Duration(read_whole(json, -furthest, furthest, place)));
  } else if constexpr (std::same_as<T, Reference>) {
    value = read_reference(json, place);
  } else if constexpr (is_wrapped<T, OnWire>) {
    auto amount = value.amount();
    read_value(json, amount, place);
    value = T(amount);
  } else if constexpr (is_wrapped<T, OrUnlimited>) {
    json == "unlimited" ? void(value.amount = Bytes::max()) : read_value(json, value.amount, place);
  } else if constexpr (is_wrapped<T, OrNever>) {
    json == "never" ? void(value.when = never) : read_value(json, value.when, place);
  } else if constexpr (is_wrapped<T, std::optional>) {
    json.is_null() ? value.reset() : read_value(json, value.emplace(), place);
  } else if constexpr (std::ranges::range<T>) {
    read_list(json, value, place);
  } else {
    read_fields(json, value, place);
  }
}

}  // namespace sluice::control
