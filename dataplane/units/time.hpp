#pragma once

#include <chrono>
#include <cstdint>

namespace sluice {

/// Span of time in nanoseconds. All code computes with this type; other units of time occur only in input and output.
using Duration = std::chrono::nanoseconds;

/// Clock type of all instants in a process. It has no now(), because code must get each instant from the owner of a
/// clock: a poll thread, or the event loop of the emulator (virtual time).
struct Timeline {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Timeline>;
  static constexpr bool is_steady = true;
};

/// Point in time; monotonic, with an arbitrary origin.
using Instant = Timeline::time_point;

/// Deadline that is not set: an instant later than every event.
inline constexpr Instant never = Instant::max();

/// Returns seconds as a floating-point number, for control laws and printing.
[[nodiscard]] constexpr double to_seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

/// Returns milliseconds as a floating-point number, for printing.
[[nodiscard]] constexpr double to_milliseconds(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

/// Returns a number of seconds as a duration, truncated to nanoseconds. Range: |seconds| < 292 years.
[[nodiscard]] constexpr Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace sluice
