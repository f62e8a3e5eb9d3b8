#include "emulator/channel/hsdpa.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "emulator/link/cqi.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;

HsdpaParameters still_at(double metres) {
  HsdpaParameters parameters;
  parameters.distance_m = metres;
  parameters.fading = false;
  parameters.shadowing_db = 0;
  return parameters;
}

struct Place {
  double metres;
  double snr_db;
  int cqi;
};

// The distances of the SMVS paper's UE1 to UE4.
TEST(Hsdpa, SnrWithoutFadingIsThatOfTheDistance) {
  for (const Place& place : {Place{100, 7.9, 24}, {300, 3.9, 20}, {500, -2.2, 14}, {700, -7.1, 9}}) {
    HsdpaChannel channel(still_at(place.metres), milliseconds(2), Random(1));
    const Grant& grant = channel.at(0);
    EXPECT_NEAR(grant.snr_db, place.snr_db, 0.05) << place.metres;
    EXPECT_EQ(grant.cqi, place.cqi) << place.metres;
    EXPECT_EQ(grant.quality_db, grant.snr_db);
  }
}

TEST(Hsdpa, CapacityIsWholePdusOfTheTransportBlock) {
  HsdpaParameters parameters = still_at(100);  // CQI 24
  HsdpaChannel ten(parameters, milliseconds(2), Random(1));
  EXPECT_EQ(ten.at(0).capacity, Bytes(40 * 35));  // floor((11418 − 21)/320)
  parameters.category = 6;
  HsdpaChannel six(parameters, milliseconds(2), Random(1));
  EXPECT_EQ(six.at(0).capacity, Bytes(40 * 22));  // floor((7168 − 21)/320)
}

TEST(Hsdpa, TheCqiIsThreeTtisOld) {
  HsdpaParameters parameters;
  parameters.speed_kmh = 120;
  HsdpaChannel channel(parameters, milliseconds(2), Random(2));
  std::vector<double> snr;
  bool varied = false;
  for (std::uint64_t tti = 0; tti < 1000; ++tti) {
    const Grant& grant = channel.at(tti);
    snr.push_back(grant.snr_db);
    if (tti < 3) continue;
    ASSERT_EQ(grant.quality_db, snr[tti - 3]) << tti;
    ASSERT_EQ(grant.cqi, link::cqi_of(snr[tti - 3])) << tti;
    varied = varied || std::abs(grant.snr_db - grant.quality_db) > 3;
  }
  EXPECT_TRUE(varied);
}

TEST(Hsdpa, BlocksAreLostAsOftenAsTheFormulaSays) {
  for (const double metres : {100.0, 300.0, 500.0, 700.0}) {
    HsdpaChannel channel(still_at(metres), milliseconds(2), Random(3));
    const double expected = link::block_error_rate(channel.at(0).snr_db, channel.at(0).cqi);
    int lost = 0;
    constexpr int n = 400'000;
    for (std::uint64_t tti = 0; tti < n; ++tti) lost += channel.at(tti).received ? 0 : 1;
    EXPECT_NEAR(lost / static_cast<double>(n) / expected, 1, 0.1) << metres << " expected " << expected;
  }
}

TEST(Hsdpa, WithoutBlockErrorsEverythingIsReceived) {
  HsdpaParameters parameters;
  parameters.speed_kmh = 120;
  parameters.block_errors = false;
  HsdpaChannel channel(parameters, milliseconds(2), Random(3));
  for (std::uint64_t tti = 0; tti < 10'000; ++tti) ASSERT_TRUE(channel.at(tti).received);
}

TEST(Hsdpa, IsAFunctionOfSeedAndTti) {
  const HsdpaParameters parameters;
  HsdpaChannel every(parameters, milliseconds(2), Random(4));
  HsdpaChannel some(parameters, milliseconds(2), Random(4));
  HsdpaChannel other(parameters, milliseconds(2), Random(5));
  int differences = 0;
  for (std::uint64_t tti = 0; tti < 5000; ++tti) {
    const Grant now = every.at(tti);
    if (tti % 117 != 3) continue;
    ASSERT_EQ(some.at(tti).snr_db, now.snr_db) << tti;
    ASSERT_EQ(some.at(tti).received, now.received) << tti;
    differences += other.at(tti).snr_db != now.snr_db ? 1 : 0;
  }
  EXPECT_EQ(some.offered_through(4999), every.offered_through(4999));
  EXPECT_GT(differences, 40);
}

TEST(Hsdpa, ShadowingIsCorrelatedOverDistance) {
  // 30 km/h, 100 ms steps: 0.833 m a step, e^(−0.833/40) between neighbours, e^−1 over 48 steps.
  Shadowing shadowing(30 / 3.6, milliseconds(100), 8, 40, Random(6));
  std::vector<double> values;
  for (int i = 0; i < 1'000'000; ++i, shadowing.step()) values.push_back(shadowing.db());
  double mean = 0;
  double square = 0;
  double lagged = 0;
  for (std::size_t i = 48; i < values.size(); ++i) {
    mean += values[i];
    square += values[i] * values[i];
    lagged += values[i] * values[i - 48];
  }
  const auto n = static_cast<double>(values.size() - 48);
  EXPECT_NEAR(mean / n, 0, 0.25);
  EXPECT_NEAR(std::sqrt(square / n), 8, 0.2);
  EXPECT_NEAR(lagged / square, std::exp(-1.0), 0.03);
}

TEST(Hsdpa, RefusesWhatIsOutOfRange) {
  const auto refused = [](auto change) {
    HsdpaParameters parameters;
    change(parameters);
    EXPECT_THROW(HsdpaChannel(parameters, milliseconds(2), Random(1)), std::invalid_argument);
  };
  refused([](HsdpaParameters& p) { p.distance_m = 0; });
  refused([](HsdpaParameters& p) { p.distance_m = std::numeric_limits<double>::quiet_NaN(); });
  refused([](HsdpaParameters& p) { p.speed_kmh = -1; });
  refused([](HsdpaParameters& p) { p.category = 11; });
  refused([](HsdpaParameters& p) { p.shadowing_db = 21; });
  refused([](HsdpaParameters& p) { p.shadowing_distance_m = 0; });
  refused([](HsdpaParameters& p) { p.inter_cell_dbm = std::numeric_limits<double>::infinity(); });
  refused([](HsdpaParameters& p) { p.cqi_delay = 16; });
}

}  // namespace
}  // namespace sluice::emulator
