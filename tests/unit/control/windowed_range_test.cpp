#include "control/smvs/windowed_range.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <random>
#include <utility>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

Instant at(Duration time) {
  return Instant(time);
}

TEST(WindowedRange, IsEmptyAtFirst) {
  const WindowedRange extremes(100ms);
  EXPECT_FALSE(extremes.range(at(1s)).has_value());
}

TEST(WindowedRange, ForgetsSamplesOlderThanTheWindow) {
  WindowedRange extremes(160ms);
  extremes.add(at(1000ms), 5);
  extremes.add(at(1100ms), -3);
  EXPECT_EQ(extremes.range(at(1100ms)).value().high, 5);
  EXPECT_EQ(extremes.range(at(1100ms)).value().low, -3);
  EXPECT_EQ(extremes.range(at(1200ms)).value().high, -3);
  EXPECT_FALSE(extremes.range(at(2000ms)).has_value());
}

// Against a plain list: never wrong by more than one slice.
TEST(WindowedRange, AgreesWithAListOfSamples) {
  constexpr std::uint64_t seed = 7;
  std::mt19937_64 random(seed);
  constexpr Duration window = 160ms;
  constexpr Duration slice = 10ms;
  WindowedRange extremes(window);
  std::deque<std::pair<Instant, double>> samples;
  Instant now = at(5s);
  const auto range_since = [&](Instant from) {
    WindowedRange::Range range{1e9, -1e9};
    for (const auto& [when, value] : samples) {
      if (when >= from) range = {std::min(range.low, value), std::max(range.high, value)};
    }
    return range;
  };
  for (int i = 0; i < 5000; ++i) {
    now += Duration(std::uniform_int_distribution<std::int64_t>(0, 20'000'000)(random));
    const double value = std::uniform_real_distribution<>(-100, 100)(random);
    extremes.add(now, value);
    samples.emplace_back(now, value);
    // At the sample's own instant, and some slices later.
    for (const Instant then : {now, now + 3 * slice}) {
      const auto range = extremes.range(then);
      ASSERT_TRUE(range) << "seed " << seed << " sample " << i;
      const WindowedRange::Range least = range_since(then - window + slice);
      const WindowedRange::Range most = range_since(then - window - slice);
      ASSERT_TRUE(range->low <= least.low && range->low >= most.low) << "seed " << seed << " sample " << i;
      ASSERT_TRUE(range->high >= least.high && range->high <= most.high) << "seed " << seed << " sample " << i;
    }
  }
}

}  // namespace
}  // namespace sluice::control
