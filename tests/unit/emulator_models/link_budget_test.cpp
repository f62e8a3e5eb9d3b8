#include "emulator/channel/link_budget.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "emulator/random.hpp"

namespace sluice::emulator {
namespace {

/// From a cell without interference of its own to one that has little else, from a good place to a hopeless one.
std::vector<LinkBudget> budgets() {
  std::vector<LinkBudget> all;
  for (const double mean_gain : {1e-5, 1e-10, 1e-15}) {
    for (const double intra_cell_mw : {0.0, 1e3, 1e6})
      all.push_back({.mean_gain = mean_gain, .power_mw = 6.3e3, .intra_cell_mw = intra_cell_mw, .inter_cell_mw = 1e-7});
  }
  return all;
}

/// Returns the largest error of the fast calculation, in dB.
double worst(const LinkBudget& budget, const FadingStretch& shadowing_db, const FadingStretch& fading) {
  const FadingStretch about = budget.snr_about(shadowing_db, fading);
  double most = 0;
  for (std::size_t i = 0; i < about.size(); ++i) {
    most = std::fmax(most, std::abs(about[i] - budget.snr_db(shadowing_db[i], fading[i])));
  }
  return most;
}

TEST(LinkBudget, EqualsTheSnrOfTheFormula) {
  const LinkBudget budget{.mean_gain = 1e-10, .power_mw = 6.3e3, .intra_cell_mw = 1e3, .inter_cell_mw = 1e-7};
  // 3 dB of shadowing and half the power: about 6 dB less of what is received, own interference included.
  const double gain = 1e-10 * std::pow(10, -0.3) * 0.5;
  EXPECT_NEAR(budget.snr_db(3, 0.5), 10 * std::log10(6.3e3 * gain / (1e3 * gain + 1e-7)), 1e-12);
  EXPECT_EQ(budget.snr_db(0, 0), budget.snr_db(0, min_fading_power));
}

TEST(LinkBudget, TheFastApproximationIsWithinItsTolerance) {
  Random random(1);
  double most = 0;
  for (const LinkBudget& budget : budgets()) {
    for (int round = 0; round < 5000; ++round) {
      FadingStretch shadowing_db;
      FadingStretch fading;
      for (double& db : shadowing_db) db = 20 * random.normal();
      for (double& power : fading) power = random.exponential(1);
      most = std::fmax(most, worst(budget, shadowing_db, fading));
    }
  }
  EXPECT_LT(most, LinkBudget::tolerance_db / 30);
  EXPECT_GT(most, 0) << "nothing was computed";
}

TEST(LinkBudget, TheFastApproximationHoldsInDeepFadesAndAtPowersOfTwo) {
  double most = 0;
  for (const LinkBudget& budget : budgets()) {
    for (int exponent = -45; exponent <= 10; ++exponent) {
      FadingStretch shadowing_db{};
      FadingStretch fading;
      for (std::size_t i = 0; i < fading.size(); ++i) {
        shadowing_db[i] = 12.5 * (static_cast<double>(i) - 8);
        fading[i] = std::ldexp(1, exponent) * (1 + (static_cast<double>(i) - 8) * 0x1p-50);
      }
      most = std::fmax(most, worst(budget, shadowing_db, fading));
      fading.fill(0);
      most = std::fmax(most, worst(budget, shadowing_db, fading));
    }
  }
  EXPECT_LT(most, LinkBudget::tolerance_db / 30);
}

}  // namespace
}  // namespace sluice::emulator
