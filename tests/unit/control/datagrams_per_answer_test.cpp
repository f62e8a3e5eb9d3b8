// Tests of the number of datagrams per answer: whole numbers, means of receivers that read several datagrams at once,
// and numbers that show nothing.

#include "control/ack_based/datagrams_per_answer.hpp"

#include <gtest/gtest.h>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

TEST(DatagramsPerAnswer, TwoRatiosNearAWholeNumberShowIt) {
  DatagramsPerAnswer number;
  number.add(97, 50, 2ms);
  EXPECT_FALSE(number.is_known());
  EXPECT_EQ(number.value(), 2);
  number.add(198, 100, 2ms);
  EXPECT_TRUE(number.is_known());
  EXPECT_TRUE(number.is_whole());
  EXPECT_EQ(number.value(), 2);
}

TEST(DatagramsPerAnswer, UnexpectedAnswersDoNotChangeAWholeNumber) {
  DatagramsPerAnswer number;
  for (int i = 0; i < 2; ++i) number.add(400, 100, 2ms);
  ASSERT_EQ(number.value(), 4);
  for (int i = 0; i < 5; ++i) number.add(350, 100, 2ms);
  EXPECT_EQ(number.value(), 4);
  EXPECT_FALSE(number.exceeds_whole());
}

TEST(DatagramsPerAnswer, TwoLargerRatiosReplaceAWholeNumberForSomeTime) {
  DatagramsPerAnswer number;
  for (int i = 0; i < 2; ++i) number.add(200, 100, 2ms);
  number.add(230, 100, 2ms);
  EXPECT_EQ(number.value(), 2);
  number.add(240, 100, 2ms);
  EXPECT_DOUBLE_EQ(number.value(), 2.4);
  EXPECT_TRUE(number.exceeds_whole());
  for (int i = 0; i < 20; ++i) number.add(200, 100, 2ms);
  EXPECT_EQ(number.value(), 2);
}

TEST(DatagramsPerAnswer, SteadyRatiosBetweenWholeNumbersGiveAMean) {
  DatagramsPerAnswer number;
  for (int i = 0; i < 3; ++i) number.add(250, 100, 2ms);
  EXPECT_TRUE(number.is_known());
  EXPECT_FALSE(number.is_whole());
  EXPECT_NEAR(number.value(), 2.55, 0.01) << "a number that is too small leaves the link idle";
}

TEST(DatagramsPerAnswer, AMeanThatVariesIsDiscarded) {
  DatagramsPerAnswer number;
  for (int i = 0; i < 3; ++i) number.add(250, 100, 2ms);
  ASSERT_TRUE(number.is_known());
  number.add(500, 100, 2ms);
  EXPECT_FALSE(number.is_known());
}

TEST(DatagramsPerAnswer, RatiosThatDifferShowNothing) {
  DatagramsPerAnswer number;
  for (const double datagrams : {150.0, 370.0, 230.0, 640.0, 275.0}) number.add(datagrams, 100, 2ms);
  EXPECT_FALSE(number.is_known());
}

TEST(DatagramsPerAnswer, ManyDatagramsPerAnswerMayBeThoseOfATimer) {
  DatagramsPerAnswer number;
  for (int i = 0; i < 4; ++i) number.add(500, 100, 25ms);
  EXPECT_FALSE(number.is_known());
}

TEST(DatagramsPerAnswer, AChangedReceiverIsLearnedAgain) {
  DatagramsPerAnswer number;
  for (int i = 0; i < 2; ++i) number.add(200, 100, 2ms);
  number.restart();
  EXPECT_FALSE(number.is_known());
  for (int i = 0; i < 2; ++i) number.add(1000, 100, 2ms);
  EXPECT_EQ(number.value(), 10);
}

}  // namespace
}  // namespace sluice::control
