#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// An amount of queue as an operator states it: radio frames (the papers' unit), bytes, or time at the current mean
/// service rate. Time is what works from EV-DO to LTE without retuning. Never negative.
class Reference {
 public:
  enum class Unit : std::uint8_t { frames, bytes, time };

  /// Nothing: zero bytes.
  constexpr Reference() = default;
  [[nodiscard]] static constexpr Reference frames(double count) { return {Unit::frames, count}; }
  [[nodiscard]] static constexpr Reference bytes(Bytes amount) {
    return {Unit::bytes, static_cast<double>(amount.count())};
  }
  [[nodiscard]] static constexpr Reference time(Duration span) { return {Unit::time, to_seconds(span)}; }

  /// Reads "100 frames", "4000B", "4 KiB", "1.5 MiB", "20ms", "0.02 s", "500us"; the blank is optional. Nothing when
  /// the text is anything else, negative or not finite.
  [[nodiscard]] static std::optional<Reference> parse(std::string_view text);

  [[nodiscard]] constexpr Unit unit() const { return unit_; }
  /// In the unit: frames, bytes or seconds.
  [[nodiscard]] constexpr double value() const { return value_; }
  /// In bytes, with `frame` the size of a radio frame and `mean` the service rate that time is counted at.
  [[nodiscard]] constexpr double in_bytes(Bytes frame, Rate mean) const {
    switch (unit_) {
      case Unit::frames:
        return value_ * static_cast<double>(frame.count());
      case Unit::bytes:
        return value_;
      case Unit::time:
        return value_ * mean.bytes_per_second();
    }
    return 0;
  }
  /// A text that parse() reads back.
  [[nodiscard]] std::string to_string() const;

  constexpr bool operator==(const Reference&) const = default;

 private:
  constexpr Reference(Unit unit, double value) : unit_(unit), value_(value) {}
  Unit unit_ = Unit::bytes;
  double value_ = 0;
};

}  // namespace sluice::control
