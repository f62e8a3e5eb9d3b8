// Tests of the loss bound with scripted rounds: when losses lower it, how it grows (RFC 9438), and its floor.
#include "control/loss_bound.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr double segment = 1500;
constexpr double beside = 2 * segment;
/// 100 segments are delivered in each round of 100 ms.
constexpr double pipe = 100 * segment;
constexpr Duration base_delay = 100ms;

/// A sender that has a constant amount in flight, round after round.
struct Rounds {
  LossBound bound{segment};
  Instant now{100s};

  /// One round in which `lost` of `sent` segments are lost. Returns true if it lowered the bound.
  bool round(int sent, int lost, Duration took = base_delay, Duration least_delay = base_delay) {
    now += took;
    return bound.on_acknowledged({.now = now,
                                  .delivered = (sent - lost) * segment,
                                  .lost = lost * segment,
                                  .in_flight = sent * segment,
                                  .base_delay = least_delay,
                                  .beside = beside});
  }
  [[nodiscard]] double at(Duration later = 0s) const { return bound.at(now + later, beside); }
};

TEST(LossBound, IsUnboundedWithoutLosses) {
  Rounds path;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(path.round(100, 0));
  EXPECT_EQ(path.at(), LossBound::unbounded);
}

TEST(LossBound, ToleratesOneRoundOfAFewLosses) {
  Rounds path;
  path.round(150, 0);
  EXPECT_FALSE(path.round(150, 5));
  EXPECT_FALSE(path.round(150, 0));
  EXPECT_FALSE(path.round(150, 5));
  EXPECT_EQ(path.at(), LossBound::unbounded);
}

// A sample that ends a round has in flight what was in flight before it, here twice 150 segments.
TEST(LossBound, TwoRoundsOfLossesLowerItToSevenTenths) {
  Rounds path;
  for (int i = 0; i < 5; ++i) path.round(150, 0, 200ms);
  EXPECT_FALSE(path.round(150, 5, 200ms));
  EXPECT_TRUE(path.round(150, 5, 200ms));
  EXPECT_NEAR(path.at(), 0.7 * 300 * segment, segment);
}

TEST(LossBound, OneRoundWithTenPercentLossLowersIt) {
  Rounds path;
  path.round(150, 0, 200ms);
  EXPECT_TRUE(path.round(150, 20, 200ms));
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

// At the floor a sender fills no queue, so its losses are not its own.
TEST(LossBound, LossesAtTheFloorCountAsRandomLoss) {
  LossBound bound(segment);
  Instant now(100s);
  int lowered = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += 1ms;
    const double lost = i % 50 == 0 ? segment : 0;  // 2 %
    lowered += bound.on_acknowledged({.now = now,
                                      .delivered = segment - lost,
                                      .lost = lost,
                                      .in_flight = 95 * segment,
                                      .base_delay = 100ms,
                                      .beside = beside})
                   ? 1
                   : 0;
  }
  EXPECT_EQ(lowered, 0);
  EXPECT_NEAR(bound.random_loss(), 0.02, 0.005);
}

TEST(LossBound, RandomLossIsAtMostFivePercent) {
  LossBound bound(segment);
  Instant now(100s);
  for (int i = 0; i < 20'000; ++i) {
    now += 1ms;
    const double lost = i % 3 == 0 ? segment : 0;
    bound.on_acknowledged({.now = now,
                           .delivered = segment - lost,
                           .lost = lost,
                           .in_flight = 60 * segment,
                           .base_delay = 100ms,
                           .beside = beside});
    EXPECT_LE(bound.random_loss(), 0.05);
  }
}

// A third of everything is lost although no more is in flight than fills the path: others overload it.
TEST(LossBound, SevereLossesAtTheFloorLowerTheFloor) {
  LossBound bound(segment);
  Instant now(100s);
  const auto deliver = [&](int segments, int lost_each) {
    for (int i = 1; i <= segments; ++i) {
      now += 1ms;
      const double lost = lost_each > 0 && i % lost_each == 0 ? segment : 0;
      bound.on_acknowledged({.now = now,
                             .delivered = segment - lost,
                             .lost = lost,
                             .in_flight = 60 * segment,
                             .base_delay = 100ms,
                             .beside = beside});
    }
  };
  deliver(300, 0);
  deliver(1200, 3);
  EXPECT_LT(bound.at(now, beside), 60 * segment);
  EXPECT_GT(bound.at(now, beside), 0);
  deliver(4000, 0);
  EXPECT_GT(bound.at(now, beside), 60 * segment) << "raised again once nothing is lost";
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
