// Simulations of the fading process, compared with the theory of Rayleigh fading.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <vector>

#include "emulator/channel/fading.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {
namespace {

using Gains = std::vector<std::complex<double>>;

// What Rayleigh fading with Jakes' spectrum must look like, measured on one realisation over 10 000 Doppler periods, at
// walking, town and motorway speed.
class FadingStatistics : public testing::TestWithParam<double> {
 protected:
  static constexpr std::uint64_t seed = 1;
  /// Samples per Doppler period: enough to see every crossing of a level.
  static constexpr double resolution = 200;
  static constexpr double periods = 10'000;

  [[nodiscard]] double doppler() const { return doppler_hz(GetParam()); }
  [[nodiscard]] Duration interval() const { return from_seconds(1 / (doppler() * resolution)); }
  /// Measures every `every`-th sample.
  [[nodiscard]] Gains measure(std::uint64_t ue, std::uint64_t every = 1, double length = periods) const {
    const Random random = Random::stream(seed, "speed", static_cast<std::uint64_t>(GetParam())).split("ue", ue);
    Fading fading(doppler(), interval() * static_cast<Duration::rep>(every), random);
    Gains result(static_cast<std::size_t>(length * resolution) / every);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = fading.gain(i);
    return result;
  }
  /// Those of one UE, measured once for all tests.
  [[nodiscard]] const Gains& gains() const {
    static std::map<double, Gains> all;
    Gains& h = all[GetParam()];
    if (h.empty()) h = measure(0);
    return h;
  }
};

TEST_P(FadingStatistics, MeanPowerIsOne) {
  double sum = 0;
  const Gains& h = gains();
  for (const auto& gain : h) sum += std::norm(gain);
  EXPECT_NEAR(sum / static_cast<double>(h.size()), 1, 0.01) << "seed " << seed;
}

TEST_P(FadingStatistics, PowerIsExponentiallyDistributed) {
  std::vector<double> powers;
  for (const auto& gain : gains()) powers.push_back(std::norm(gain));
  std::sort(powers.begin(), powers.end());
  double distance = 0;  // Kolmogorov and Smirnov's
  const auto n = static_cast<double>(powers.size());
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const double expected = 1 - std::exp(-powers[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, std::abs(expected - rank / n), std::abs(expected - (rank + 1) / n)});
  }
  EXPECT_LT(distance, 0.01) << "seed " << seed;
}

TEST_P(FadingStatistics, AutocorrelationIsTheBesselFunction) {
  const Gains h = measure(0, 10);  // 20 samples per period
  double squares = 0;
  constexpr std::size_t lags = 40;  // to τ = 2/fd
  for (std::size_t lag = 0; lag <= lags; ++lag) {
    std::complex<double> sum;
    for (std::size_t i = lag; i < h.size(); ++i) sum += h[i] * std::conj(h[i - lag]);
    const std::complex<double> measured = sum / static_cast<double>(h.size() - lag);
    const double tau = to_seconds(interval() * 10) * static_cast<double>(lag);
    const double expected = std::cyl_bessel_j(0, 2 * std::numbers::pi * doppler() * tau);
    squares += std::norm(measured - expected);
  }
  EXPECT_LT(std::sqrt(squares / (lags + 1)), 0.03) << "seed " << seed;
}

TEST_P(FadingStatistics, LevelCrossingRateIsThatOfRice) {
  const Gains& h = gains();
  const double seconds = to_seconds(interval()) * static_cast<double>(h.size());
  for (const double rho : {0.1, 0.3, 0.5, 1.0, 1.5}) {
    int crossings = 0;
    for (std::size_t i = 1; i < h.size(); ++i) {
      crossings += std::abs(h[i - 1]) < rho && std::abs(h[i]) >= rho ? 1 : 0;
    }
    const double expected = std::sqrt(2 * std::numbers::pi) * doppler() * rho * std::exp(-rho * rho);
    EXPECT_NEAR(crossings / seconds / expected, 1, 0.05) << "ρ " << rho << " seed " << seed;
  }
}

TEST_P(FadingStatistics, UesFadeIndependently) {
  constexpr std::size_t ues = 6;
  // Longer: two of the sinusoids may beat slowly.
  std::vector<Gains> h;
  for (std::size_t ue = 0; ue < ues; ++ue) h.push_back(measure(ue, 40, 10 * periods));
  for (std::size_t a = 0; a < ues; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      std::complex<double> gain;
      double power = 0;
      for (std::size_t i = 0; i < h[a].size(); ++i) {
        gain += h[a][i] * std::conj(h[b][i]);
        power += (std::norm(h[a][i]) - 1) * (std::norm(h[b][i]) - 1);
      }
      const auto n = static_cast<double>(h[a].size());
      EXPECT_LT(std::abs(gain) / n, 0.02) << a << " and " << b << " seed " << seed;
      EXPECT_LT(std::abs(power) / n, 0.02) << a << " and " << b << " seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Speeds, FadingStatistics, testing::Values(3.0, 30.0, 120.0),
                         [](const auto& speed) { return "Kmh" + std::to_string(static_cast<int>(speed.param)); });

TEST(Fading, DependsOnlyOnTheStep) {
  Fading every(50, std::chrono::milliseconds(2), Random(1));
  Fading some(50, std::chrono::milliseconds(2), Random(1));
  std::vector<std::complex<double>> h;
  for (std::uint64_t i = 0; i < 5000; ++i) h.push_back(every.gain(i));
  for (const std::uint64_t i : {4999U, 0U, 1023U, 1024U, 1025U, 77U, 78U, 3000U}) EXPECT_EQ(some.gain(i), h[i]) << i;
}

TEST(Fading, IsConstantWithoutMovement) {
  Fading still(0, std::chrono::milliseconds(2), Random(1));
  EXPECT_NEAR(still.power(0), still.power(1'000'000), 1e-9);
}

}  // namespace
}  // namespace sluice::emulator
