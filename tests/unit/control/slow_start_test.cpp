// Tests of slow start of the ACK-based window: its growth, and its end when the delivery rate stops growing.
#include "control/ack_based/slow_start.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Instant begin{10s};
constexpr Rate rate = Rate::bytes_per_second(1e6);

/// Rounds of 100 ms with the window in use, each with such a part of the rate: whether it ends the search.
std::vector<bool> rounds(SlowStart& start, const std::vector<double>& rates) {
  std::vector<bool> ended;
  Instant now = begin;
  for (const double part : rates) {
    ended.push_back(start.is_full_pipe(now, rate * part, 100ms, true));
    now += 100ms;
  }
  return ended;
}

TEST(SlowStart, GrowsByTheDeliveredBytes) {
  SlowStart start(3000);
  start.on_delivered(Bytes(1500));
  EXPECT_EQ(start.window(), 4500);
  EXPECT_TRUE(start.searching());
}

TEST(SlowStart, StartsAtLeastAtTheInheritedWindow) {
  SlowStart start(3000);
  start.raise_window(Bytes(9000));
  EXPECT_EQ(start.window(), 9000);
  start.raise_window(Bytes(2000));
  EXPECT_EQ(start.window(), 9000);
}

TEST(SlowStart, EndsAfterThreeRoundsWithoutGrowth) {
  SlowStart start(3000);
  EXPECT_EQ(rounds(start, {1, 1.2, 1.2, 1.2}), (std::vector<bool>{false, false, false, true}));
}

TEST(SlowStart, ContinuesWhileTheRateGrowsByAQuarter) {
  SlowStart start(3000);
  EXPECT_EQ(rounds(start, {1, 1.1, 1.1, 1.25, 1.3, 1.3}), std::vector<bool>(6, false));
}

TEST(SlowStart, CountsARoundOnce) {
  SlowStart start(3000);
  EXPECT_FALSE(start.is_full_pipe(begin, rate, 100ms, true));
  for (Duration later = 10ms; later < 300ms; later += 10ms) {
    EXPECT_FALSE(start.is_full_pipe(begin + later, rate, 100ms, true)) << "two rounds at most";
  }
  EXPECT_TRUE(start.is_full_pipe(begin + 300ms, rate, 100ms, true));
}

TEST(SlowStart, IgnoresRoundsThatDoNotUseTheWindow) {
  SlowStart start(3000);
  for (int round = 0; round < 8; ++round) {
    EXPECT_FALSE(start.is_full_pipe(begin + round * 100ms, rate, 100ms, false));
  }
}

TEST(SlowStart, ASearchForgetsTheRateOfTheLastSearch) {
  SlowStart start(3000);
  EXPECT_EQ(rounds(start, {4, 4, 4}), std::vector<bool>(3, false));
  start.search(6000);
  EXPECT_EQ(start.window(), 6000);
  EXPECT_EQ(rounds(start, {1, 1.25, 1.6, 2}), std::vector<bool>(4, false));
}

TEST(SlowStart, RefillsWithoutASearch) {
  SlowStart start(3000);
  start.end();
  EXPECT_FALSE(start.searching());
  start.refill(5000);
  EXPECT_TRUE(start.refilling());
  EXPECT_FALSE(start.searching());
  start.on_delivered(Bytes(1500));
  EXPECT_EQ(start.window(), 6500);
  start.stop_refilling();
  EXPECT_FALSE(start.refilling());
}

TEST(SlowStart, ASearchContinuesWhenARefillIsCancelled) {
  SlowStart start(3000);
  start.stop_refilling();
  EXPECT_TRUE(start.searching());
}

}  // namespace
}  // namespace sluice::control
