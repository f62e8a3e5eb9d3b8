// Tests of the digest of delays: percentiles within a thousandth, and merging.
#include "emulator/report/delay_digest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace sluice::emulator {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(DelayDigest, AnEmptyDigestHasNoValues) {
  const DelayDigest digest;
  EXPECT_EQ(digest.count(), 0U);
  EXPECT_EQ(digest.percentile(0.5), Duration::zero());
  EXPECT_EQ(digest.mean(), Duration::zero());
}

TEST(DelayDigest, SmallDelaysAreExactToTheMicrosecond) {
  DelayDigest digest;
  for (int i = 1; i <= 100; ++i) digest.add(microseconds(i));
  EXPECT_EQ(digest.percentile(0.01), microseconds(1));
  EXPECT_EQ(digest.percentile(0.50), microseconds(50));
  EXPECT_EQ(digest.percentile(0.95), microseconds(95));
  EXPECT_EQ(digest.percentile(1.0), microseconds(100));
  EXPECT_EQ(digest.mean(), Duration(50'500));
}

TEST(DelayDigest, PercentilesStayWithinAThousandthOfTheExactOnes) {
  std::mt19937_64 generator(7);
  std::lognormal_distribution<double> distribution(10, 2);  // microseconds; spans six decades
  DelayDigest digest;
  std::vector<double> exact;
  for (int i = 0; i < 200'000; ++i) {
    const double delay = distribution(generator);
    exact.push_back(delay);
    digest.add(Duration(static_cast<std::int64_t>(delay * 1000)));
  }
  std::sort(exact.begin(), exact.end());
  for (const double fraction : {0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999}) {
    const double truth = exact[static_cast<std::size_t>(fraction * static_cast<double>(exact.size())) - 1];
    const double measured = to_seconds(digest.percentile(fraction)) * 1e6;
    EXPECT_NEAR(measured, truth, truth * 0.001 + 1) << "at " << fraction;
  }
}

TEST(DelayDigest, ValuesOutOfRangeAreCountedAtTheEnds) {
  DelayDigest digest;
  digest.add(-milliseconds(5));
  EXPECT_EQ(digest.percentile(1.0), Duration::zero());
  digest.add(std::chrono::hours(100));
  EXPECT_EQ(digest.count(), 2U);
  EXPECT_EQ(digest.max(), std::chrono::hours(100));
  EXPECT_GE(digest.percentile(1.0), std::chrono::minutes(70));
}

TEST(DelayDigest, TwoMergedDigestsEqualOne) {
  DelayDigest first;
  DelayDigest second;
  DelayDigest both;
  for (int i = 0; i < 1000; ++i) {
    const Duration delay = microseconds(i * i * 37);
    (i % 3 == 0 ? first : second).add(delay);
    both.add(delay);
  }
  first.merge(second);
  EXPECT_EQ(first.count(), both.count());
  EXPECT_EQ(first.mean(), both.mean());
  for (const double fraction : {0.1, 0.5, 0.99}) EXPECT_EQ(first.percentile(fraction), both.percentile(fraction));
}

TEST(DelayDigest, MergingWithNothingChangesNothing) {
  DelayDigest digest;
  digest.merge(DelayDigest());
  EXPECT_EQ(digest.percentile(1.0), Duration::zero());
  DelayDigest one;
  one.add(milliseconds(1));
  digest.merge(one);
  digest.merge(DelayDigest());
  digest.add(milliseconds(2));
  EXPECT_EQ(digest.count(), 2U);
  EXPECT_EQ(digest.percentile(0.5), milliseconds(1));
  EXPECT_EQ(digest.percentile(1.0), milliseconds(2));
}

}  // namespace
}  // namespace sluice::emulator
