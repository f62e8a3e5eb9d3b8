// Tests of the base-delay estimator: when it becomes stale, when it drains the queue, and which RTTs it accepts.
#include "control/ack_based/min_rtt_estimator.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Bytes segment{1500};

/// Round trips of a link, an acknowledgement each 10 ms. Slots of routine drains begin at 10 s, 15 s and so on.
class Trips {
 public:
  explicit Trips(Duration first = 20ms) { ack_for(1s, first); }

  /// One: beyond `most` it is longer than it is to be.
  void ack(Duration round_trip, Duration most) {
    now += 10ms;
    base.record(round_trip);
    base.add_sample(round_trip, 10ms, Duration::zero(), most);
  }
  void ack_for(Duration time, Duration round_trip, Duration most = Duration::max()) {
    for (const Instant end = now + time; now < end;) ack(round_trip, most);
  }
  [[nodiscard]] bool doubted() const { return base.is_stale(now); }
  void wait_until(Duration at) { now = Instant{} + at; }
  /// Runs a drain: the queue is empty at once, and packets sent since then have this RTT.
  MinRttEstimator::DrainResult drain(Duration round_trip) {
    base.begin_drain(now, Duration::zero());
    EXPECT_FALSE(base.on_drained(make_probe({}), 0, Duration::zero()));
    EXPECT_TRUE(base.probing());
    now += round_trip;
    for (int probe = 1; probe < 4; ++probe) EXPECT_FALSE(base.on_drained(make_probe(round_trip), 0, Duration::zero()));
    EXPECT_TRUE(base.on_drained(make_probe(round_trip), 0, Duration::zero()));
    EXPECT_FALSE(base.draining());
    return base.finish_probe(now, Duration::zero());
  }
  [[nodiscard]] MinRttEstimator::Probe make_probe(Duration round_trip, Bytes in_flight = Bytes(0)) const {
    return {.now = now, .round_trip = round_trip, .in_flight = in_flight};
  }

  Instant now{11s};
  MinRttEstimator base;
};

TEST(MinRttEstimator, EqualsTheSmallestRtt) {
  MinRttEstimator base;
  EXPECT_FALSE(base.known());
  base.record(30ms);
  base.record(20ms);
  base.record(25ms);
  EXPECT_EQ(base.value(), 20ms);
  EXPECT_TRUE(base.is_near(23500us)) << "an eighth, and a timer's tick";
  EXPECT_FALSE(base.is_near(24ms));
}

TEST(MinRttEstimator, IsStaleAtTheBeginningOfASlot) {
  Trips trips;
  trips.wait_until(14900ms);
  EXPECT_FALSE(trips.doubted());
  trips.wait_until(15s);
  EXPECT_TRUE(trips.doubted());
  trips.wait_until(15290ms);
  EXPECT_TRUE(trips.doubted()) << "an acknowledgement may be rare";
  trips.wait_until(15310ms);
  EXPECT_FALSE(trips.doubted()) << "the others have drained without";
}

TEST(MinRttEstimator, IsDrainedOnceInASlot) {
  Trips trips;
  trips.wait_until(15s);
  EXPECT_EQ(trips.drain(20ms), MinRttEstimator::DrainResult::confirmed);
  EXPECT_FALSE(trips.base.is_routine(trips.now));
}

TEST(MinRttEstimator, RoutineDrainsBecomeRarerWhileTheyConfirmIt) {
  Trips trips;
  int drains = 0;
  for (int slot = 3; slot < 43; ++slot) {
    trips.wait_until(slot * 5s);
    if (!trips.doubted()) continue;
    trips.drain(20ms);
    ++drains;
  }
  EXPECT_LE(drains, 9);
  EXPECT_GE(drains, 6);
}

TEST(MinRttEstimator, EachSlotHasADrainForAMinuteAfterAStepOfThePath) {
  Trips trips;
  int drains = 0;
  for (int slot = 3; slot < 43; ++slot) {
    trips.wait_until(slot * 5s);
    if (slot == 20) trips.base.mark_changed(trips.now);
    if (!trips.doubted()) continue;
    trips.drain(20ms);
    if (slot >= 20 && slot < 32) ++drains;
  }
  EXPECT_EQ(drains, 12);
}

TEST(MinRttEstimator, IsDrainedInEachSlotIfNoRttComesNearItForFiveSeconds) {
  Trips trips;
  for (int slot = 3; slot < 11; ++slot) {
    trips.wait_until(slot * 5s);
    if (trips.doubted()) trips.drain(20ms);
  }
  trips.wait_until(55010ms);
  EXPECT_FALSE(trips.doubted()) << "an odd slot";
  trips.ack_for(5100ms, 50ms);
  trips.wait_until(65010ms);
  EXPECT_TRUE(trips.doubted());
  trips.base.mark_fresh();
  EXPECT_FALSE(trips.doubted());
}

TEST(MinRttEstimator, ADrainBeginsAtOnceOnRequest) {
  Trips trips;
  trips.wait_until(12s);
  EXPECT_FALSE(trips.doubted());
  trips.base.suspect(trips.now, 60ms);
  EXPECT_TRUE(trips.doubted());
  EXPECT_EQ(trips.drain(20ms), MinRttEstimator::DrainResult::confirmed);
  trips.base.suspect(trips.now, 60ms);
  EXPECT_FALSE(trips.doubted()) << "that was for nothing";
}

TEST(MinRttEstimator, ADrainWaitsForOtherSendersIfItsFirstRttsAreLate) {
  Trips trips;
  trips.wait_until(15s);
  trips.base.begin_drain(trips.now, 100ms);
  EXPECT_FALSE(trips.base.on_drained(trips.make_probe({}), 0, Duration::zero()));
  trips.now += 60ms;
  for (int probe = 0; probe < 8; ++probe) {
    EXPECT_FALSE(trips.base.on_drained(trips.make_probe(60ms), 0, Duration::zero())) << "the others' queue";
  }
  trips.wait_until(15121ms);
  for (int probe = 1; probe < 4; ++probe)
    EXPECT_FALSE(trips.base.on_drained(trips.make_probe(20ms), 0, Duration::zero()));
  EXPECT_TRUE(trips.base.on_drained(trips.make_probe(20ms), 0, Duration::zero()));
  EXPECT_EQ(trips.base.finish_probe(trips.now, Duration::zero()), MinRttEstimator::DrainResult::confirmed);
}

TEST(MinRttEstimator, IsReplacedAfterTwentySecondsOfLongerRtts) {
  Trips trips;
  trips.ack_for(19900ms, 60ms, 30ms);
  EXPECT_EQ(trips.base.forced_reset_value(), std::nullopt);
  trips.ack(55ms, 30ms);
  trips.ack_for(200ms, 60ms, 30ms);
  EXPECT_EQ(trips.base.forced_reset_value(), 55ms) << "the least of them";
  trips.ack(25ms, 30ms);
  EXPECT_EQ(trips.base.forced_reset_value(), std::nullopt);
}

TEST(MinRttEstimator, ADelayedAckIsNoSampleOfThePath) {
  Trips trips;
  trips.base.begin_drain(trips.now, Duration::zero());
  EXPECT_FALSE(trips.base.on_drained(trips.make_probe({}), 0, Duration::zero()));
  trips.now += 60ms;
  MinRttEstimator::Probe delayed = trips.make_probe(60ms);
  delayed.may_be_delayed = true;
  for (int probe = 0; probe < 8; ++probe) EXPECT_FALSE(trips.base.on_drained(delayed, 0, Duration::zero()));
  trips.now += 20ms;
  for (int probe = 1; probe < 4; ++probe)
    EXPECT_FALSE(trips.base.on_drained(trips.make_probe(20ms), 0, Duration::zero()));
  EXPECT_TRUE(trips.base.on_drained(trips.make_probe(20ms), 0, Duration::zero()));
  EXPECT_EQ(trips.base.finish_probe(trips.now, Duration::zero()), MinRttEstimator::DrainResult::confirmed);
}

TEST(MinRttEstimator, ADrainEndsWithoutAFindingIfAllAcksMayBeDelayed) {
  Trips trips;
  trips.base.begin_drain(trips.now, Duration::zero());
  EXPECT_FALSE(trips.base.on_drained(trips.make_probe({}), 0, Duration::zero()));
  trips.now += 250ms;
  MinRttEstimator::Probe delayed = trips.make_probe(60ms);
  delayed.may_be_delayed = true;
  EXPECT_TRUE(trips.base.on_drained(delayed, 0, Duration::zero()));
  EXPECT_EQ(trips.base.finish_probe(trips.now, Duration::zero()), MinRttEstimator::DrainResult::unclear);
  EXPECT_EQ(trips.base.candidate(), Duration::zero());
}

TEST(MinRttEstimator, ADrainThatConfirmsItTakesTheMeasuredValue) {
  Trips trips;
  EXPECT_FALSE(trips.base.is_confirmed());
  EXPECT_EQ(trips.drain(21ms), MinRttEstimator::DrainResult::confirmed);
  EXPECT_EQ(trips.base.value(), 21ms) << "what it is now, about";
  EXPECT_TRUE(trips.base.is_confirmed());
  EXPECT_EQ(trips.base.drains(), 1U);
  EXPECT_FALSE(trips.doubted());
}

TEST(MinRttEstimator, AShorterRttIsAcceptedAtOnceAndFollowedByOneMoreDrain) {
  Trips trips(60ms);
  EXPECT_EQ(trips.drain(20ms), MinRttEstimator::DrainResult::confirmed);
  EXPECT_EQ(trips.base.value(), 20ms);
  EXPECT_FALSE(trips.base.is_confirmed());
  EXPECT_FALSE(trips.doubted());
  trips.ack_for(480ms, 20ms);
  EXPECT_TRUE(trips.doubted()) << "some of what was too much may still have stood";
}

TEST(MinRttEstimator, ALongerRttMustBeMeasuredInTwoSlots) {
  Trips trips;
  trips.wait_until(15s);
  EXPECT_EQ(trips.drain(60ms), MinRttEstimator::DrainResult::unclear);
  EXPECT_EQ(trips.base.value(), 20ms);
  EXPECT_EQ(trips.base.candidate(), 60ms);
  trips.wait_until(20s);
  ASSERT_TRUE(trips.doubted());
  EXPECT_EQ(trips.drain(70ms), MinRttEstimator::DrainResult::longer);
  EXPECT_EQ(trips.base.candidate(), 60ms) << "the lesser of the two";
}

TEST(MinRttEstimator, ALongerRttBetweenSlotsIsNotAccepted) {
  Trips trips;
  trips.wait_until(16s);
  EXPECT_EQ(trips.drain(60ms), MinRttEstimator::DrainResult::unclear);
  trips.wait_until(18s);
  EXPECT_EQ(trips.drain(60ms), MinRttEstimator::DrainResult::unclear);
  trips.wait_until(20s);
  EXPECT_EQ(trips.drain(60ms), MinRttEstimator::DrainResult::unclear) << "the first routine one";
  trips.wait_until(35s);
  EXPECT_EQ(trips.drain(60ms), MinRttEstimator::DrainResult::unclear) << "too long ago";
  trips.wait_until(40s);
  EXPECT_EQ(trips.drain(60ms), MinRttEstimator::DrainResult::longer);
}

TEST(MinRttEstimator, ARequestedDrainReportsWhetherItMeasuresTheSuspectedRtt) {
  Trips trips;
  trips.wait_until(16s);
  trips.base.suspect(trips.now, 60ms);
  EXPECT_EQ(trips.drain(62ms), MinRttEstimator::DrainResult::as_suspected);
  trips.wait_until(22s);
  trips.base.suspect(trips.now, 60ms);
  EXPECT_EQ(trips.drain(90ms), MinRttEstimator::DrainResult::unclear);
}

TEST(MinRttEstimator, ALongerRttIsAcceptedAfterARoutineAndARequestedDrain) {
  Trips trips;
  trips.wait_until(17s);
  trips.base.suspect(trips.now, 60ms);
  EXPECT_EQ(trips.drain(62ms), MinRttEstimator::DrainResult::as_suspected);
  trips.wait_until(20s);
  EXPECT_EQ(trips.drain(64ms), MinRttEstimator::DrainResult::longer);
  EXPECT_EQ(trips.base.candidate(), 62ms);
}

/// Round trips of a UE in a queue that other UEs fill: its own drain at 17 s has measured their queue as a longer path.
Trips beside_other_ues() {
  Trips trips;
  trips.wait_until(17s);
  trips.base.suspect_longer(trips.now, 60ms);
  EXPECT_EQ(trips.drain(62ms), MinRttEstimator::DrainResult::as_suspected);
  return trips;
}

TEST(MinRttEstimator, TrustsNoRequestedDrainAfterARoutineOneHasContradictedIt) {
  Trips trips = beside_other_ues();
  trips.wait_until(20s);
  EXPECT_EQ(trips.drain(20ms), MinRttEstimator::DrainResult::confirmed) << "all UEs have emptied the queue";
  trips.wait_until(27s);
  trips.base.suspect_longer(trips.now, 60ms);
  EXPECT_FALSE(trips.doubted()) << "only a routine drain can show a longer path now";
  trips.wait_until(30s);
  EXPECT_EQ(trips.drain(20ms), MinRttEstimator::DrainResult::confirmed) << "the queue of others again";
  trips.wait_until(35s);
  EXPECT_EQ(trips.drain(20ms), MinRttEstimator::DrainResult::confirmed) << "nothing was suspected since the last one";
  trips.wait_until(37s);
  trips.base.suspect_longer(trips.now, 60ms);
  EXPECT_TRUE(trips.doubted()) << "the other UEs may have left";
}

TEST(MinRttEstimator, TrustsRequestedDrainsOnAPathThatBecameShorterAgain) {
  Trips trips = beside_other_ues();
  trips.base.mark_fresh();
  trips.wait_until(20s);
  EXPECT_EQ(trips.drain(20ms), MinRttEstimator::DrainResult::confirmed);
  trips.wait_until(27s);
  trips.base.suspect_longer(trips.now, 60ms);
  EXPECT_TRUE(trips.doubted()) << "a short round trip came before the routine drain";
}

TEST(MinRttEstimator, RoutineDrainsStillShowALongerPathBesideOtherUes) {
  Trips trips = beside_other_ues();
  trips.wait_until(20s);
  EXPECT_EQ(trips.drain(20ms), MinRttEstimator::DrainResult::confirmed);
  trips.wait_until(25s);
  EXPECT_EQ(trips.drain(60ms), MinRttEstimator::DrainResult::unclear);
  trips.wait_until(30s);
  EXPECT_EQ(trips.drain(60ms), MinRttEstimator::DrainResult::longer);
}

TEST(MinRttEstimator, ADrainIsCancelledInAnOutage) {
  Trips trips;
  trips.base.begin_drain(trips.now, Duration::zero());
  trips.now += 1050ms;
  EXPECT_FALSE(trips.base.on_drained(trips.make_probe({}, segment * 20), 1500, Duration::zero()));
  EXPECT_FALSE(trips.base.draining());
}

TEST(MinRttEstimator, AnUnconfirmedValueIsDrainedAtOnceWithoutATimeLimit) {
  Trips trips;
  trips.base.mark_validated(false);
  EXPECT_TRUE(trips.doubted());
  trips.base.begin_drain(trips.now, Duration::zero());
  trips.now += 5s;
  EXPECT_FALSE(trips.base.on_drained(trips.make_probe({}, segment * 20), 1500, Duration::zero()));
  EXPECT_TRUE(trips.base.draining());
}

TEST(MinRttEstimator, IsRaisedAtOnceAndReducedByTheQueueDelayThatItContained) {
  Trips trips;
  trips.base.raise(60ms);
  EXPECT_EQ(trips.base.value(), 60ms);
  EXPECT_TRUE(trips.base.was_raised());
  trips.base.clamp(15ms);
  EXPECT_EQ(trips.base.value(), 45ms);
  EXPECT_FALSE(trips.base.was_raised());
}

TEST(MinRttEstimator, IsNotReducedBelowItsFormerValue) {
  Trips trips;
  trips.base.raise(60ms);
  trips.base.clamp(2s);
  EXPECT_EQ(trips.base.value(), 20ms);
}

TEST(MinRttEstimator, ARaisedValueEndsWhenItIsForgotten) {
  Trips trips;
  trips.base.raise(60ms);
  trips.base.forget();
  EXPECT_FALSE(trips.base.was_raised());
  EXPECT_FALSE(trips.base.known());
}

TEST(MinRttEstimator, ARaiseEndsTheDrain) {
  Trips trips;
  trips.base.begin_drain(trips.now, Duration::zero());
  trips.base.raise(60ms);
  EXPECT_FALSE(trips.base.draining());
}

TEST(MinRttEstimator, ACancelledDrainDoesNotAffectTheNextOne) {
  Trips trips;
  trips.wait_until(16s);
  trips.base.suspect(trips.now, 60ms);
  trips.base.begin_drain(trips.now, Duration::zero());
  trips.base.cancel_drain();
  trips.wait_until(20s);
  EXPECT_EQ(trips.drain(60ms), MinRttEstimator::DrainResult::unclear) << "nobody has asked for this one";
}

TEST(MinRttEstimator, ForgetsTheSuspectedRtt) {
  Trips trips;
  trips.wait_until(16s);
  trips.base.suspect(trips.now, 60ms);
  trips.base.forget();
  trips.base.record(20ms);
  EXPECT_FALSE(trips.doubted());
  EXPECT_EQ(trips.base.candidate(), Duration::zero());
}

}  // namespace
}  // namespace sluice::control
