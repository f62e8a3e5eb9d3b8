#include "control/window_laws/active_flows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

TEST(ActiveFlows, EachFlowCountsOnceAndIsForgotten) {
  ActiveFlows flows(16s);
  ActiveFlows::Mark a, b;
  EXPECT_EQ(flows.count(Instant(0s)), 0U);
  flows.seen(Instant(100s), a);
  flows.seen(Instant(101s), a);
  flows.seen(Instant(102s), b);
  EXPECT_EQ(flows.count(Instant(102s)), 2U);
  EXPECT_EQ(flows.count(Instant(116s)), 2U);
  EXPECT_EQ(flows.count(Instant(117s)), 1U) << "a was last seen at 101";
  EXPECT_EQ(flows.count(Instant(118s)), 0U);
  flows.seen(Instant(200s), a);
  EXPECT_EQ(flows.count(Instant(200s)), 1U) << "and back";
}

TEST(ActiveFlows, AFlowThatEndsNoLongerCounts) {
  ActiveFlows flows(16s);
  ActiveFlows::Mark a, b;
  flows.seen(Instant(100s), a);
  flows.seen(Instant(100s), b);
  flows.left(a);
  flows.left(a);
  EXPECT_EQ(flows.count(Instant(100s)), 1U);
  flows.seen(Instant(300s), a);
  flows.left(b);
  EXPECT_EQ(flows.count(Instant(300s)), 1U) << "b had long been forgotten";
}

TEST(ActiveFlows, TheNewestWeightOfAFlowCounts) {
  ActiveFlows flows(16s);
  ActiveFlows::Mark a, b;
  flows.seen(Instant(100s), a, 0.5);
  flows.seen(Instant(100s), b, 0.25);
  EXPECT_DOUBLE_EQ(flows.weight(Instant(100s)), 0.75);
  flows.seen(Instant(100s), a, 1);
  EXPECT_DOUBLE_EQ(flows.weight(Instant(100s)), 1.25);
  EXPECT_EQ(flows.count(Instant(100s)), 2U);
  flows.seen(Instant(101s), a, 1);
  EXPECT_DOUBLE_EQ(flows.weight(Instant(101s)), 1.25) << "it is in one slice only";
  flows.left(b);
  EXPECT_DOUBLE_EQ(flows.weight(Instant(101s)), 1);
  flows.left(a);
  EXPECT_EQ(flows.weight(Instant(101s)), 0);
}

TEST(ActiveFlows, AWindowShorterThanItsSlicesIsPossible) {
  ActiveFlows flows(Duration(1));
  ActiveFlows::Mark a;
  flows.seen(Instant(100s), a);
  EXPECT_EQ(flows.count(Instant(100s)), 1U);
  EXPECT_EQ(flows.count(Instant(101s)), 0U);
}

// Against a plain list: never wrong by more than one slice.
TEST(ActiveFlows, AgreesWithAListOfTimes) {
  constexpr Duration window = 1600ms, slice = 100ms;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    ActiveFlows flows(window);
    std::array<ActiveFlows::Mark, 40> marks;
    std::array<Instant, 40> last{};
    Instant now(10s);
    const auto since = [&](Instant from) {
      std::uint32_t count = 0;
      for (const Instant when : last) count += when >= from && when > Instant() ? 1U : 0U;
      return count;
    };
    for (int i = 0; i < 5000; ++i) {
      now += Duration(std::uniform_int_distribution<std::int64_t>(0, 150'000'000)(random));
      const auto flow = std::uniform_int_distribution<std::size_t>(0, 39)(random);
      if (random() % 8 == 0) {
        flows.left(marks[flow]);
        last[flow] = Instant();
      } else {
        flows.seen(now, marks[flow]);
        last[flow] = now;
      }
      ASSERT_GE(flows.count(now), since(now - window + slice)) << "seed " << seed << " step " << i;
      ASSERT_LE(flows.count(now), since(now - window)) << "seed " << seed << " step " << i;
    }
  }
}

}  // namespace
}  // namespace sluice::control
