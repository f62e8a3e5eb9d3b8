#pragma once

#include <chrono>
#include <cstdint>

namespace sluice {

/// A span of time. Nanoseconds everywhere; converted at the edges only.
using Duration = std::chrono::nanoseconds;

/// The one time line of a process. It deliberately has no now(): whoever owns a clock (a poll thread, the event loop of
/// the virtual-time network) passes the instant in.
struct Timeline {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Timeline>;
  static constexpr bool is_steady = true;
};

/// A point on the time line; monotonic, its origin has no meaning.
using Instant = Timeline::time_point;

/// Later than everything that happens: a deadline that is not set.
inline constexpr Instant never = Instant::max();

/// Seconds as a floating-point number, for control laws and printing.
[[nodiscard]] constexpr double to_seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

/// Milliseconds as a floating-point number, for printing.
[[nodiscard]] constexpr double to_milliseconds(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

/// The duration nearest below a number of seconds. Range: |seconds| < 292 years.
[[nodiscard]] constexpr Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace sluice
