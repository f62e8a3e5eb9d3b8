// Tests of the OFDMA channel: capacity, block errors and outer-loop link adaptation.
#include "emulator/channel/ofdma.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace sluice::emulator {
namespace {

using link::CqiTable;
using std::chrono::milliseconds;

// The column "efficiency" of the standards' tables.
constexpr std::array<double, 15> efficiency_64{0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141,
                                               2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152, 5.5547};
constexpr std::array<double, 15> efficiency_256{0.1523, 0.3770, 0.8770, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223,
                                                3.9023, 4.5234, 5.1152, 5.5547, 6.2266, 6.9141, 7.4063};
constexpr std::array<double, 15> efficiency_low{0.0586, 0.0977, 0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758,
                                                1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234};

TEST(CqiTable, EfficienciesAreThoseOfTheStandards) {
  for (int cqi = 1; cqi <= 15; ++cqi) {
    const auto row = static_cast<std::size_t>(cqi - 1);
    EXPECT_NEAR(spectral_efficiency(CqiTable::qam64, cqi), efficiency_64[row], 6e-5) << cqi;
    EXPECT_NEAR(spectral_efficiency(CqiTable::qam256, cqi), efficiency_256[row], 6e-5) << cqi;
    EXPECT_NEAR(spectral_efficiency(CqiTable::qam64_low, cqi), efficiency_low[row], 6e-5) << cqi;
  }
  EXPECT_THROW(static_cast<void>(spectral_efficiency(CqiTable::qam64, 0)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(spectral_efficiency(CqiTable::qam64, 16)), std::out_of_range);
}

TEST(CqiTable, ACqiIsReportedFromItsThresholdOn) {
  for (const CqiTable table : {CqiTable::qam64, CqiTable::qam256, CqiTable::qam64_low}) {
    for (int cqi = 1; cqi <= 15; ++cqi) {
      const double threshold = link::threshold_db(table, cqi);
      EXPECT_EQ(link::table_cqi_of(table, threshold + 1e-9), cqi);
      EXPECT_EQ(link::table_cqi_of(table, threshold - 1e-9), cqi - 1);
      EXPECT_NEAR(link::table_error_rate(table, threshold, cqi), 0.1, 1e-12);
    }
  }
}

// SNRs at a block error rate of 0.1, of the Vienna LTE link level simulator.
constexpr std::array<double, 15> published_db{-6.934, -5.147, -3.18, -1.254, 0.761, 2.70,  4.697, 6.528,
                                              8.576,  10.37,  12.3,  14.18,  15.89, 17.82, 19.83};

TEST(CqiTable, ThresholdsAreThePublishedOnes) {
  for (int cqi = 1; cqi <= 15; ++cqi)
    EXPECT_EQ(link::threshold_db(CqiTable::qam64, cqi), published_db[static_cast<std::size_t>(cqi - 1)]) << cqi;
  EXPECT_THROW(static_cast<void>(link::threshold_db(CqiTable::qam64, 0)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(link::threshold_db(CqiTable::qam64, 16)), std::out_of_range);
}

TEST(CqiTable, EqualEfficienciesHaveEqualThresholdsInAllTables) {
  for (const CqiTable table : {CqiTable::qam256, CqiTable::qam64_low}) {
    int shared = 0;
    for (int cqi = 1; cqi <= 15; ++cqi) {
      for (int other = 1; other <= 15; ++other) {
        if (spectral_efficiency(table, cqi) != spectral_efficiency(CqiTable::qam64, other)) continue;
        EXPECT_EQ(link::threshold_db(table, cqi), link::threshold_db(CqiTable::qam64, other)) << cqi;
        ++shared;
      }
      if (cqi > 1) {
        EXPECT_GT(link::threshold_db(table, cqi), link::threshold_db(table, cqi - 1) + 1) << cqi;
        EXPECT_LT(link::threshold_db(table, cqi), link::threshold_db(table, cqi - 1) + 4.2) << cqi;
      }
    }
    EXPECT_EQ(shared, table == CqiTable::qam256 ? 12 : 13);
  }
}

TEST(OuterLoop, CountsAnOutcomeOneRttLater) {
  constexpr double step = link::OuterLoop::step_db;
  link::OuterLoop loop(0.2);
  loop.begin_tti();
  loop.sent(false, true, true);
  for (int i = 0; i < 7; ++i) loop.begin_tti();
  EXPECT_EQ(loop.offset_db(), 0);
  loop.begin_tti();
  EXPECT_DOUBLE_EQ(loop.offset_db(), -step);
  loop.sent(true, true, true);
  for (int i = 0; i < 8; ++i) loop.begin_tti();
  EXPECT_DOUBLE_EQ(loop.offset_db(), -step + step * 0.2 / 0.8);
  for (int i = 0; i < 100; ++i) loop.begin_tti();
  EXPECT_DOUBLE_EQ(loop.offset_db(), -step * 0.75) << "a TTI without a block changes nothing";
}

TEST(OuterLoop, StaysBoundedIfItsOffsetHasNoEffect) {
  link::OuterLoop loop(0.1);
  for (int i = 0; i < 1000; ++i) {
    loop.begin_tti();
    loop.sent(i % 2 == 0, false, false);
  }
  EXPECT_EQ(loop.offset_db(), 0);
}

TEST(OuterLoop, RefusesTargetsOutOfRange) {
  for (const double target : {0.0, 0.0009, 0.51, 1.0, -0.1, std::nan("")})
    EXPECT_THROW(link::OuterLoop{target}, std::invalid_argument) << target;
  for (const double target : {0.001, 0.5}) EXPECT_NO_THROW(link::OuterLoop{target}) << target;
}

double first_error_rate(const OfdmaParameters& parameters, std::uint64_t seed) {
  OfdmaChannel channel(parameters, milliseconds(1), Random(seed));
  double sent = 0;
  double lost = 0;
  for (std::uint64_t tti = 0; tti < 100'000; ++tti) {
    const LinkGrant& grant = channel.at(tti);
    if (tti < 2000 || grant.cqi == 0) continue;
    ++sent;
    lost += grant.received ? 0 : 1;
  }
  return lost / sent;
}

TEST(Ofdma, AnOuterLoopKeepsTheErrorRateAtEverySpeed) {
  for (const double speed : {0.5, 3.0, 30.0, 120.0, 350.0}) {
    for (const MultipathProfile profile : {MultipathProfile::flat, MultipathProfile::pedestrian_b}) {
      for (const CqiTable table : {CqiTable::qam64, CqiTable::qam256}) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          OfdmaParameters parameters{.mean_snr_db = 12, .speed_kmh = speed, .table = table, .profile = profile};
          parameters.target_bler = 0.1;
          EXPECT_NEAR(first_error_rate(parameters, seed), 0.1, 0.02)
              << speed << " km/h, profile " << static_cast<int>(profile) << ", seed " << seed;
        }
      }
    }
  }
  for (const double target : {0.01, 0.3}) {
    EXPECT_NEAR(first_error_rate({.speed_kmh = 30, .target_bler = target}, 4), target, 0.02) << target;
  }
  EXPECT_GT(first_error_rate({.speed_kmh = 30}, 1), 0.25) << "CQIs that are 6 ms old lose far more without";
}

// Beyond both ends of the table the target cannot be met, and the loop is ready when the link comes back.
TEST(Ofdma, AnOuterLoopStopsBeyondTheTable) {
  EXPECT_LT(first_error_rate({.mean_snr_db = 60, .fading = false, .target_bler = 0.1}, 1), 0.001);
  OfdmaChannel far({.mean_snr_db = -30, .fading = false, .target_bler = 0.1}, milliseconds(1), Random(1));
  for (std::uint64_t tti = 0; tti < 1000; ++tti) ASSERT_EQ(far.at(tti).cqi, 0);
  const OfdmaParameters shadowed{.mean_snr_db = 18, .speed_kmh = 30, .shadowing_db = 12, .target_bler = 0.1};
  EXPECT_LT(first_error_rate(shadowed, 1), 0.12);
}

TEST(Ofdma, CapacityIsResourceElementsTimesEfficiency) {
  OfdmaParameters still{.mean_snr_db = 30, .fading = false};
  OfdmaChannel lte(still, milliseconds(1), Random(1));
  EXPECT_EQ(lte.at(0).cqi, 15);
  EXPECT_EQ(lte.at(0).capacity, Bytes(8748));  // 100 · 168 · 0.75 · 5.5547 / 8
  still.table = CqiTable::qam256;
  still.overhead = 0.14;
  still.resource_blocks = 273;
  OfdmaChannel nr(still, std::chrono::microseconds(500), Random(1));
  EXPECT_EQ(nr.at(0).capacity, Bytes(36'515));  // 584 Mb/s
  still.mean_snr_db = -12;
  OfdmaChannel far(still, milliseconds(1), Random(1));
  EXPECT_EQ(far.at(0).cqi, 0);
  EXPECT_EQ(far.at(0).capacity, Bytes(0));
}

TEST(Ofdma, BlocksAreLostWithTheRateOfTheCurveAtEveryCqi) {
  for (int cqi = 1; cqi <= 15; ++cqi) {
    OfdmaParameters still{.fading = false};
    still.mean_snr_db = link::threshold_db(CqiTable::qam64, cqi) + 0.01;
    OfdmaChannel channel(still, milliseconds(1), Random(3));
    const double expected = link::table_error_rate(CqiTable::qam64, still.mean_snr_db, cqi);
    int lost = 0;
    constexpr int n = 50'000;
    for (std::uint64_t tti = 0; tti < n; ++tti) lost += channel.at(tti).received ? 0 : 1;
    EXPECT_NEAR(lost / static_cast<double>(n) / expected, 1, 0.1) << "CQI " << cqi;
  }
}

TEST(Ofdma, TheCqiIsSixTtisOld) {
  OfdmaChannel channel({.speed_kmh = 60}, milliseconds(1), Random(2));
  std::vector<double> snr;
  for (std::uint64_t tti = 0; tti < 1000; ++tti) {
    channel.at(tti);
    snr.push_back(channel.quality().present_db);
    if (tti >= 6) {
      ASSERT_EQ(channel.quality().reported_db, snr[tti - 6]) << tti;
    }
  }
}

TEST(Multipath, EchoesKeepTheMeanAndNarrowTheSwing) {
  struct Case {
    MultipathProfile profile;
    double squares;  // of the taps' shares: the variance of the sum of independent exponentials
  };
  for (const Case& c : {Case{MultipathProfile::flat, 1}, Case{MultipathProfile::pedestrian_a, 0.800},
                        Case{MultipathProfile::pedestrian_b, 0.299}, Case{MultipathProfile::vehicular_a, 0.390}}) {
    Multipath fading(c.profile, 55.6, milliseconds(1), Random(7));
    double sum = 0;
    double squares = 0;
    constexpr int n = 400'000;
    for (std::uint64_t i = 0; i < n; ++i) {
      const double power = fading.power(i);
      sum += power;
      squares += power * power;
    }
    const double mean = sum / n;
    EXPECT_NEAR(mean, 1, 0.02);
    EXPECT_NEAR((squares / n - mean * mean) / c.squares, 1, 0.06) << static_cast<int>(c.profile);
  }
}

TEST(Ofdma, RefusesWhatIsOutOfRange) {
  EXPECT_THROW(OfdmaChannel({.mean_snr_db = 70}, milliseconds(1), Random(1)), std::invalid_argument);
  EXPECT_THROW(OfdmaChannel({.overhead = 1}, milliseconds(1), Random(1)), std::invalid_argument);
  EXPECT_THROW(OfdmaChannel({.target_bler = 0}, milliseconds(1), Random(1)), std::invalid_argument);
  EXPECT_THROW(OfdmaChannel({.block_errors = false, .target_bler = 0.1}, milliseconds(1), Random(1)),
               std::invalid_argument);
  EXPECT_THROW(OfdmaChannel({.resource_blocks = 0}, milliseconds(1), Random(1)), std::invalid_argument);
}

TEST(OfdmaChannel, ReportsOfTheChannelAreAtMost15TtisOld) {
  for (const int delay : {0, 15}) {
    EXPECT_NO_THROW((OfdmaChannel({.cqi_delay = delay}, milliseconds(1), Random(1)))) << delay;
  }
  for (const int delay : {-1, 16}) {
    EXPECT_THROW((OfdmaChannel({.cqi_delay = delay}, milliseconds(1), Random(1))), std::invalid_argument) << delay;
  }
}

}  // namespace
}  // namespace sluice::emulator
