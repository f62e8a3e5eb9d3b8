// Tests of CQI tables, transport blocks and block error rates against the 3GPP tables and formulas.
#include "emulator/link/cqi.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace sluice::emulator::link {
namespace {

TEST(Cqi, FollowsTheChipLevelSnr) {
  EXPECT_EQ(cqi_of(-40), 0);
  EXPECT_EQ(cqi_of(-16), 0);
  EXPECT_EQ(cqi_of(-15.9), 1);  // -15.9/1.02 + 16.62 = 1.03
  EXPECT_EQ(cqi_of(0), 16);
  EXPECT_EQ(cqi_of(0.38), 16);
  EXPECT_EQ(cqi_of(0.39), 17);  // 17.002
  EXPECT_EQ(cqi_of(13.6), 29);
  EXPECT_EQ(cqi_of(13.9), 30);
  EXPECT_EQ(cqi_of(14), 30);
  EXPECT_EQ(cqi_of(100), 30);
}

TEST(Cqi, AnApproximateSnrGivesTheSameCqiOrNone) {
  constexpr double error = 1e-3;
  int untold = 0;
  int all = 0;
  for (double snr = -60; snr < 60; snr += 0.0037) {
    for (const double off : {-error, -error / 2, 0.0, error}) {
      const std::array<double, 3> snrs{snr, -snr, 0.1 * snr};
      std::array<std::uint64_t, 3> cqis{};
      ++all;
      if (!cqis_about<3>({snrs[0] + off, snrs[1] + off, snrs[2] + off}, error, cqis)) {
        ++untold;
        continue;
      }
      for (std::size_t i = 0; i < snrs.size(); ++i) {
        ASSERT_EQ(cqis[i], static_cast<std::uint64_t>(cqi_of(snrs[i]))) << snrs[i] << ' ' << off;
      }
    }
  }
  EXPECT_GT(untold, 0);
  EXPECT_LT(untold, all / 200);  // 30 steps in 120 dB, and as many again
}

// 3GPP TS 25.214 v5.5.0, tables 7A (categories 1-6), 7B (7, 8), 7C (9) and 7D (10).
TEST(TransportBlock, IsExactForEveryCqiAndCategory) {
  const std::array<int, 23> common{0,    137,  173,  233,  317,  377,  461,  650,  792,  931,  1262, 1483,
                                   1742, 2279, 2583, 3319, 3565, 4189, 4664, 5287, 5887, 6554, 7168};
  for (int category = 1; category <= 10; ++category) {
    for (int cqi = 0; cqi <= 22; ++cqi) {
      EXPECT_EQ(transport_block_bits(cqi, category), common[static_cast<std::size_t>(cqi)]) << category << " " << cqi;
    }
  }
  for (int category = 1; category <= 6; ++category) {
    for (int cqi = 23; cqi <= 30; ++cqi) EXPECT_EQ(transport_block_bits(cqi, category), 7168);
  }
  const std::array<int, 8> seven{9719, 11418, 14411, 14411, 14411, 14411, 14411, 14411};
  const std::array<int, 8> nine{9719, 11418, 14411, 17300, 17300, 17300, 17300, 17300};
  const std::array<int, 8> ten{9719, 11418, 14411, 17300, 21754, 23370, 24222, 25558};
  for (int cqi = 23; cqi <= 30; ++cqi) {
    const auto i = static_cast<std::size_t>(cqi - 23);
    EXPECT_EQ(transport_block_bits(cqi, 7), seven[i]);
    EXPECT_EQ(transport_block_bits(cqi, 8), seven[i]);
    EXPECT_EQ(transport_block_bits(cqi, 9), nine[i]);
    EXPECT_EQ(transport_block_bits(cqi, 10), ten[i]);
  }
}

TEST(TransportBlock, RefusesWhatIsNotInTheTable) {
  EXPECT_THROW(static_cast<void>(transport_block_bits(-1, 1)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(transport_block_bits(31, 1)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(transport_block_bits(1, 0)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(transport_block_bits(1, 11)), std::out_of_range);
}

TEST(Pdus, CarryTheBlockWithoutItsHeader) {
  EXPECT_EQ(pdus(0), 0);
  EXPECT_EQ(pdus(137), 0);  // CQI 1 to 4 carry none
  EXPECT_EQ(pdus(317), 0);
  EXPECT_EQ(pdus(340), 0);
  EXPECT_EQ(pdus(341), 1);
  EXPECT_EQ(pdus(377), 1);
  EXPECT_EQ(pdus(7168), 22);
  EXPECT_EQ(pdus(25558), 79);
}

TEST(BlockErrorRate, IsTenPercentAtTheThresholdOfTheCqi) {
  // The lowest SNR at which a CQI is reported: 1.02·(CQI − 16.62).
  const auto at_threshold = [](int cqi) { return block_error_rate(1.02 * (cqi - 16.62), cqi); };
  for (int cqi = 8; cqi <= 20; ++cqi) {
    EXPECT_GT(at_threshold(cqi), 0.07) << cqi;
    EXPECT_LT(at_threshold(cqi), 0.13) << cqi;
  }
}

TEST(BlockErrorRate, EqualsTheFormula) {
  // By hand: CQI 15 at 0 dB: exponent 2·(0 − 15.45 + 17.30)/(1.7320508 − 1.1760913) = 6.655165.
  EXPECT_NEAR(block_error_rate(0, 15), std::pow(std::pow(10.0, 6.655165) + 1, -1 / 0.7), 1e-14);
  // CQI 20 at 0 dB: 2·(−3.30)/(1.7320508 − 1.3010300) = −15.3125: lost.
  EXPECT_NEAR(block_error_rate(0, 20), 1, 1e-12);
  // CQI 1 at its threshold −15.9324 dB: 2·(0.3376)/1.7320508 = 0.389828.
  EXPECT_NEAR(block_error_rate(-15.9324, 1), std::pow(std::pow(10.0, 0.389828) + 1, -1 / 0.7), 1e-6);
  EXPECT_NEAR(block_error_rate(-15.9324, 1), 0.175, 0.01);
  // Far below and far above.
  EXPECT_NEAR(block_error_rate(-60, 10), 1, 1e-12);
  EXPECT_LT(block_error_rate(60, 10), 1e-30);
}

TEST(BlockErrorRate, FallsWithTheSnr) {
  for (int cqi = 1; cqi <= 30; ++cqi) {
    double before = 1;
    for (double snr = -20; snr < 20; snr += 0.25) {
      const double now = block_error_rate(snr, cqi);
      EXPECT_LE(now, before);
      before = now;
    }
  }
}

TEST(BlockErrorRate, ADrawBelowTheRateIsALostBlock) {
  for (int cqi = 1; cqi <= 30; ++cqi) {
    for (double snr = -40; snr < 40; snr += 0.037) {
      const double rate = block_error_rate(snr, cqi);
      for (const double draw : {0.0, rate / 2, rate, rate * 1.0001, 0.3, 0.9, 0.999999}) {
        ASSERT_EQ(block_received(snr, cqi, draw), draw >= rate) << cqi << ' ' << snr << ' ' << draw;
      }
    }
  }
}

TEST(BlockErrorRate, AnApproximateSnrDecidesTheSameOrNotAtAll) {
  constexpr double error = 1e-3;
  const Receptions receptions(error);
  int unsure = 0;
  int all = 0;
  for (int cqi = 1; cqi <= 30; ++cqi) {
    for (double snr = -40; snr < 40; snr += 0.037) {
      const double rate = block_error_rate(snr, cqi);
      for (const double draw : {0.0, rate / 2, rate, std::nextafter(rate, 1.0), 0.1, 0.5, 0.9, 0.999999}) {
        for (const double off : {-error, 0.0, error}) {
          const auto about = receptions.received(snr + off, cqi, draw);
          ++all;
          if (about) {
            ASSERT_EQ(*about, draw >= rate) << cqi << ' ' << snr << ' ' << draw << ' ' << off;
          } else {
            ++unsure;
          }
        }
      }
    }
  }
  EXPECT_GT(unsure, 0);
  EXPECT_LT(unsure, all / 2);  // half of the draws are at the rate or beside it
}

}  // namespace
}  // namespace sluice::emulator::link
