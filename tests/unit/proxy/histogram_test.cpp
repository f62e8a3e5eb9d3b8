#include "proxy/engine/base/histogram.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using proxy::Histogram;

TEST(Histogram, EveryValueHasOneBucketAndBucketsTouch) {
  EXPECT_EQ(Histogram::bucket_of(0), 0U);
  EXPECT_EQ(Histogram::bucket_of(UINT32_MAX), Histogram::bucket_count - 1);
  EXPECT_EQ(Histogram::last_of(Histogram::bucket_count - 1), UINT32_MAX);
  for (std::size_t i = 0; i + 1 < Histogram::bucket_count; ++i) {
    const std::uint32_t last = Histogram::last_of(i);
    EXPECT_EQ(Histogram::bucket_of(last), i);
    EXPECT_EQ(Histogram::bucket_of(last + 1), i + 1);
  }
}

TEST(Histogram, PercentilesAreRightToOnePartInEight) {
  Histogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), 0U);
  for (std::uint32_t value = 1; value <= 10'000; ++value) histogram.record(value);
  for (const double share : {0.01, 0.5, 0.9, 0.99}) {
    EXPECT_GE(histogram.percentile(share), share * 10'000);
    EXPECT_LE(histogram.percentile(share), share * 10'000 * 1.125 + 1);
  }
  EXPECT_EQ(histogram.percentile(1), 10'000U);
  EXPECT_EQ(histogram.largest(), 10'000U);
}

TEST(Histogram, SumsAreThoseOfAllTheirValues) {
  Histogram one;
  Histogram two;
  one.record(5);
  two.record(5);
  two.record(1 << 20);
  one += two;
  EXPECT_EQ(one.count(), 3U);
  EXPECT_EQ(one.at(Histogram::bucket_of(5)), 2U);
  EXPECT_EQ(one.largest(), 1U << 20U);
}

}  // namespace
}  // namespace sluice::test
