#pragma once

#include <compare>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice {

/// Data rate, zero or positive, stored in bytes per second.
class Rate {
 public:
  constexpr Rate() = default;
  [[nodiscard]] static constexpr Rate bits_per_second(double bps) { return Rate(bps / 8); }
  [[nodiscard]] static constexpr Rate bytes_per_second(double value) { return Rate(value); }
  /// Returns the rate that carries `amount` in `time`; zero if `time` is not positive.
  [[nodiscard]] static constexpr Rate of(Bytes amount, Duration time) {
    return time.count() > 0 ? Rate(static_cast<double>(amount.count()) / to_seconds(time)) : Rate();
  }

  [[nodiscard]] constexpr double bps() const { return bytes_per_second_ * 8; }
  [[nodiscard]] constexpr double bytes_per_second() const { return bytes_per_second_; }
  /// Returns the bytes that this rate carries in `time`, rounded down.
  [[nodiscard]] constexpr Bytes in(Duration time) const { return Bytes(bytes_per_second_ * to_seconds(time)); }
  /// Returns how long `amount` takes at this rate; Duration::max() if the rate is zero.
  [[nodiscard]] constexpr Duration time_for(Bytes amount) const {
    return bytes_per_second_ > 0 ? from_seconds(static_cast<double>(amount.count()) / bytes_per_second_)
                                 : Duration::max();
  }

  constexpr auto operator<=>(const Rate&) const = default;
  friend constexpr Rate operator*(Rate rate, double factor) { return Rate(rate.bytes_per_second_ * factor); }
  friend constexpr Rate operator+(Rate a, Rate b) { return Rate(a.bytes_per_second_ + b.bytes_per_second_); }

 private:
  constexpr explicit Rate(double value) : bytes_per_second_(value) {}
  double bytes_per_second_ = 0;
};

}  // namespace sluice
