#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::tcp::tick {

// Instants reduced to 32 or 16 bits, for state that is kept per connection. The units are powers of two, because the
// conversion is done for every packet. Ticks wrap, so only differences are meaningful.

/// Returns `at` in units of 2^10 ns (1.02 us); wraps after 73 minutes.
[[nodiscard]] constexpr std::uint32_t us(Instant at) {
  return static_cast<std::uint32_t>(at.time_since_epoch().count() >> 10);
}
[[nodiscard]] constexpr std::uint32_t us(Duration time) {
  return static_cast<std::uint32_t>(time.count() >> 10);
}
/// Returns the duration of a number of ticks as us() counts them, plus one tick, because us() rounds down.
[[nodiscard]] constexpr Duration us_duration(std::uint32_t ticks) {
  return Duration((std::int64_t{ticks} + 1) << 10);
}

/// Returns `at` in units of 2^20 ns (1.05 ms); wraps after 52 days.
[[nodiscard]] constexpr std::uint32_t ms(Instant at) {
  return static_cast<std::uint32_t>(at.time_since_epoch().count() >> 20);
}
[[nodiscard]] constexpr std::uint32_t ms(Duration time) {
  return static_cast<std::uint32_t>(time.count() >> 20);
}
/// Returns the duration of a number of ticks as ms() counts them.
[[nodiscard]] constexpr Duration ms_duration(std::uint32_t ticks) {
  return Duration(std::int64_t{ticks} << 20);
}

/// Returns `at` in units of 2^23 ns (8.4 ms); wraps after 9 minutes.
[[nodiscard]] constexpr std::uint16_t ms8(Instant at) {
  return static_cast<std::uint16_t>(at.time_since_epoch().count() >> 23);
}

/// Returns `at` in units of 2^28 ns (268 ms); wraps after 4.9 hours.
[[nodiscard]] constexpr std::uint16_t ms268(Instant at) {
  return static_cast<std::uint16_t>(at.time_since_epoch().count() >> 28);
}
/// Returns the duration of a number of ticks as ms268() counts them.
[[nodiscard]] constexpr Duration ms268_duration(std::uint16_t ticks) {
  return Duration(std::int64_t{ticks} << 28);
}

/// Returns `at` in units of 2^37 ns (137 s); wraps after 104 days.
[[nodiscard]] constexpr std::uint16_t s137(Instant at) {
  return static_cast<std::uint16_t>(at.time_since_epoch().count() >> 37);
}
/// Returns a duration in ticks as s137(Instant) counts them, rounded down.
[[nodiscard]] constexpr std::uint16_t s137(Duration time) {
  return static_cast<std::uint16_t>(time.count() >> 37);
}

}  // namespace sluice::tcp::tick
