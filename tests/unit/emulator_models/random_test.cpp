// Tests of the emulator's random generator against its published algorithm, and of its distributions. Runs must be
// reproducible from their seed.
#include "emulator/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace sluice::emulator {
namespace {

TEST(Random, IsXoshiro256StarStarSeededBySplitmix64) {
  // Values of the published algorithms, written in C, for the seed 1.
  Random random(1);
  EXPECT_EQ(random.next(), 0xb3f2af6d0fc710c5U);
  EXPECT_EQ(random.next(), 0x853b559647364ceaU);
  EXPECT_EQ(random.next(), 0x92f89756082a4514U);
}

TEST(Random, SameSeedsGiveEqualNumbersAndOtherStreamsDiffer) {
  Random a = Random::stream(7, "fading", 3);
  Random b = Random::stream(7, "fading", 3);
  Random other_index = Random::stream(7, "fading", 4);
  Random other_name = Random::stream(7, "errors", 3);
  Random other_seed = Random::stream(8, "fading", 3);
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, b.next());
  const std::set<std::uint64_t> all{first, other_index.next(), other_name.next(), other_seed.next()};
  EXPECT_EQ(all.size(), 4U);
}

TEST(Random, SplittingDoesNotChangeTheGenerator) {
  Random a(5);
  Random b(5);
  Random part = a.split("x");
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(part.next(), a.next());
}

TEST(Random, UniformNumbersFillTheirRange) {
  Random random(2);
  double sum = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const double x = random.uniform(10, 20);
    ASSERT_GE(x, 10);
    ASSERT_LT(x, 20);
    sum += x;
  }
  EXPECT_NEAR(sum / 1e6, 15, 0.02);
}

TEST(Random, IntegersBelowABoundAreUniform) {
  Random random(3);
  int counts[7] = {};
  for (int i = 0; i < 700'000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 100'000, 1500);
}

TEST(Random, NormalsInABatchEqualSingleOnes) {
  Random together(4);
  Random alone(4);
  for (const std::size_t count : {1U, 16U, 0U, 2U, 3U, 7U, 16U, 1U, 0U, 16U}) {
    std::vector<double> normals(count);
    together.normals(normals);
    for (const double normal : normals) ASSERT_EQ(normal, alone.normal()) << count;
    ASSERT_EQ(together.normal(), alone.normal()) << count;
  }
}

TEST(Random, DistributionsHaveTheirMoments) {
  Random random(4);
  constexpr int n = 1'000'000;
  double normal = 0;
  double normal_squared = 0;
  double exponential = 0;
  double pareto = 0;
  int above = 0;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    normal += x;
    normal_squared += x * x;
    exponential += random.exponential(3);
    const double p = random.pareto(2.5, 2);
    ASSERT_GE(p, 2);
    pareto += p;
    above += p > 4 ? 1 : 0;
  }
  EXPECT_NEAR(normal / n, 0, 0.005);
  EXPECT_NEAR(normal_squared / n, 1, 0.01);
  EXPECT_NEAR(exponential / n, 3, 0.02);
  EXPECT_NEAR(pareto / n, 2.5 * 2 / 1.5, 0.03);
  EXPECT_NEAR(static_cast<double>(above) / n, std::pow(0.5, 2.5), 0.002);
}

}  // namespace
}  // namespace sluice::emulator
