// Tests of the PIE queue (RFC 8033): its target, bursts, drops and ECN marks.
#include "emulator/aqm/pie.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using test::at_ms;
using test::segment;

/// Packets of 1000 bytes come each `every` ms and leave one a millisecond, for `ms`. Returns the delay at the end.
Duration load(PieQueue& queue, double every, int ms, bool ecn_capable = false) {
  double next = 0;
  Instant since{};
  for (int now = 0; now < ms; ++now) {
    for (; next <= now; next += every) queue.enqueue(segment(1, 1000, ecn_capable), at_ms(now));
    since = at_ms(now);
    static_cast<void>(queue.dequeue(since));
  }
  return 1ms * queue.packets();
}

void expect_balance(const PieQueue& queue) {
  const DisciplineCounters& c = queue.counters();
  EXPECT_EQ(c.arrived, c.departed + c.dropped() + queue.packets());
}

TEST(Pie, DropsNothingBelowTheLineRate) {
  PieQueue queue({}, {}, Random(1));
  load(queue, 1.01, 20'000);
  EXPECT_EQ(queue.counters().dropped(), 0U);
  EXPECT_EQ(queue.probability(), 0);
}

// A tenth too much comes. The probability is above the share of drops, which section 5.5 spaces.
TEST(Pie, HoldsItsTargetByDroppingTheExcess) {
  PieQueue queue({}, {}, Random(1));
  const Duration delay = load(queue, 1 / 1.1, 60'000);
  EXPECT_NEAR(to_milliseconds(delay), 15, 6);
  const auto share =
      static_cast<double>(queue.counters().dropped_early) / static_cast<double>(queue.counters().arrived);
  EXPECT_NEAR(share, 1 - 1 / 1.1, 0.005);
  EXPECT_GT(queue.probability(), share);
  EXPECT_EQ(queue.counters().dropped_full, 0U);
  EXPECT_GT(queue.counters().dropped_early, 5'000U);
  expect_balance(queue);
}

TEST(Pie, DropsNothingOfAShortBurst) {
  PieQueue queue({}, {}, Random(1));
  for (int i = 0; i < 100; ++i) queue.enqueue(segment(1, 1000), at_ms(0));
  for (int now = 0; now < 100; ++now) static_cast<void>(queue.dequeue(at_ms(now)));
  EXPECT_EQ(queue.counters().dropped(), 0U) << "it is gone within max_burst";
}

TEST(Pie, MarksEcnCapablePacketsUpToTenPercent) {
  PieParameters marking;
  marking.ecn = true;
  PieQueue light({}, marking, Random(1));
  load(light, 1 / 1.03, 20'000, true);
  EXPECT_GT(light.counters().marked, 100U);
  PieQueue heavy({}, marking, Random(1));
  load(heavy, 0.5, 20'000, true);
  EXPECT_GT(heavy.counters().dropped_early, 1'000U) << "marks alone do not help";
  PieQueue without({}, marking, Random(1));
  load(without, 1 / 1.1, 20'000);
  EXPECT_EQ(without.counters().marked, 0U);
  EXPECT_GT(without.counters().dropped_early, 100U);
}

TEST(Pie, DropsPacketsWhenFull) {
  PieQueue queue({Bytes(3000), 0}, {}, Random(1));
  for (int i = 0; i < 5; ++i) queue.enqueue(segment(1, 1000), at_ms(0));
  EXPECT_EQ(queue.counters().dropped_full, 2U);
  expect_balance(queue);
}

TEST(Pie, ForgetsWhileItIsIdle) {
  PieQueue queue({}, {}, Random(1));
  load(queue, 0.8, 5'000);
  ASSERT_GT(queue.probability(), 0.05);
  while (queue.dequeue(at_ms(6'000))) {
  }
  static_cast<void>(queue.dequeue(at_ms(60'000)));
  EXPECT_LT(queue.probability(), 0.001);
}

TEST(Pie, RefusesParametersOutOfTheirRange) {
  for (const PieParameters& wrong :
       {PieParameters{.target = 0ms}, PieParameters{.tupdate = 0ms}, PieParameters{.max_burst = -1ms},
        PieParameters{.max_burst = -1ns}, PieParameters{.alpha = 0}, PieParameters{.beta = 0}}) {
    EXPECT_THROW(PieQueue({}, wrong, Random(1)), std::invalid_argument);
  }
  const PieParameters smallest{.target = 1ns, .tupdate = 1ns, .max_burst = 0ns, .alpha = 1e-9, .beta = 1e-9};
  EXPECT_NO_THROW(PieQueue({}, smallest, Random(1)));
}

}  // namespace
}  // namespace sluice::emulator
