// Tests of the channels of the CLAMP paper and of 1xEV-DO: rates, losses and margins.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "emulator/channel/clamp.hpp"
#include "emulator/channel/evdo.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;

TEST(ClampChannel, NeverOffersMoreThanCmaxNorThanShannon) {
  ClampChannel channel({}, milliseconds(3), Random(1));
  const double slot = 0.003;
  for (std::uint64_t tti = 0; tti < 100'000; ++tti) {
    const LinkGrant& grant = channel.at(tti);
    const double shannon = slot * 4.3e6 * std::log2(1 + std::pow(10, channel.quality().reported_db / 10)) / 8;
    ASSERT_LE(static_cast<double>(grant.capacity.count()), shannon + 1e-6) << tti;
    ASSERT_LE(grant.capacity, Bytes(3750)) << tti;
  }
}

TEST(ClampChannel, ABlockIsLostIfTheChannelFallsBelowItsRate) {
  ClampChannel channel({.speed_kmh = 36, .attempts = 15}, milliseconds(3), Random(2));
  int lost = 0;
  for (std::uint64_t tti = 0; tti < 20'000; ++tti) {
    const LinkGrant& grant = channel.at(tti);
    const double at_end = 0.003 * 4.3e6 * std::log2(1 + std::pow(10, channel.quality().present_db / 10)) / 8;
    const auto capacity = static_cast<double>(grant.capacity.count());
    if (grant.received) {
      ASSERT_LE(capacity, at_end + 1e-6) << tti;
    } else {
      ASSERT_GT(capacity + 1, at_end) << tti;
      ++lost;
    }
  }
  EXPECT_GT(lost, 100);
}

double losses(double kmh, std::uint32_t attempts, double& margin) {
  ClampChannel channel({.speed_kmh = kmh, .attempts = attempts}, milliseconds(3), Random(3));
  channel.at(200'000);
  const auto sequences = channel.sequences();
  const auto failures = channel.failures();
  channel.at(1'200'000);
  margin = channel.margin();
  return static_cast<double>(channel.failures() - failures) / static_cast<double>(channel.sequences() - sequences);
}

TEST(ClampChannel, TheMarginKeepsTheLossesAtTheTarget) {
  double margin = 0;
  EXPECT_NEAR(losses(0.36, 5, margin), 1e-3, 2e-4);
  EXPECT_GT(margin, 0.01);
  EXPECT_LT(margin, 0.9);
}

// At 60 Hz the channel has long turned when the fifteenth attempt comes, so that no margin is needed.
TEST(ClampChannel, FastFadingWithFifteenAttemptsNeedsNoMargin) {
  double margin = 1;
  EXPECT_LT(losses(36, 15, margin), 1e-3);
  EXPECT_LT(margin, 0.01);
}

TEST(ClampChannel, TwoUesFadeIndependently) {
  ClampChannel a({.speed_kmh = 36}, milliseconds(3), Random::stream(1, "clamp", 0));
  ClampChannel b({.speed_kmh = 36}, milliseconds(3), Random::stream(1, "clamp", 1));
  double sum_a = 0;
  double sum_b = 0;
  double both = 0;
  double squares_a = 0;
  double squares_b = 0;
  constexpr int n = 300'000;
  for (std::uint64_t tti = 0; tti < n; ++tti) {
    a.at(tti);
    b.at(tti);
    const double x = std::pow(10, a.quality().reported_db / 10);
    const double y = std::pow(10, b.quality().reported_db / 10);
    sum_a += x;
    sum_b += y;
    both += x * y;
    squares_a += x * x;
    squares_b += y * y;
  }
  EXPECT_NEAR(sum_a / n, 4, 0.06);  // SNRave
  const double covariance = both / n - sum_a / n * (sum_b / n);
  const double variances = (squares_a / n - sum_a / n * (sum_a / n)) * (squares_b / n - sum_b / n * (sum_b / n));
  EXPECT_LT(std::abs(covariance / std::sqrt(variances)), 0.03);
}

TEST(ClampChannel, RefusesWhatIsOutOfRange) {
  EXPECT_THROW(ClampChannel({.attempts = 0}, milliseconds(3), Random(1)), std::invalid_argument);
  EXPECT_THROW(ClampChannel({.target = 0}, milliseconds(3), Random(1)), std::invalid_argument);
  EXPECT_THROW(ClampChannel({.bandwidth_hz = 0}, milliseconds(3), Random(1)), std::invalid_argument);
}

TEST(Evdo, RatesAreThoseOfBenderEtAl) {
  EXPECT_EQ(evdo_rate(-12.6), Rate());
  EXPECT_DOUBLE_EQ(evdo_rate(-12.5).bps(), 38'400);
  EXPECT_DOUBLE_EQ(evdo_rate(-8.5).bps(), 102'400);
  EXPECT_DOUBLE_EQ(evdo_rate(3).bps(), 1'228'800);
  EXPECT_DOUBLE_EQ(evdo_rate(4).bps(), 1'228'800);
  EXPECT_DOUBLE_EQ(evdo_rate(30).bps(), 2'457'600);
}

TEST(Evdo, ASlotCarriesItsRateAndFractionsAreNotLost) {
  EvdoChannel fast({.mean_snr_db = 10, .fading = false}, evdo_slot, Random(1));
  EXPECT_EQ(fast.at(0).capacity, Bytes(512));
  EvdoChannel slow({.mean_snr_db = -8, .fading = false}, evdo_slot, Random(1));  // 21 1/3 bytes a slot
  EXPECT_EQ(slow.offered_through(599), 12'800U);
}

TEST(Evdo, WithFadingTheMeanSnrStaysAndTheRateFollowsIt) {
  EvdoChannel channel({.mean_snr_db = 4, .speed_kmh = 30}, evdo_slot, Random(4));
  double power = 0;
  constexpr int n = 200'000;
  for (std::uint64_t tti = 0; tti < n; ++tti) {
    const LinkGrant& grant = channel.at(tti);
    power += std::pow(10, channel.quality().present_db / 10);
    ASSERT_NEAR(static_cast<double>(grant.capacity.count()),
                evdo_rate(channel.quality().present_db).bytes_per_second() / 600, 1.01);
  }
  EXPECT_NEAR(10 * std::log10(power / n), 4, 0.1);
}

}  // namespace
}  // namespace sluice::emulator
