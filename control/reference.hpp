#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Target length of a queue, in the unit that the operator chose: radio frames (as in the papers), bytes, or time. A
/// time is converted to bytes with the current mean service rate, so it suits links of all rates, from EV-DO to LTE.
/// Never negative.
class Reference {
 public:
  enum class Unit : std::uint8_t { frames, bytes, time };

  /// Makes a target queue length of zero bytes.
  constexpr Reference() = default;
  [[nodiscard]] static constexpr Reference frames(double count) { return {Unit::frames, count}; }
  [[nodiscard]] static constexpr Reference bytes(Bytes amount) {
    return {Unit::bytes, static_cast<double>(amount.count())};
  }
  [[nodiscard]] static constexpr Reference time(Duration span) { return {Unit::time, to_seconds(span)}; }

  /// Parses "100 frames", "4000B", "4 KiB", "1.5 MiB", "20ms", "0.02 s", "500us"; the blank is optional. Returns
  /// nothing if the text is anything else, negative or not finite.
  [[nodiscard]] static std::optional<Reference> parse(std::string_view text);

  [[nodiscard]] constexpr Unit unit() const { return unit_; }
  /// Returns the number of frames, bytes or seconds, depending on the unit.
  [[nodiscard]] constexpr double value() const { return value_; }
  /// Returns the target queue length in bytes. A target in frames is multiplied by `frame`, the configured bytes per
  /// frame; a target in time is multiplied by `mean`, a mean service rate.
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
  /// Returns the value as a text that parse() accepts.
  [[nodiscard]] std::string to_string() const;

  constexpr bool operator==(const Reference&) const = default;

 private:
  constexpr Reference(Unit unit, double value) : unit_(unit), value_(value) {}
  Unit unit_ = Unit::bytes;
  double value_ = 0;
};

}  // namespace sluice::control
