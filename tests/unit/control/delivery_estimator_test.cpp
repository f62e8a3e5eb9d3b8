// Tests of the delivery-rate estimator from ACKs: rate, ACK aggregation and idle gaps of bursty links.
#include "control/ack_based/delivery_estimator.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

Instant at(Duration since) {
  return Instant(10s + since);
}

/// Acknowledgements of a link of `bps`, `packets` at once, for `time`.
Instant feed(DeliveryEstimator& estimator, Instant from, double bps, std::int64_t packets, Duration time,
             bool link_limited = true) {
  const Duration gap = from_seconds(static_cast<double>(packets) * 12'000 / bps);
  Instant now = from;
  for (; now < from + time; now += gap) estimator.on_delivered(now, Bytes(1500) * packets, link_limited);
  return now;
}

TEST(DeliveryEstimator, MeasuresARateOfAnySize) {
  // At 1e4 b/s a packet takes 1.2 s, far longer than the memory.
  for (const double bps : {1e4, 1e5, 1e6, 1e7, 1e8, 1e9}) {
    DeliveryEstimator estimator(80ms);
    feed(estimator, at(0s), bps, 1, bps < 1e5 ? 20s : 5s);
    EXPECT_NEAR(estimator.rate().bps(), bps, 0.05 * bps) << bps;
  }
}

TEST(DeliveryEstimator, AckAggregationIsMeasuredAndHardlyChangesTheRate) {
  for (const std::int64_t packets : {1, 4, 8, 16}) {
    DeliveryEstimator estimator(80ms);
    feed(estimator, at(0s), 10e6, packets, 5s);
    EXPECT_NEAR(estimator.rate().bps(), 10e6, 0.1e6) << packets;
    EXPECT_NEAR(static_cast<double>(estimator.ack_aggregation().count()), 1500.0 * static_cast<double>(packets), 200)
        << packets;
  }
}

TEST(DeliveryEstimator, FollowsALinkWithinAFewTimeConstants) {
  DeliveryEstimator estimator(80ms);
  Instant now = feed(estimator, at(0s), 10e6, 2, 2s);
  now = feed(estimator, now, 2e6, 2, 300ms);
  EXPECT_NEAR(estimator.rate().bps(), 2e6, 0.3e6);
  feed(estimator, now, 20e6, 2, 300ms);
  EXPECT_NEAR(estimator.rate().bps(), 20e6, 2e6);
  EXPECT_NEAR(estimator.max_rate().bps(), 20e6, 2e6);
}

TEST(DeliveryEstimator, AnAppLimitedSampleDoesNotLowerTheRate) {
  DeliveryEstimator estimator(80ms);
  const Instant now = feed(estimator, at(0s), 10e6, 2, 2s);
  feed(estimator, now, 1e6, 1, 2s, false);
  EXPECT_GE(estimator.rate().bps(), 9.5e6);
}

// An uplink that holds ACKs releases them packet by packet within a millisecond, again and again.
TEST(DeliveryEstimator, AnAppLimitedSampleDoesNotLowerARateFromAnotherSource) {
  DeliveryEstimator estimator(80ms);
  const Instant limited = feed(estimator, at(0s), 2e6, 1, 1s);
  const Instant now = feed(estimator, limited, 1e6, 1, 100ms, false);
  estimator.seed(now, Rate::bits_per_second(10'000'000));
  feed(estimator, now, 1e6, 1, 500ms, false);
  EXPECT_NEAR(estimator.rate().bps(), 10e6, 0.1e6);
}

TEST(DeliveryEstimator, AppLimitedAckAggregationDoesNotAccumulate) {
  DeliveryEstimator estimator(80ms);
  for (int i = 0; i < 2000; ++i) {
    for (int k = 0; k < 10; ++k) estimator.on_delivered(at(i * 12ms + k * 100us), Bytes(1500), false);
  }
  EXPECT_LT(estimator.rate().bps(), 1.3 * 10e6);
}

TEST(DeliveryEstimator, ASteadyLinkIsNotBursty) {
  for (const double bps : {0.3e6, 1e6, 10e6, 100e6}) {
    DeliveryEstimator estimator(80ms);
    feed(estimator, at(0s), bps, 1, 10s);
    EXPECT_FALSE(estimator.is_bursty()) << bps;
    EXPECT_NEAR(to_seconds(estimator.idle_gap()), to_seconds(estimator.gap()), 0.1 * to_seconds(estimator.gap()))
        << bps;
  }
}

TEST(DeliveryEstimator, MeasuresTheIdleGapOfABurstyLink) {
  DeliveryEstimator estimator(80ms);
  Instant now = at(0s);
  for (int i = 0; i < 100; ++i) now = feed(estimator, now, 6e6, 1, 20ms) + 38ms;
  EXPECT_TRUE(estimator.is_bursty());
  EXPECT_NEAR(to_seconds(estimator.idle_gap()), 0.027, 0.003) << "40 ms in two thirds of the time, and 2 ms in a third";
  EXPECT_LT(estimator.gap(), 8ms);
}

TEST(DeliveryEstimator, AnOutageIsNotAnIdleGap) {
  DeliveryEstimator estimator(80ms);
  Instant now = at(0s);
  for (int i = 0; i < 20; ++i) now = feed(estimator, now, 6e6, 1, 500ms) + 300ms;
  EXPECT_FALSE(estimator.is_bursty());
  EXPECT_LT(estimator.idle_gap(), 5ms);
}

TEST(DeliveryEstimator, APauseOfTheSourceDoesNotChangeTheRate) {
  DeliveryEstimator estimator(80ms);
  const Instant now = feed(estimator, at(0s), 10e6, 2, 2s);
  estimator.on_idle();
  feed(estimator, now + 5s, 10e6, 2, 20ms);
  EXPECT_NEAR(estimator.rate().bps(), 10e6, 0.5e6);
}

// Ten acknowledgements within microseconds, again and again: an uplink that let them wait.
TEST(DeliveryEstimator, CompressedAcksAfterAPauseAreNoRateSample) {
  DeliveryEstimator estimator(80ms);
  for (int i = 0; i < 50; ++i) {
    for (int k = 0; k < 10; ++k) estimator.on_delivered(at(i * 200ms + k * 10us), Bytes(1500), false);
    estimator.on_idle();
  }
  EXPECT_FALSE(estimator.has_sample()) << estimator.rate().bps();
}

TEST(DeliveryEstimator, AClumpOfMoreThanTwiceTheMeanIsLarge) {
  DeliveryEstimator estimator(80ms);
  const Duration gap = 2400us;
  const Instant now = feed(estimator, at(0s), 10e6, 2, 2s);
  estimator.on_delivered(now, Bytes(3000), true);
  EXPECT_FALSE(estimator.is_large_aggregation(now, Bytes(3000))) << "exactly twice the mean";
  EXPECT_TRUE(estimator.is_large_aggregation(now, Bytes(3001)));
  EXPECT_FALSE(estimator.is_large_aggregation(now + gap, Bytes(6000))) << "the first ACK of the next clump";
  EXPECT_TRUE(estimator.is_large_aggregation(now + gap, Bytes(6001))) << "a sample may sum the ACKs of a clump";
}

TEST(DeliveryEstimator, AnOutageIsWeightedByAtMostTheTimeConstant) {
  DeliveryEstimator estimator(80ms);
  const Instant now = feed(estimator, at(0s), 10e6, 2, 2s);
  estimator.on_delivered(now + 30s, Bytes(1500), true);
  EXPECT_GE(estimator.rate().bps(), 3e6);
  estimator.restart();
  EXPECT_FALSE(estimator.has_sample());
}

}  // namespace
}  // namespace sluice::control
