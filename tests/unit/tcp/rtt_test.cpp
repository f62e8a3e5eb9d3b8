#include "dataplane/tcp/rtt.hpp"

#include <gtest/gtest.h>

namespace sluice::tcp {
namespace {

using namespace std::chrono_literals;

const Duration min_rto = 200ms;

constexpr Duration least = 200ms;
constexpr Duration most = 60s;

TEST(Rtt, TheTimeoutIsOneSecondBeforeTheFirstSample) {
  const RttEstimator rtt;
  EXPECT_FALSE(rtt.has_sample());
  EXPECT_EQ(rtt.timeout(0, least, most), 1s);
  EXPECT_EQ(rtt.timeout(3, least, most), 8s);
}

TEST(Rtt, TheFirstSampleSetsRttAndVariation) {
  RttEstimator rtt;
  rtt.sample(400ms, SeqNum(1), SeqNum(2), min_rto);
  EXPECT_EQ(rtt.srtt(), 400ms);
  EXPECT_EQ(rtt.variation(), 200ms);
  EXPECT_EQ(rtt.timeout(0, least, most), 1200ms);
}

TEST(Rtt, TheMeanMovesByAnEighth) {
  RttEstimator rtt;
  rtt.sample(100ms, SeqNum(1), SeqNum(2), min_rto);
  rtt.sample(180ms, SeqNum(1), SeqNum(2), min_rto);
  EXPECT_EQ(rtt.srtt(), 110ms);
  EXPECT_EQ(rtt.variation(), 57500us) << "50 + (80 - 50) / 4, at once";
}

TEST(Rtt, VariationFallsOncePerRound) {
  RttEstimator rtt;
  rtt.sample(100ms, SeqNum(0), SeqNum(1000), min_rto);
  for (std::uint32_t i = 0; i < 50; ++i) rtt.sample(100ms, SeqNum(i), SeqNum(1000 + i), min_rto);
  EXPECT_EQ(rtt.variation(), 50ms) << "a burst of equal samples is one round";
  rtt.sample(100ms, SeqNum(1000), SeqNum(2000), min_rto);
  EXPECT_EQ(rtt.variation(), 37500us);
}

TEST(Rtt, TheMinimumTimeoutReplacesASmallVariation) {
  RttEstimator rtt;
  for (std::uint32_t i = 0; i < 100; ++i) rtt.sample(300ms, SeqNum(i * 10), SeqNum(i * 10 + 10), min_rto);
  EXPECT_EQ(rtt.timeout(0, least, most), 500ms);
}

TEST(Rtt, BackoffStopsAtTheMaximum) {
  RttEstimator rtt;
  rtt.sample(100ms, SeqNum(0), SeqNum(1), min_rto);
  EXPECT_EQ(rtt.timeout(2, least, most), 1200ms);
  EXPECT_EQ(rtt.timeout(255, least, most), most);
}

TEST(Rtt, ExtremesStayInRange) {
  RttEstimator rtt;
  rtt.sample(0ns, SeqNum(0), SeqNum(1), min_rto);
  EXPECT_EQ(rtt.srtt(), 1us);
  for (std::uint32_t i = 0; i < 100; ++i) rtt.sample(std::chrono::hours(1000), SeqNum(i), SeqNum(i), min_rto);
  EXPECT_GT(rtt.srtt(), 0s);
  EXPECT_EQ(rtt.timeout(20, least, most), most);
}

}  // namespace
}  // namespace sluice::tcp
