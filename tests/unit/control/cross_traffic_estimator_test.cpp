#include "control/ack_based/cross_traffic_estimator.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// Returns the state after five seconds in which cross traffic sends the share `others` of 1 MB/s.
CrossTrafficEstimator shared(double others) {
  CrossTrafficEstimator cross_traffic;
  for (int i = 0; i < 500; ++i) cross_traffic.on_bytes(Bytes(10'000 * (1 - others)), Bytes(10'000 * others), 10ms);
  return cross_traffic;
}

TEST(CrossTrafficEstimator, CountBytesOfEachSender) {
  const CrossTrafficEstimator cross_traffic = shared(0.3);
  EXPECT_NEAR(cross_traffic.controlled_rate(), 7e5, 1e4);
  EXPECT_NEAR(cross_traffic.total_rate(), 1e6, 1e4);
}

TEST(CrossTrafficEstimator, SamplesOfOneInstantCountInFull) {
  CrossTrafficEstimator once;
  CrossTrafficEstimator twice;
  for (int i = 0; i < 500; ++i) {
    once.on_bytes(Bytes(3000), Bytes(0), 10ms);
    twice.on_bytes(Bytes(1500), Bytes(0), 10ms);
    twice.on_bytes(Bytes(1500), Bytes(0), 0ms);
  }
  EXPECT_NEAR(once.controlled_rate(), twice.controlled_rate(), 1e-6);
}

TEST(CrossTrafficEstimator, ReportCompetitionFromAFifthOfTheRateOn) {
  EXPECT_FALSE(shared(0).has_competition());
  EXPECT_FALSE(shared(0.18).has_competition());
  EXPECT_TRUE(shared(0.22).has_competition());
}

TEST(CrossTrafficEstimator, LeaveEachConnectionItsShare) {
  CrossTrafficEstimator cross_traffic = shared(0.5);
  EXPECT_EQ(cross_traffic.fair_share(1), 0) << "no round trip is known";
  for (int i = 0; i < 50; ++i) cross_traffic.on_round_trip(200ms);
  EXPECT_NEAR(cross_traffic.srtt(), 0.2, 1e-6);
  EXPECT_NEAR(cross_traffic.fair_share(1), 0.9 * 0.5 * 2e5, 2e3);
  EXPECT_NEAR(cross_traffic.fair_share(3), 0.9 * 0.75 * 2e5, 3e3);
}

// Datagrams at a fixed rate do not yield, and a fair part of a queue without bound would be without bound.
TEST(CrossTrafficEstimator, DoNotExtendAQueueAboveHalfASecond) {
  CrossTrafficEstimator cross_traffic = shared(0.5);
  for (int i = 0; i < 200; ++i) cross_traffic.on_round_trip(4s);
  EXPECT_NEAR(cross_traffic.fair_share(1), 0.9 * 0.5 * 1e6 * 0.5, 5e3);
}

}  // namespace
}  // namespace sluice::control
