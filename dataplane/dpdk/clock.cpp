// Reads the time from the processor's counter, and from the kernel where that counter has no constant rate.
// start_clock() measures the counter's rate once, when the program starts.
#include "dataplane/dpdk/clock.hpp"

#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>

namespace sluice::dpdk {
namespace detail {

ClockScale clock_scale;

Instant kernel_now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Instant(Duration(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec));
}

}  // namespace detail

namespace {

/// True if the processor's time-stamp counter has a constant rate, whatever the processor's frequency and sleep states.
/// On x86-64, CPUID 8000_0007h, EDX bit 8, states this. The generic timer of AArch64 always has a constant rate.
bool counter_is_invariant() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & 0x100U) != 0;
#else
  return true;
#endif
}

struct Reading {
  std::uint64_t ticks = 0;
  std::int64_t nanoseconds = 0;
};

/// Reads the time-stamp counter and the kernel's clock at nearly the same moment. Of several tries, the one that took
/// the shortest time is returned.
Reading read_both() {
  Reading best;
  std::uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = rte_rdtsc_precise();
    const std::int64_t nanoseconds = detail::kernel_now().time_since_epoch().count();
    const std::uint64_t after = rte_rdtsc_precise();
    if (after - before < narrowest) {
      narrowest = after - before;
      best = {before + (after - before) / 2, nanoseconds};
    }
  }
  return best;
}

}  // namespace

void start_clock() {
  if (detail::clock_scale.nanoseconds_per_tick != 0 || !counter_is_invariant()) return;
  const Reading first = read_both();
  const timespec pause{.tv_sec = 0, .tv_nsec = 20'000'000};
  nanosleep(&pause, nullptr);
  const Reading second = read_both();
  if (second.ticks <= first.ticks) return;
  __extension__ using Wide = unsigned __int128;
  const Wide nanoseconds =
      static_cast<std::uint64_t>(std::max<std::int64_t>(second.nanoseconds - first.nanoseconds, 1));
  detail::ClockScale scale;
  scale.ticks_base = second.ticks;
  scale.nanoseconds_base = second.nanoseconds;
  scale.nanoseconds_per_tick = static_cast<std::uint64_t>((nanoseconds << 32) / (second.ticks - first.ticks));
  detail::clock_scale = scale;
}

}  // namespace sluice::dpdk
