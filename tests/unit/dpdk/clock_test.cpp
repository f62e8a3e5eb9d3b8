#include "dataplane/dpdk/clock.hpp"

#include <gmock/gmock.h>

namespace sluice::dpdk {
namespace {

TEST(Clock, AgreesWithTheKernelsMonotonicClock) {
  start_clock();
  for (int i = 0; i < 100; ++i) {
    const Instant before = detail::kernel_now();
    const Instant ours = now();
    const Instant after = detail::kernel_now();
    // However long the three readings took, ours lies between; the slack is for the measurement of the counter's rate.
    EXPECT_GE(ours, before - std::chrono::milliseconds(1));
    EXPECT_LE(ours, after + std::chrono::milliseconds(1));
  }
}

TEST(Clock, IsMonotonic) {
  start_clock();
  Instant last = now();
  for (int i = 0; i < 100000; ++i) {
    const Instant next = now();
    ASSERT_GE(next, last);
    last = next;
  }
}

}  // namespace
}  // namespace sluice::dpdk
