#include "control/sliding_extremes.hpp"

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

TEST(SlidingExtremes, KnowsNothingAtFirst) {
  const SlidingExtremes extremes(100ms);
  EXPECT_FALSE(extremes.low(at(1s)).has_value());
  EXPECT_FALSE(extremes.high(at(1s)).has_value());
}

TEST(SlidingExtremes, ForgetsWithTheWindow) {
  SlidingExtremes extremes(160ms);
  extremes.add(at(1000ms), 5);
  extremes.add(at(1100ms), -3);
  EXPECT_EQ(extremes.high(at(1100ms)), 5);
  EXPECT_EQ(extremes.low(at(1100ms)), -3);
  EXPECT_EQ(extremes.high(at(1200ms)), -3);
  EXPECT_FALSE(extremes.high(at(2000ms)).has_value());
}

// Against a plain list: never wrong by more than one slice.
TEST(SlidingExtremes, AgreesWithAListOfSamples) {
  constexpr std::uint64_t seed = 7;
  std::mt19937_64 random(seed);
  constexpr Duration window = 160ms;
  constexpr Duration slice = 10ms;
  SlidingExtremes extremes(window);
  std::deque<std::pair<Instant, double>> samples;
  Instant now = at(5s);
  const auto high_since = [&](Instant from) {
    double high = -1e9;
    for (const auto& [when, value] : samples) high = when >= from ? std::max(high, value) : high;
    return high;
  };
  for (int i = 0; i < 5000; ++i) {
    now += Duration(std::uniform_int_distribution<std::int64_t>(0, 20'000'000)(random));
    const double value = std::uniform_real_distribution<>(-100, 100)(random);
    extremes.add(now, value);
    samples.emplace_back(now, value);
    const double high = extremes.high(now).value();
    ASSERT_GE(high, high_since(now - window + slice)) << "seed " << seed << " sample " << i;
    ASSERT_LE(high, high_since(now - window - slice)) << "seed " << seed << " sample " << i;
  }
}

}  // namespace
}  // namespace sluice::control
