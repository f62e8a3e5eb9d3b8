// Tests of the detector for a path that has become longer in one step: what confirms a step, and what refutes it.
#include "control/ack_based/path_step_detector.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <utility>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// ACKs of two segments each on a link of 10 Mb/s. The path has a round trip of 40 ms at first.
struct Acks {
  static constexpr Duration spacing = 2400us;
  static constexpr Duration usual = 8ms;
  static constexpr double rate = 1.25e6;

  std::optional<PathStepDetector::Step> ack(Duration silence, Duration round_trip, bool may_be_delayed = false) {
    now += silence;
    return detector.on_ack({.now = now,
                            .round_trip = round_trip,
                            .base_delay = 35ms,
                            .silence = silence,
                            .usual = usual,
                            .delivered = Bytes(3000),
                            .rate = rate,
                            .may_be_delayed = may_be_delayed,
                            .steady = steady});
  }
  /// Adds `count` ACKs at intervals of `interval`. Returns true if one of them confirms a step.
  bool train(int count, Duration interval, Duration round_trip) {
    bool confirmed = false;
    for (int i = 0; i < count; ++i) confirmed = ack(interval, round_trip).has_value() || confirmed;
    return confirmed;
  }

  PathStepDetector detector;
  Instant now{10s};
  bool steady = true;
};

TEST(PathStepDetector, TwoSilencesAroundAcksAtTheEarlierRateConfirmAStep) {
  Acks acks;
  EXPECT_FALSE(acks.train(20, Acks::spacing, 40ms));
  EXPECT_FALSE(acks.ack(100ms, 140ms)) << "an outage looks the same";
  EXPECT_TRUE(acks.detector.is_suspected());
  EXPECT_FALSE(acks.train(15, Acks::spacing, 141ms)) << "sent before the silence ended";
  const auto step = acks.ack(105ms, 142ms);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->base_delay, 140ms) << "the shorter one of the two round trips";
  EXPECT_DOUBLE_EQ(step->rate, Acks::rate);
  EXPECT_FALSE(acks.detector.is_suspected());
}

TEST(PathStepDetector, ALaterSegmentWithTheEarlierRttShowsAnOutage) {
  Acks acks;
  acks.train(20, Acks::spacing, 40ms);
  EXPECT_FALSE(acks.ack(100ms, 140ms));
  EXPECT_FALSE(acks.train(15, Acks::spacing, 140ms));
  EXPECT_FALSE(acks.train(5, Acks::spacing, 35ms)) << "sent after the silence";
  EXPECT_FALSE(acks.detector.is_suspected());
  EXPECT_FALSE(acks.ack(105ms, 140ms)) << "a second outage is a first silence again";
}

TEST(PathStepDetector, AcksAtALowerRateShowASlowerLink) {
  Acks acks;
  acks.train(20, Acks::spacing, 40ms);
  EXPECT_FALSE(acks.ack(20ms, 60ms));
  EXPECT_FALSE(acks.train(6, 7ms, 61ms)) << "a third of the rate";
  EXPECT_FALSE(acks.ack(20ms, 62ms));
}

TEST(PathStepDetector, ALinkOfVaryingRateHasSilencesOfItsOwn) {
  Acks acks;
  acks.steady = false;
  acks.train(20, Acks::spacing, 40ms);
  EXPECT_FALSE(acks.ack(100ms, 140ms));
  EXPECT_FALSE(acks.detector.is_suspected());
  EXPECT_FALSE(acks.train(15, Acks::spacing, 141ms));
  EXPECT_FALSE(acks.ack(105ms, 142ms));
}

TEST(PathStepDetector, AnAckThatTheUeDelaysDividesASilence) {
  Acks acks;
  acks.train(20, Acks::spacing, 40ms);
  EXPECT_FALSE(acks.ack(40ms, 80ms)) << "a single segment, which the UE acknowledges late";
  EXPECT_FALSE(acks.ack(60ms, 140ms));
  EXPECT_FALSE(acks.train(15, Acks::spacing, 141ms));
  EXPECT_FALSE(acks.ack(65ms, 180ms)) << "a single segment again, whose round trip contains the delay";
  const auto step = acks.ack(40ms, 141ms);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->base_delay, 140ms);
}

TEST(PathStepDetector, AnAckThatMayBeDelayedDoesNotEndASilence) {
  Acks acks;
  acks.train(20, Acks::spacing, 40ms);
  EXPECT_FALSE(acks.ack(41ms, 80ms, true)) << "a single segment, whose ACK the UE may have delayed";
  EXPECT_TRUE(acks.detector.is_suspected()) << "the rate of the ACKs is not that of the link";
  EXPECT_FALSE(acks.ack(159ms, 240ms));
  EXPECT_FALSE(acks.train(15, Acks::spacing, 240ms));
  EXPECT_FALSE(acks.ack(41ms, 281ms, true)) << "sent before the end of the first silence";
  EXPECT_FALSE(acks.ack(145ms, 280ms, true)) << "sent after it, but its round trip contains the delay of the ACK";
  const auto step = acks.ack(5ms, 226ms);
  ASSERT_TRUE(step) << "the second silence ends with this ACK, although another ACK has just arrived";
  EXPECT_EQ(step->base_delay, 226ms);
}

/// An earlier RTT refutes a silence that the next ACK is still to end. It does not refute one that has ended.
TEST(PathStepDetector, AnAckThatMayBeDelayedEndsASilenceOfMoreThan300Ms) {
  for (const auto& [silence, ends] : {std::pair<Duration, bool>{300ms, false}, {300ms + 1ns, true}}) {
    Acks acks;
    acks.train(20, Acks::spacing, 40ms);
    EXPECT_FALSE(acks.ack(silence, 40ms + silence, true));
    EXPECT_FALSE(acks.ack(Acks::spacing, 40ms));
    EXPECT_EQ(acks.detector.is_suspected(), ends) << silence.count();
  }
}

TEST(PathStepDetector, TheQueueBeforeTheStepNeedNotExistAfterIt) {
  Acks acks;
  acks.train(20, Acks::spacing, 60ms);  // of which the queue takes 25 ms
  EXPECT_FALSE(acks.ack(40ms, 100ms));
  EXPECT_FALSE(acks.train(15, Acks::spacing, 100ms));
  const auto step = acks.ack(40ms, 75ms);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->base_delay, 75ms);
}

TEST(PathStepDetector, AWindowOfOneSegmentIsNotSuspectedForEver) {
  Acks acks;
  acks.train(20, Acks::spacing, 40ms);
  int suspected = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(acks.ack(90ms, 90ms, true));
    suspected += acks.detector.is_suspected() ? 1 : 0;
  }
  EXPECT_LE(suspected, 75) << "the rate is measured by each fourth ACK at least";
}

TEST(PathStepDetector, ASilenceWithoutALongerRttIsNoStep) {
  Acks acks;
  acks.train(20, Acks::spacing, 40ms);
  EXPECT_FALSE(acks.ack(100ms, 40ms)) << "the sender had nothing to send";
  EXPECT_FALSE(acks.detector.is_suspected());
}

}  // namespace
}  // namespace sluice::control
