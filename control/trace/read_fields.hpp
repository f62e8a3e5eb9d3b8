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

#include "control/framing.hpp"
#include "control/reference.hpp"
#include "control/trace/values.hpp"
#include "dataplane/units/rate.hpp"

namespace sluice::control {

/// A line that is none of a trace: where in it, and what was expected.
struct ReplayError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where in a line a value is.
struct FieldPlace {
  const FieldPlace* parent = nullptr;
  std::string_view name;

  [[nodiscard]] std::string path() const;
  /// Throws ReplayError.
  [[noreturn]] void refuse(std::string_view expected) const;
};

/// Values that a law's arithmetic can bear. Throw ReplayError.
[[nodiscard]] std::int64_t read_whole(const nlohmann::json& json, std::int64_t least, std::int64_t most,
                                      const FieldPlace& place);
[[nodiscard]] std::uint64_t read_count(const nlohmann::json& json, std::uint64_t most, const FieldPlace& place);
[[nodiscard]] double read_real(const nlohmann::json& json, double least, double most, const FieldPlace& place);
/// Also as text with a unit, "64 KiB" or "20ms".
[[nodiscard]] Bytes read_bytes(const nlohmann::json& json, const FieldPlace& place);
[[nodiscard]] Duration read_duration(const nlohmann::json& json, const FieldPlace& place);
[[nodiscard]] Reference read_reference(const nlohmann::json& json, const FieldPlace& place);
[[nodiscard]] std::size_t read_word(const nlohmann::json& json, std::span<const std::string_view> words,
                                    const FieldPlace& place);

/// No instant is further from the beginning of time: sums and differences stay defined.
inline constexpr std::int64_t furthest = std::int64_t{1} << 61U;
/// Bytes, or bytes per second, beyond any link and its queue. What such a rate carries in the longest time is defined.
inline constexpr double largest = 1e12;

template <typename T>
void read_value(const nlohmann::json& json, T& value, const FieldPlace& place);

/// Visits fields and reads them from a JSON object, which must have each of them and no other.
class FieldReader {
 public:
  /// Both outlive it. Throws ReplayError.
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
  /// After the last field.
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
