// Tests of the HSDPA channel against its formulas, TTI by TTI and in its statistics.
#include "emulator/channel/hsdpa.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
TEST(Hsdpa, SnrWithoutFadingFollowsFromTheDistance) {
  for (const Place& place : {Place{100, 7.9, 24}, {300, 3.9, 20}, {500, -2.2, 14}, {700, -7.1, 9}}) {
    HsdpaChannel channel(still_at(place.metres), milliseconds(2), Random(1));
    const LinkGrant& grant = channel.at(0);
    EXPECT_NEAR(channel.quality().present_db, place.snr_db, 0.05) << place.metres;
    EXPECT_EQ(grant.cqi, place.cqi) << place.metres;
    EXPECT_EQ(channel.quality().reported_db, channel.quality().present_db);
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
    const LinkGrant& grant = channel.at(tti);
    const RadioQuality quality = channel.quality();
    snr.push_back(quality.present_db);
    if (tti < 3) continue;
    ASSERT_EQ(quality.reported_db, snr[tti - 3]) << tti;
    ASSERT_EQ(grant.cqi, link::cqi_of(snr[tti - 3])) << tti;
    varied = varied || std::abs(quality.present_db - quality.reported_db) > 3;
  }
  EXPECT_TRUE(varied);
}

/// Computes the same link TTI by TTI with the formulas alone.
class PlainHsdpa {
 public:
  PlainHsdpa(const HsdpaParameters& parameters, const Random& random)
      : parameters_(parameters),
        fading_(parameters.profile, doppler_hz(parameters.speed_kmh), milliseconds(2), random),
        shadowing_(parameters.speed_kmh / 3.6, milliseconds(2), parameters.shadowing_db,
                   parameters.shadowing_distance_m, random.split("shadowing")),
        errors_(random.split("block errors")) {
    for (int i = 0; i < parameters.cqi_delay; ++i) measure();
  }
  /// The next TTI's, and its radio.
  LinkGrant step() {
    measure();
    quality = {snr_[snr_.size() - 1 - static_cast<std::size_t>(parameters_.cqi_delay)], snr_.back()};
    LinkGrant grant;
    const int cqi = link::cqi_of(quality.reported_db);
    grant.cqi = static_cast<std::uint8_t>(cqi);
    grant.capacity = link::pdu_size * link::pdus(link::transport_block_bits(cqi, parameters_.category));
    grant.draw = errors_.uniform();
    const bool at_risk = parameters_.block_errors && cqi > 0;
    if (at_risk) grant.received = grant.draw >= link::block_error_rate(quality.present_db, cqi);
    return grant;
  }
  RadioQuality quality;

 private:
  void measure() {
    double path_loss_db = hsdpa_path_loss_db(parameters_) + shadowing_.db();
    shadowing_.step();
    if (parameters_.fading) path_loss_db -= 10 * std::log10(std::max(fading_.power(snr_.size()), min_fading_power));
    snr_.push_back(hsdpa_snr_db(parameters_, path_loss_db));
  }

  HsdpaParameters parameters_;
  Multipath fading_;
  Shadowing shadowing_;
  Random errors_;
  std::vector<double> snr_;
};

/// A link of every kind: each parameter takes each of its values some time.
HsdpaParameters any(int number) {
  HsdpaParameters parameters;
  parameters.cqi_delay = number % 16;
  parameters.distance_m = 60 + 40.0 * number;
  parameters.speed_kmh = std::array{0.0, 3.0, 30.0, 120.0}[static_cast<std::size_t>(number / 2 % 4)];
  parameters.category = number % 10 + 1;
  parameters.fading = number % 7 != 3;
  parameters.profile = static_cast<MultipathProfile>(number % 4);
  parameters.shadowing_db = number % 5 == 0 ? 0 : 8;
  parameters.block_errors = number % 11 != 4;
  return parameters;
}

TEST(Hsdpa, EqualsTheFormulasTtiByTti) {
  for (int number = 0; number < 48; ++number) {
    HsdpaChannel channel(any(number), milliseconds(2), Random(7));
    PlainHsdpa plain(any(number), Random(7));
    std::uint64_t offered = 0;
    for (std::uint64_t tti = 0; tti < 4000; ++tti) {
      const LinkGrant expected = plain.step();
      const LinkGrant& grant = channel.at(tti);
      ASSERT_EQ(grant.cqi, expected.cqi) << number << ' ' << tti;
      ASSERT_EQ(grant.capacity, expected.capacity) << number << ' ' << tti;
      ASSERT_EQ(grant.draw, expected.draw) << number << ' ' << tti;
      ASSERT_EQ(grant.received, expected.received) << number << ' ' << tti;
      ASSERT_NEAR(channel.quality().reported_db, plain.quality.reported_db, 1e-9) << number << ' ' << tti;
      ASSERT_NEAR(channel.quality().present_db, plain.quality.present_db, 1e-9) << number << ' ' << tti;
      offered += static_cast<std::uint64_t>(expected.carried().count());
      ASSERT_EQ(channel.offered_through(tti), offered);
    }
  }
}

TEST(Hsdpa, BlocksAreLostWithTheRateOfTheFormula) {
  for (const double metres : {100.0, 300.0, 500.0, 700.0}) {
    HsdpaChannel channel(still_at(metres), milliseconds(2), Random(3));
    const LinkGrant& first = channel.at(0);
    const double expected = link::block_error_rate(channel.quality().present_db, first.cqi);
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

TEST(Hsdpa, DependsOnlyOnSeedAndTti) {
  const HsdpaParameters parameters;
  HsdpaChannel every(parameters, milliseconds(2), Random(4));
  HsdpaChannel some(parameters, milliseconds(2), Random(4));
  HsdpaChannel other(parameters, milliseconds(2), Random(5));
  int differences = 0;
  for (std::uint64_t tti = 0; tti < 5000; ++tti) {
    const LinkGrant now = every.at(tti);
    if (tti % 117 != 3) continue;
    ASSERT_EQ(some.at(tti).received, now.received) << tti;
    ASSERT_EQ(some.quality().present_db, every.quality().present_db) << tti;
    other.at(tti);
    differences += other.quality().present_db != every.quality().present_db ? 1 : 0;
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
