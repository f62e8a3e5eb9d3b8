#include "control/base_delay.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Bytes segment{1500};

/// Round trips of a link of 12 Mb/s, an acknowledgement each 10 ms.
class Trips {
 public:
  explicit Trips(Duration first = 20ms) { hear_for(1s, first); }

  /// One: beyond `most` it is longer than it is to be.
  void hear(Duration round_trip, Duration most) {
    now += 10ms;
    delivery.on_delivered(now, segment * 10, true);
    base.note(round_trip);
    base.judge(round_trip, 10ms, Duration::zero(), most);
  }
  void hear_for(Duration time, Duration round_trip, Duration most = Duration::max()) {
    for (const Instant end = now + time; now < end;) hear(round_trip, most);
  }
  [[nodiscard]] bool doubted() const { return base.is_doubted(now, delivery); }
  /// The queue is empty at once, and packets sent since take so long. Returns what conclude() does.
  std::optional<Duration> drain(Duration round_trip) {
    base.begin_drain(now);
    EXPECT_FALSE(base.on_drained(news({}), 0));
    EXPECT_TRUE(base.probing());
    now += round_trip;
    for (int probe = 1; probe < 4; ++probe) EXPECT_FALSE(base.on_drained(news(round_trip), 0));
    EXPECT_TRUE(base.on_drained(news(round_trip), 0));
    EXPECT_FALSE(base.draining());
    return base.conclude(now, Duration::zero());
  }
  [[nodiscard]] Acknowledged news(Duration round_trip, Bytes in_flight = Bytes(0)) const {
    return {.now = now, .delivered = segment, .round_trip = round_trip, .in_flight = in_flight};
  }

  Instant now{10s};
  DeliveryEstimator delivery{80ms};
  BaseDelay base;
};

TEST(BaseDelay, IsTheLeastRoundTrip) {
  BaseDelay base;
  EXPECT_FALSE(base.known());
  base.note(30ms);
  base.note(20ms);
  base.note(25ms);
  EXPECT_EQ(base.value(), 20ms);
  EXPECT_TRUE(base.is_near(23500us)) << "an eighth, and a timer's tick";
  EXPECT_FALSE(base.is_near(24ms));
}

TEST(BaseDelay, IsDoubtedWhereNothingComesNearItForFiveSeconds) {
  Trips trips;
  trips.hear_for(4900ms, 50ms);
  EXPECT_FALSE(trips.doubted());
  trips.hear_for(200ms, 50ms);
  EXPECT_TRUE(trips.doubted());
  trips.base.believe();
  EXPECT_FALSE(trips.doubted());
}

TEST(BaseDelay, IsDoubtedSoonWhereTheRateFallsAlthoughTheWindowIsTheLimit) {
  Trips trips;
  trips.hear_for(2s, 20ms);
  // Half of the rate, and each packet later than it is to be.
  for (int i = 0; i < 60; ++i) {
    trips.now += 10ms;
    trips.hear(60ms, 30ms);
  }
  EXPECT_TRUE(trips.doubted());
}

TEST(BaseDelay, IsBeyondHopeAfterTwentySecondsOfLatePackets) {
  Trips trips;
  trips.hear_for(19900ms, 60ms, 30ms);
  EXPECT_EQ(trips.base.beyond_hope(), std::nullopt);
  trips.hear(55ms, 30ms);
  trips.hear_for(200ms, 60ms, 30ms);
  EXPECT_EQ(trips.base.beyond_hope(), 55ms) << "the least of them";
  trips.hear(25ms, 30ms);
  EXPECT_EQ(trips.base.beyond_hope(), std::nullopt);
}

TEST(BaseDelay, ADrainThatConfirmsItPutsTheNextDoubtOff) {
  Trips trips;
  trips.hear_for(6s, 50ms);
  EXPECT_FALSE(trips.base.is_confirmed());
  EXPECT_EQ(trips.drain(21ms), std::nullopt);
  EXPECT_EQ(trips.base.value(), 21ms) << "what it is now, about";
  EXPECT_TRUE(trips.base.is_confirmed());
  EXPECT_EQ(trips.base.drains(), 1U);
  EXPECT_FALSE(trips.doubted());
}

TEST(BaseDelay, AShorterOneIsBelievedAtOnceAndDrainedForOnceMore) {
  Trips trips(60ms);
  EXPECT_EQ(trips.drain(20ms), std::nullopt);
  EXPECT_EQ(trips.base.value(), 20ms);
  EXPECT_FALSE(trips.base.is_confirmed());
  EXPECT_FALSE(trips.doubted());
  trips.hear_for(130ms, 20ms);
  EXPECT_TRUE(trips.doubted()) << "some of what was too much may still have stood";
}

TEST(BaseDelay, ALongerOneMustBeSeenTwice) {
  Trips trips;
  EXPECT_EQ(trips.drain(60ms), std::nullopt);
  EXPECT_EQ(trips.base.value(), 20ms);
  trips.hear_for(1s, 60ms);
  EXPECT_TRUE(trips.doubted());
  EXPECT_EQ(trips.drain(70ms), 60ms) << "the lesser of the two";
}

TEST(BaseDelay, ADrainThatMeetsAnOutageIsGivenUp) {
  Trips trips;
  trips.base.begin_drain(trips.now);
  trips.now += 1050ms;
  EXPECT_FALSE(trips.base.on_drained(trips.news({}, segment * 20), 1500));
  EXPECT_FALSE(trips.base.draining());
}

TEST(BaseDelay, OneThatIsUnprovenIsDoubtedAtOnceAndDrainedForAsLongAsItTakes) {
  Trips trips;
  trips.base.prove(false);
  EXPECT_TRUE(trips.doubted());
  trips.base.begin_drain(trips.now);
  trips.now += 5s;
  EXPECT_FALSE(trips.base.on_drained(trips.news({}, segment * 20), 1500));
  EXPECT_TRUE(trips.base.draining());
}

TEST(BaseDelay, IsLongerAtOnceAndSettledOnceItIsKnownWhatWasInIt) {
  Trips trips;
  trips.base.lengthen(60ms);
  EXPECT_EQ(trips.base.value(), 60ms);
  EXPECT_TRUE(trips.base.was_lengthened());
  trips.base.settle(15ms);
  EXPECT_EQ(trips.base.value(), 45ms);
  EXPECT_FALSE(trips.base.was_lengthened());
}

TEST(BaseDelay, IsSettledNoShorterThanItWas) {
  Trips trips;
  trips.base.lengthen(60ms);
  trips.base.settle(2s);
  EXPECT_EQ(trips.base.value(), 20ms);
}

TEST(BaseDelay, IsNotLengthenedAnyMoreOnceItIsForgotten) {
  Trips trips;
  trips.base.lengthen(60ms);
  trips.base.forget();
  EXPECT_FALSE(trips.base.was_lengthened());
  EXPECT_FALSE(trips.base.known());
}

TEST(BaseDelay, ADrainEndsWhereItIsLonger) {
  Trips trips;
  trips.base.begin_drain(trips.now);
  trips.base.lengthen(60ms);
  EXPECT_FALSE(trips.base.draining());
}

}  // namespace
}  // namespace sluice::control
