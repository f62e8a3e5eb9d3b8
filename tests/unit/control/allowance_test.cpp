#include "control/smvs/allowance.hpp"

#include <gtest/gtest.h>

namespace sluice::control {
namespace {

TEST(Allowance, SpendsNoMoreThanWasGranted) {
  Allowance allowance(1500_B);
  EXPECT_FALSE(allowance.take(1_B));
  allowance.grant(3000_B);
  EXPECT_TRUE(allowance.take(1500_B));
  EXPECT_TRUE(allowance.take(1400_B));
  EXPECT_FALSE(allowance.take(1500_B));
  EXPECT_EQ(allowance.left(), 100_B);
}

TEST(Allowance, SmallGrantsAddUpToAPacket) {
  Allowance allowance(1500_B);
  for (int i = 0; i < 4; ++i) {
    allowance.grant(350_B);
    EXPECT_FALSE(allowance.take(1500_B));
  }
  allowance.grant(350_B);
  EXPECT_TRUE(allowance.take(1500_B));
}

TEST(Allowance, UnusedGrantsDoNotAccumulate) {
  Allowance allowance(1500_B);
  for (int i = 0; i < 100; ++i) allowance.grant(10000_B);
  EXPECT_EQ(allowance.left(), 11500_B);
  allowance.grant(0_B);
  EXPECT_EQ(allowance.left(), 1500_B);
  allowance.grant(-5_B);
  EXPECT_EQ(allowance.left(), 1500_B);
  allowance.clear();
  EXPECT_FALSE(allowance.take(1_B));
}

}  // namespace
}  // namespace sluice::control
