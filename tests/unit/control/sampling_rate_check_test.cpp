// Tests of the check that SMVS samples a link often enough: variations within a step violate the rule.
#include "control/smvs/sampling_rate_check.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::control {
namespace {

/// A link whose rate is drawn again every `holds` steps and is sampled once in each step.
struct DrawnLink {
  std::mt19937_64 random;
  double holds;
  double least = 2e5;  ///< bytes/s
  double most = 2e6;
  double rate = 1e6;
  double left = 0;  ///< time that the rate still holds, in steps

  Rate step() {
    double bytes = 0;
    for (double gone = 0; gone < 1;) {
      if (left <= 1e-9) {
        rate = std::uniform_real_distribution<>(least, most)(random);
        left = holds;
      }
      const double part = std::min(left, 1 - gone);
      bytes += part * rate;
      gone += part;
      left -= part;
      if (part <= 1e-9) break;
    }
    return Rate::bytes_per_second(bytes);
  }
};

int times_broken(DrawnLink link, int steps, SamplingRateCheck& check) {
  int times = 0;
  for (int i = 0; i < steps; ++i) times += check.look(link.step(), true) ? 1 : 0;
  return times;
}

TEST(SamplingRateCheck, ALinkThatHoldsItsRateObeysTheRule) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const double holds : {3.0, 3.7, 4.0, 10.0, 40.0}) {
      SamplingRateCheck check;
      EXPECT_EQ(times_broken({std::mt19937_64(seed), holds}, 2000, check), 0) << "seed " << seed << " Tb " << holds;
    }
  }
}

TEST(SamplingRateCheck, ALinkThatChangesWithinAStepViolatesTheRule) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const double holds : {0.3, 0.5, 0.7, 1.0}) {
      SamplingRateCheck check;
      EXPECT_EQ(times_broken({std::mt19937_64(seed), holds}, 2000, check), 1) << "seed " << seed << " Tb " << holds;
      EXPECT_TRUE(check.broken());
    }
  }
}

TEST(SamplingRateCheck, ALinkThatHardlyVariesObeysTheRule) {
  SamplingRateCheck check;
  EXPECT_EQ(times_broken({std::mt19937_64(1), 0.5, 9e5, 1.1e6}, 2000, check), 0);
  SamplingRateCheck constant;
  for (int i = 0; i < 2000; ++i) EXPECT_FALSE(constant.look(Rate::bytes_per_second(1e6), true));
  SamplingRateCheck silent;
  for (int i = 0; i < 2000; ++i) EXPECT_FALSE(silent.look(Rate(), true));
}

TEST(SamplingRateCheck, StepsWithAnEmptyQueueAreIgnored) {
  SamplingRateCheck check;
  for (int i = 0; i < 4000; ++i) EXPECT_FALSE(check.look(Rate::bytes_per_second(i % 2 == 0 ? 2e6 : 1e5), false));
  DrawnLink link{std::mt19937_64(3), 10.0};
  for (int i = 0; i < 4000; ++i) EXPECT_FALSE(check.look(i % 4 == 3 ? Rate() : link.step(), i % 4 != 3)) << i;
}

TEST(SamplingRateCheck, EachViolationIsReportedOnce) {
  SamplingRateCheck check;
  EXPECT_EQ(times_broken({std::mt19937_64(5), 0.5}, 2000, check), 1);
  EXPECT_EQ(times_broken({std::mt19937_64(6), 20.0}, 2000, check), 0);
  EXPECT_FALSE(check.broken());
  EXPECT_EQ(times_broken({std::mt19937_64(7), 0.5}, 2000, check), 1);
}

}  // namespace
}  // namespace sluice::control
