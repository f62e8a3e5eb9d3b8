// Tests of the loss bound with scripted rounds: when losses lower it, how it grows (RFC 9438), and its floor.
#include "control/ack_based/loss_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr double segment = 1500;
constexpr double beyond_bdp = 2 * segment;
/// 100 segments are delivered in each round of 100 ms.
constexpr double pipe = 100 * segment;
constexpr Duration base_delay = 100ms;

/// A sender that has a constant amount in flight, round after round.
struct Rounds {
  LossBound bound{segment};
  Instant now{100s};

  /// One round in which `lost` of `sent` segments are lost. Returns true if it lowered the bound.
  bool round(int sent, int lost, Duration took = base_delay, Duration min_delay = base_delay) {
    now += took;
    return bound.on_acknowledged({.now = now,
                                  .delivered = Bytes((sent - lost) * segment),
                                  .lost = Bytes(lost * segment),
                                  .in_flight = Bytes(sent * segment),
                                  .base_delay = min_delay,
                                  .beyond_bdp = beyond_bdp});
  }
  [[nodiscard]] double at(Duration later = 0s) const { return bound.bound_at(now + later, beyond_bdp); }
};

TEST(LossBound, IsUnboundedWithoutLosses) {
  Rounds path;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(path.round(100, 0));
  EXPECT_EQ(path.at(), LossBound::unbounded);
}

TEST(LossBound, ToleratesOneLossInThousands) {
  Rounds path;
  path.round(150, 0);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(path.round(150, i % 20 == 0 ? 1 : 0)) << i;
  EXPECT_EQ(path.at(), LossBound::unbounded);
}

// CoDel on a link of 10 Mb/s drops one packet in each round of 28: too few to be conspicuous in one round.
TEST(LossBound, OneLossInEachRoundLowersIt) {
  Rounds path;
  for (int i = 0; i < 5; ++i) path.round(28, 0, 40ms, 20ms);
  EXPECT_FALSE(path.round(28, 1, 40ms, 20ms));
  EXPECT_TRUE(path.round(28, 1, 40ms, 20ms) || path.round(28, 1, 40ms, 20ms));
}

// A sample that ends a round has in flight what was in flight before it, here twice 150 segments.
TEST(LossBound, LossesLeaveSevenTenths) {
  Rounds path;
  for (int i = 0; i < 5; ++i) path.round(150, 0, 200ms);
  EXPECT_TRUE(path.round(150, 3, 200ms));
  EXPECT_NEAR(path.at(), 0.7 * 300 * segment, segment);
}

// RFC 9438 section 4.2: K is the cube root of 0.3 · 300 segments / 0.4.
TEST(LossBound, GrowsWithTimeAsCubicDoes) {
  Rounds path;
  path.round(150, 0, 200ms);
  path.round(150, 20, 200ms);
  const auto k = from_seconds(6.082);
  EXPECT_NEAR(path.at(k), 300 * segment, segment);
  EXPECT_NEAR(path.at(k + 2s), (300 + 0.4 * 8) * segment, segment);
  EXPECT_LT(path.at(1s), path.at(2s));
}

TEST(LossBound, LossesOfDataSentBeforeTheReductionCountOnce) {
  Rounds path;
  path.round(150, 0, 200ms);
  EXPECT_TRUE(path.round(150, 40, 200ms));
  EXPECT_FALSE(path.round(150, 40, 200ms));
  EXPECT_TRUE(path.round(150, 40, 200ms));
}

TEST(LossBound, IsAtLeastWhatFillsThePath) {
  Rounds path;
  for (int i = 0; i < 5; ++i) path.round(100, 0);
  path.round(110, 5);
  path.round(110, 5);
  EXPECT_GE(path.at(), pipe);
}

/// The path carries 100 segments per 100 ms, so its floor is 1.05 · 100 segments and two more.
struct LossAtTheFloor : testing::Test {
  static constexpr double floor = 107;
  LossBound bound{segment};
  Instant now{100s};

  LossAtTheFloor() {
    round(100, 0);
    round(100, 0);
  }
  /// One round with so many segments in flight, of which `lost` are lost. Returns true if it lowered the bound.
  bool round(int in_flight, int lost, Duration took = 100ms) {
    now += took;
    return bound.on_acknowledged({.now = now,
                                  .delivered = Bytes((in_flight - lost) * segment),
                                  .lost = Bytes(lost * segment),
                                  .in_flight = Bytes{},
                                  .base_delay = base_delay,
                                  .beyond_bdp = beyond_bdp});
  }
  [[nodiscard]] double segments() const { return bound.bound_at(now, beyond_bdp) / segment; }
  /// Losses with at most 1.1 of the floor in flight begin a trial. What was sent before it does not count.
  void begin_trial() {
    EXPECT_TRUE(round(117, 5, 200ms));
    EXPECT_NEAR(segments(), 0.8 * floor, 1e-6);
    EXPECT_FALSE(round(96, 20, 200ms));
  }
};

TEST_F(LossAtTheFloor, LeavesTheFloor) {
  EXPECT_TRUE(round(150, 5, 200ms)) << "0.7 of 150 segments are less";
  EXPECT_NEAR(segments(), floor, 1e-6);
}

TEST_F(LossAtTheFloor, BeginsATrialOnlyNearTheFloor) {
  EXPECT_TRUE(round(118, 5, 200ms)) << "more than 1.1 of the floor";
  EXPECT_NEAR(segments(), floor, 1e-6);
}

TEST_F(LossAtTheFloor, ThatATrialDoesNotStopIsAnOverload) {
  begin_trial();
  EXPECT_TRUE(round(96, 40));
  EXPECT_NEAR(segments(), 0.8 * 96, 1e-6);
}

TEST_F(LossAtTheFloor, CountsAsRandomOnlyInRoundsOfATrialWithoutAQueue) {
  begin_trial();
  EXPECT_FALSE(round(97, 1));
  EXPECT_EQ(bound.random_loss(), 0) << "97 segments in flight are more than 0.9 of the floor";
  EXPECT_FALSE(round(96, 4));
  EXPECT_NEAR(bound.random_loss(), 4.0 / 596, 1e-9) << "over 500 segments and the 96 of this round";
}

TEST_F(LossAtTheFloor, IsForgottenAfterEightMeanDistancesWithoutLoss) {
  begin_trial();
  EXPECT_FALSE(round(96, 4));
  constexpr double loss = 4.0 / 596;
  for (int i = 0; i < 39; ++i) EXPECT_FALSE(round(120, 0)) << "the trial lasts for 4.28 s";
  // 96 segments of the trial and 10 · 120 after it are eight times 149 segments.
  for (int i = 0; i < 9; ++i) {
    EXPECT_FALSE(round(120, 0));
    EXPECT_NEAR(bound.random_loss(), loss, 1e-9) << i;
  }
  EXPECT_FALSE(round(120, 0));
  EXPECT_NEAR(bound.random_loss(), loss / 2, 1e-9);
}

/// A sender that fills the bound of a path which carries a segment each millisecond, with a round trip of 100 ms.
struct Sender {
  LossBound bound{segment};
  Instant now{100s};
  double most = 150;                     ///< segments in flight without a bound
  double buffer = LossBound::unbounded;  ///< segments in flight from which on each further one is lost
  int random_each = 0;                   ///< one of so many segments is lost at random; 0: none is
  int lost = 0;                          ///< segments
  int sent = 0;

  void send(Duration time) {
    for (const Instant end = now + time; now < end;) {
      const double in_flight = std::min(most, bound.bound_at(now, beyond_bdp) / segment);
      const double rate = std::min(in_flight / 100, 1.0);
      now += from_seconds(0.001 / rate);
      ++sent;
      const bool overflows = in_flight > buffer && sent % 10 == 0;
      const bool loses = overflows || (random_each > 0 && sent % random_each == 0);
      lost += loses ? 1 : 0;
      const double gone = loses ? segment : 0;
      bound.on_acknowledged(
          {now, Bytes(segment - gone), Bytes(gone), Bytes(in_flight * segment), base_delay, beyond_bdp});
    }
  }
};

// A queue of two packets overflows at the floor, which has a reserve of five packets and two segments.
TEST(LossBound, ATrialFindsAQueueTooShortForTheFloor) {
  Sender sender;
  sender.buffer = 102;
  sender.send(10s);
  sender.lost = sender.sent = 0;
  sender.send(100s);
  EXPECT_LT(sender.lost, 0.003 * sender.sent) << "a tenth of what is sent at the floor";
  EXPECT_GT(sender.sent, 93'000) << "of 100 000";
  EXPECT_LT(sender.bound.random_loss(), 0.002);
}

TEST(LossBound, LossesThatATrialDoesNotStopAreRandom) {
  for (const int each : {30, 50, 100}) {
    SCOPED_TRACE(each);
    Sender sender;
    sender.random_each = each;
    sender.send(20s);
    sender.sent = 0;
    sender.send(100s);
    EXPECT_GT(sender.sent, 97'000) << "of 100 000";
    EXPECT_GT(sender.bound.random_loss(), 0.3 / each);
    EXPECT_LT(sender.bound.random_loss(), 1.7 / each);
    EXPECT_GE(sender.bound.bound_at(sender.now, beyond_bdp), pipe);
  }
}

TEST(LossBound, RandomLossIsAtMostFivePercent) {
  LossBound bound(segment);
  Instant now(100s);
  for (int i = 0; i < 20'000; ++i) {
    now += 1ms;
    const double lost = i % 3 == 0 ? segment : 0;
    bound.on_acknowledged({.now = now,
                           .delivered = Bytes(segment - lost),
                           .lost = Bytes(lost),
                           .in_flight = Bytes(60 * segment),
                           .base_delay = 100ms,
                           .beyond_bdp = beyond_bdp});
    EXPECT_LE(bound.random_loss(), 0.05);
  }
}

// A third of everything is lost although no more is in flight than fills the path: others overload it.
TEST(LossBound, LossesOfAThirdLowerItBelowTheFloor) {
  LossBound bound(segment);
  Instant now(100s);
  const auto deliver = [&](int segments, int lost_each) {
    for (int i = 1; i <= segments; ++i) {
      now += 1ms;
      const double lost = lost_each > 0 && i % lost_each == 0 ? segment : 0;
      bound.on_acknowledged({.now = now,
                             .delivered = Bytes(segment - lost),
                             .lost = Bytes(lost),
                             .in_flight = Bytes(60 * segment),
                             .base_delay = 100ms,
                             .beyond_bdp = beyond_bdp});
    }
  };
  deliver(300, 0);
  deliver(1200, 3);
  EXPECT_LT(bound.bound_at(now, beyond_bdp), 60 * segment);
  EXPECT_GT(bound.bound_at(now, beyond_bdp), 0);
  deliver(4000, 0);
  EXPECT_GT(bound.bound_at(now, beyond_bdp), 60 * segment) << "raised again once nothing is lost";
}

// The minimum round trip rises where other senders keep the queue full.
TEST(LossBound, ABaseDelayThatRisesRaisesTheFloorSlowly) {
  Rounds path;
  for (int i = 0; i < 5; ++i) path.round(100, 0);
  path.round(110, 20);
  path.round(110, 0);
  const double before = path.at();
  path.round(110, 0, 100ms, 400ms);
  EXPECT_LT(path.at(), 1.2 * before);
}

TEST(LossBound, ForgetsOnRequest) {
  Rounds path;
  path.round(150, 0, 200ms);
  path.round(150, 40, 200ms);
  path.bound.forget();
  EXPECT_EQ(path.at(), LossBound::unbounded);
}

// Nothing is known of the path before the first round trip, so nothing can be concluded from losses.
TEST(LossBound, SetsNoBoundWhileTheBaseDelayIsUnknown) {
  Rounds path;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(path.round(150, 50, 100ms, 0s));
  EXPECT_EQ(path.at(), LossBound::unbounded);
}

}  // namespace
}  // namespace sluice::control
