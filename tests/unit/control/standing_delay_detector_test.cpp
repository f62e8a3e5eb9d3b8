// Tests of the detector for a delay that stays after the flight was halved, which is a longer path and no queue.
#include "control/ack_based/standing_delay_detector.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Instant begin{10s};
constexpr double rate = 1e6;

TEST(StandingDelayDetector, IsDetectedIfTheRttStaysAfterTheFlightWasHalved) {
  StandingDelayDetector delay;
  EXPECT_FALSE(delay.on_long(
      {.now = begin, .round_trip = 60ms, .in_flight = Bytes(40'000), .rate = rate, .above_target_for = 1s}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 30ms, .round_trip = 60ms, .in_flight = Bytes(30'000), .rate = rate / 2, .above_target_for = 1s}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 60ms, .round_trip = 60ms, .in_flight = Bytes(20'000), .rate = rate / 2, .above_target_for = 1s}))
      << "halved, but nothing sent since is back";
  EXPECT_FALSE(delay.on_long({.now = begin + 100ms,
                              .round_trip = 60ms,
                              .in_flight = Bytes(20'000),
                              .rate = rate / 2,
                              .above_target_for = 1s}));
  const auto found = delay.on_long(
      {.now = begin + 120ms, .round_trip = 58ms, .in_flight = Bytes(20'000), .rate = rate / 2, .above_target_for = 1s});
  EXPECT_EQ(found, 58ms);
  EXPECT_EQ(delay.min_window(), 0) << "until a drain finds the same";
  delay.set_min_window();
  EXPECT_DOUBLE_EQ(delay.min_window(), rate * 0.058) << "at the rate of before";
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 130ms, .round_trip = 58ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 1s}))
      << "it begins again";
}

TEST(StandingDelayDetector, IsNotDetectedBeforeRttsHaveBeenLongForSomeTime) {
  StandingDelayDetector delay;
  EXPECT_FALSE(delay.on_long(
      {.now = begin, .round_trip = 60ms, .in_flight = Bytes(40'000), .rate = rate, .above_target_for = 0ms}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 60ms, .round_trip = 60ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 60ms}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 200ms, .round_trip = 60ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 200ms}));
  EXPECT_TRUE(delay.on_long(
      {.now = begin + 400ms, .round_trip = 60ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 400ms}));
}

TEST(StandingDelayDetector, IsNotDetectedIfTheQueueShrinksWithTheFlight) {
  StandingDelayDetector delay;
  EXPECT_FALSE(delay.on_long(
      {.now = begin, .round_trip = 100ms, .in_flight = Bytes(40'000), .rate = rate, .above_target_for = 1s}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 50ms, .round_trip = 95ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 1s}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 120ms, .round_trip = 55ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 1s}));
}

TEST(StandingDelayDetector, ComparesWithTheSmallestRttBeforeTheFlightWasHalved) {
  StandingDelayDetector delay;
  EXPECT_FALSE(delay.on_long(
      {.now = begin, .round_trip = 300ms, .in_flight = Bytes(40'000), .rate = rate, .above_target_for = 1s}))
      << "one that met a link that stood still";
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 10ms, .round_trip = 60ms, .in_flight = Bytes(30'000), .rate = rate, .above_target_for = 1s}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 50ms, .round_trip = 60ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 1s}));
  EXPECT_TRUE(delay.on_long(
      {.now = begin + 120ms, .round_trip = 60ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 1s}));
}

TEST(StandingDelayDetector, RestartsWithMoreInFlightOrAfterAShortRtt) {
  StandingDelayDetector delay;
  EXPECT_FALSE(delay.on_long(
      {.now = begin, .round_trip = 60ms, .in_flight = Bytes(40'000), .rate = rate, .above_target_for = 1s}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 10ms, .round_trip = 60ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 1s}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 20ms, .round_trip = 60ms, .in_flight = Bytes(50'000), .rate = rate, .above_target_for = 1s}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 100ms, .round_trip = 60ms, .in_flight = Bytes(30'000), .rate = rate, .above_target_for = 1s}))
      << "more than half of the newest";
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 110ms, .round_trip = 60ms, .in_flight = Bytes(25'000), .rate = rate, .above_target_for = 1s}));
  delay.forget();
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 200ms, .round_trip = 60ms, .in_flight = Bytes(25'000), .rate = rate, .above_target_for = 1s}));
}

/// A delay that does not move has been found, and what kept the rate of before is held: 60 000 bytes.
StandingDelayDetector with_min_window() {
  StandingDelayDetector delay;
  EXPECT_FALSE(delay.on_long(
      {.now = begin, .round_trip = 60ms, .in_flight = Bytes(40'000), .rate = rate, .above_target_for = 1s}));
  EXPECT_FALSE(delay.on_long(
      {.now = begin + 60ms, .round_trip = 60ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 1s}));
  EXPECT_TRUE(delay.on_long(
      {.now = begin + 120ms, .round_trip = 60ms, .in_flight = Bytes(20'000), .rate = rate, .above_target_for = 1s}));
  delay.set_min_window();
  return delay;
}

TEST(StandingDelayDetector, HeldBytesGrowWhileRttsDoNot) {
  StandingDelayDetector delay = with_min_window();
  delay.adapt(63ms, 60ms, Bytes(4000));
  EXPECT_DOUBLE_EQ(delay.min_window(), 61'000);
  delay.adapt(70ms, 60ms, Bytes(4000));
  EXPECT_DOUBLE_EQ(delay.min_window(), 61'000) << "a queue begins to stand";
}

TEST(StandingDelayDetector, HoldsNothingIfRttsGrowOrAreExplained) {
  StandingDelayDetector delay = with_min_window();
  delay.adapt(91ms, 60ms, Bytes(4000));
  EXPECT_EQ(delay.min_window(), 0) << "others fill a queue, or the link fades";
  delay.adapt(60ms, 60ms, Bytes(4000));
  EXPECT_EQ(delay.min_window(), 0);
  delay = with_min_window();
  delay.restart();
  EXPECT_GT(delay.min_window(), 0) << "one short round trip explains nothing";
  delay.forget();
  EXPECT_EQ(delay.min_window(), 0);
}

}  // namespace
}  // namespace sluice::control
