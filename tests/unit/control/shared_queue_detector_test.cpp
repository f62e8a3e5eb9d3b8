// Tests of the detector for a queue that a UE shares with other UEs: silences that count, and silences that do not.
#include "control/ack_based/shared_queue_detector.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// ACKs on a path with a base delay of 20 ms. A silence of more than 80 ms does not count in the rate by itself.
struct Acks {
  void ack(Duration silence, Duration round_trip) {
    now += silence;
    detector.on_ack(
        {.now = now, .silence = silence, .counted = 80ms, .round_trip = round_trip, .srtt = srtt, .base_delay = 20ms});
    srtt = round_trip;
  }
  /// Adds a silence, and then ACKs at intervals of 2 ms with the same round trip.
  void burst(Duration silence, Duration round_trip) {
    ack(silence, round_trip);
    for (int i = 0; i < 20; ++i) ack(2ms, round_trip);
  }

  SharedQueueDetector detector;
  Instant now{10s};
  Duration srtt = 250ms;
};

TEST(SharedQueueDetector, SilencesThatRecurAtALongRoundTripShowOtherData) {
  Acks acks;
  acks.burst(200ms, 250ms);
  EXPECT_EQ(acks.detector.rate_memory(), 0ms) << "one silence may be an outage";
  acks.burst(200ms, 260ms);
  EXPECT_GT(acks.detector.rate_memory(), 240ms) << "the rate is averaged over a round trip";
  EXPECT_LE(acks.detector.rate_memory(), 250ms);
}

TEST(SharedQueueDetector, ASilenceThatLengthensTheRoundTripIsAnOutage) {
  Acks acks;
  acks.srtt = 50ms;
  for (int i = 0; i < 4; ++i) {
    acks.burst(200ms, 250ms);
    acks.burst(2ms, 50ms);
  }
  EXPECT_EQ(acks.detector.rate_memory(), 0ms);
}

TEST(SharedQueueDetector, ASilenceOnAnIdlePathShowsNoQueue) {
  Acks acks;
  acks.srtt = 25ms;
  for (int i = 0; i < 4; ++i) acks.burst(200ms, 25ms);
  EXPECT_EQ(acks.detector.rate_memory(), 0ms) << "the sender had no data";
}

TEST(SharedQueueDetector, SilencesFarApartDoNotRecur) {
  Acks acks;
  for (int i = 0; i < 4; ++i) {
    acks.burst(200ms, 250ms);
    for (int j = 0; j < 500; ++j) acks.ack(2ms, 250ms);
  }
  EXPECT_EQ(acks.detector.rate_memory(), 0ms);
}

TEST(SharedQueueDetector, TheMemoryEndsWhenSilencesEnd) {
  Acks acks;
  acks.burst(200ms, 250ms);
  acks.burst(200ms, 250ms);
  const Duration at_first = acks.detector.rate_memory();
  for (int i = 0; i < 1000; ++i) acks.ack(2ms, 250ms);
  EXPECT_LT(acks.detector.rate_memory(), at_first / 2);
  for (int i = 0; i < 5000; ++i) acks.ack(2ms, 250ms);
  EXPECT_EQ(acks.detector.rate_memory(), 0ms);
}

TEST(SharedQueueDetector, TheMemoryIsAtMostASecond) {
  Acks acks;
  acks.srtt = 3s;
  acks.burst(2s, 3s);
  acks.burst(2s, 3s);
  EXPECT_GT(acks.detector.rate_memory(), 900ms);
  EXPECT_LE(acks.detector.rate_memory(), 1s);
}

}  // namespace
}  // namespace sluice::control
