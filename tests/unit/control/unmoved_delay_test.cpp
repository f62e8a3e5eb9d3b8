#include "control/unmoved_delay.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Instant begin{10s};
constexpr double rate = 1e6;

TEST(UnmovedDelay, IsFoundOnceASegmentSentAfterTheFlightWasHalvedTakesAsLong) {
  UnmovedDelay delay;
  EXPECT_FALSE(delay.on_long({begin, 60ms, Bytes(40'000), rate, 1s}));
  EXPECT_FALSE(delay.on_long({begin + 30ms, 60ms, Bytes(30'000), rate / 2, 1s}));
  EXPECT_FALSE(delay.on_long({begin + 60ms, 60ms, Bytes(20'000), rate / 2, 1s}))
      << "halved, but nothing sent since is back";
  EXPECT_FALSE(delay.on_long({begin + 100ms, 60ms, Bytes(20'000), rate / 2, 1s}));
  const auto found = delay.on_long({begin + 120ms, 58ms, Bytes(20'000), rate / 2, 1s});
  EXPECT_EQ(found, 58ms);
  EXPECT_EQ(delay.held(), 0) << "until a drain finds the same";
  delay.hold();
  EXPECT_DOUBLE_EQ(delay.held(), rate * 0.058) << "at the rate of before";
  EXPECT_FALSE(delay.on_long({begin + 130ms, 58ms, Bytes(20'000), rate, 1s})) << "it begins again";
}

TEST(UnmovedDelay, IsNotFoundBeforeRoundTripsHaveBeenLongForAWhile) {
  UnmovedDelay delay;
  EXPECT_FALSE(delay.on_long({begin, 60ms, Bytes(40'000), rate, 0ms}));
  EXPECT_FALSE(delay.on_long({begin + 60ms, 60ms, Bytes(20'000), rate, 60ms}));
  EXPECT_FALSE(delay.on_long({begin + 200ms, 60ms, Bytes(20'000), rate, 200ms}));
  EXPECT_TRUE(delay.on_long({begin + 400ms, 60ms, Bytes(20'000), rate, 400ms}));
}

TEST(UnmovedDelay, IsNotFoundWhereTheQueueShrinksWithTheFlight) {
  UnmovedDelay delay;
  EXPECT_FALSE(delay.on_long({begin, 100ms, Bytes(40'000), rate, 1s}));
  EXPECT_FALSE(delay.on_long({begin + 50ms, 95ms, Bytes(20'000), rate, 1s}));
  EXPECT_FALSE(delay.on_long({begin + 120ms, 55ms, Bytes(20'000), rate, 1s}));
}

TEST(UnmovedDelay, ComparesWithTheLeastRoundTripBeforeTheFlightWasHalved) {
  UnmovedDelay delay;
  EXPECT_FALSE(delay.on_long({begin, 300ms, Bytes(40'000), rate, 1s})) << "one that met a link that stood still";
  EXPECT_FALSE(delay.on_long({begin + 10ms, 60ms, Bytes(30'000), rate, 1s}));
  EXPECT_FALSE(delay.on_long({begin + 50ms, 60ms, Bytes(20'000), rate, 1s}));
  EXPECT_TRUE(delay.on_long({begin + 120ms, 60ms, Bytes(20'000), rate, 1s}));
}

TEST(UnmovedDelay, BeginsAgainWithMoreInFlightOrAfterAShortRoundTrip) {
  UnmovedDelay delay;
  EXPECT_FALSE(delay.on_long({begin, 60ms, Bytes(40'000), rate, 1s}));
  EXPECT_FALSE(delay.on_long({begin + 10ms, 60ms, Bytes(20'000), rate, 1s}));
  EXPECT_FALSE(delay.on_long({begin + 20ms, 60ms, Bytes(50'000), rate, 1s}));
  EXPECT_FALSE(delay.on_long({begin + 100ms, 60ms, Bytes(30'000), rate, 1s})) << "more than half of the newest";
  EXPECT_FALSE(delay.on_long({begin + 110ms, 60ms, Bytes(25'000), rate, 1s}));
  delay.forget();
  EXPECT_FALSE(delay.on_long({begin + 200ms, 60ms, Bytes(25'000), rate, 1s}));
}

/// A delay that does not move has been found, and what kept the rate of before is held: 60 000 bytes.
UnmovedDelay held() {
  UnmovedDelay delay;
  EXPECT_FALSE(delay.on_long({begin, 60ms, Bytes(40'000), rate, 1s}));
  EXPECT_FALSE(delay.on_long({begin + 60ms, 60ms, Bytes(20'000), rate, 1s}));
  EXPECT_TRUE(delay.on_long({begin + 120ms, 60ms, Bytes(20'000), rate, 1s}));
  delay.hold();
  return delay;
}

TEST(UnmovedDelay, WhatIsHeldGrowsWhileRoundTripsDoNot) {
  UnmovedDelay delay = held();
  delay.adapt(63ms, 60ms, Bytes(4000));
  EXPECT_DOUBLE_EQ(delay.held(), 61'000);
  delay.adapt(70ms, 60ms, Bytes(4000));
  EXPECT_DOUBLE_EQ(delay.held(), 61'000) << "a queue begins to stand";
}

TEST(UnmovedDelay, HoldsNothingWhereRoundTripsGrowOrAreExplained) {
  UnmovedDelay delay = held();
  delay.adapt(91ms, 60ms, Bytes(4000));
  EXPECT_EQ(delay.held(), 0) << "others fill a queue, or the link fades";
  delay.adapt(60ms, 60ms, Bytes(4000));
  EXPECT_EQ(delay.held(), 0);
  delay = held();
  delay.restart();
  EXPECT_GT(delay.held(), 0) << "one short round trip explains nothing";
  delay.forget();
  EXPECT_EQ(delay.held(), 0);
}

}  // namespace
}  // namespace sluice::control
