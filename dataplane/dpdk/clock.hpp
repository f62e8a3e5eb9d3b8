#pragma once

#include <rte_cycles.h>

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::dpdk {

namespace detail {
/// Conversion from time-stamp counter to nanoseconds of CLOCK_MONOTONIC.
struct ClockScale {
  std::uint64_t ticks_base = 0;
  std::int64_t nanoseconds_base = 0;
  std::uint64_t nanoseconds_per_tick = 0;  ///< scale in 32.32 fixed point; 0: read the kernel's clock
};
extern ClockScale clock_scale;
[[nodiscard]] Instant kernel_now() noexcept;
}  // namespace detail

/// Returns the present time. Reads the processor's time-stamp counter if start_clock() has run and the counter is
/// invariant, else CLOCK_MONOTONIC. Thread: any.
[[nodiscard]] inline Instant now() noexcept {
  const detail::ClockScale& scale = detail::clock_scale;
  if (scale.nanoseconds_per_tick == 0) [[unlikely]]
    return detail::kernel_now();
  __extension__ using Wide = unsigned __int128;
  const Wide elapsed = Wide{rte_rdtsc() - scale.ticks_base} * scale.nanoseconds_per_tick;
  return Instant(Duration(scale.nanoseconds_base + static_cast<std::int64_t>(elapsed >> 32)));
}

/// Calibrates the time-stamp counter against the kernel's clock to better than 20 ppm, which takes 20 ms. Called by
/// Eal's constructor before poll threads exist; a second call does nothing.
void start_clock();

}  // namespace sluice::dpdk
