// Tests of CLAMP's price agent at the queue (equations 12 and 13 of the paper).
#include "control/window_laws/clamp_price.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

/// 10 Mb/s.
const Rate link = Rate::bytes_per_second(1.25e6);

TEST(ClampPrice, TheMeanQueueDecaysExponentially) {
  ClampPriceAgent agent;
  EXPECT_EQ(agent.price(link).mean_queue, 0_B);
  agent.on_arrival(Instant(1s), 10'000_B);
  EXPECT_EQ(agent.price(link).mean_queue, 10'000_B);
  agent.on_arrival(Instant(1500ms), 0_B);
  EXPECT_EQ(agent.price(link).mean_queue, 3679_B) << "10000·e^−1";
  agent.on_arrival(Instant(1510ms), 20'000_B);
  EXPECT_EQ(agent.price(link).mean_queue, 4002_B) << "3678.8·e^−0.02 + 20000·(1 − e^−0.02)";
}

TEST(ClampPrice, IsTheQueueAboveTheTargetInSecondsOfOutput) {
  ClampPriceAgent agent;
  agent.on_arrival(Instant(1s), 6000_B);
  EXPECT_EQ(agent.price(link).price, 400us) << "(6000 − 5500)/1.25e6: eq. 13";
  ClampPriceAgent below;
  below.on_arrival(Instant(1s), 5000_B);
  EXPECT_EQ(below.price(link).price, 0s) << "never negative";
}

TEST(ClampPrice, ATargetInTimeFollowsTheRate) {
  ClampPriceParameters parameters;
  parameters.target = Reference::time(10ms);
  ClampPriceAgent agent(parameters);
  agent.on_arrival(Instant(1s), 15'000_B);
  EXPECT_EQ(agent.price(link).price, 2ms) << "12 ms of queue";
}

TEST(ClampPrice, AnOutageCostsAtMostTheLargestPrice) {
  ClampPriceAgent agent;
  agent.on_arrival(Instant(1s), 100'000_B);
  EXPECT_EQ(agent.price(Rate()).price, 10s);
  EXPECT_EQ(agent.price(Rate::bytes_per_second(1)).price, 10s);
  ClampPriceAgent empty;
  EXPECT_EQ(empty.price(Rate()).price, 0s);
}

TEST(ClampPrice, ArrivalsAtOneInstantChangeNothing) {
  ClampPriceAgent agent;
  agent.on_arrival(Instant(2s), 1000_B);
  agent.on_arrival(Instant(2s), 9000_B);
  agent.on_arrival(Instant(1s), 9000_B);
  EXPECT_EQ(agent.price(link).mean_queue, 1000_B);
}

TEST(ClampPriceRules, ParametersOutOfRangeAndBeyondTheorem1AreRefused) {
  const auto rule = [](const char* name) { return Field(&Violation::rule, name); };
  const auto broken = [](auto change) {
    ClampPriceParameters parameters;
    change(parameters);
    return validate(parameters);
  };
  EXPECT_THAT(validate(ClampPriceParameters{}), IsEmpty());
  EXPECT_THAT(broken([](auto& p) { p.slope = 1.57; }), IsEmpty());
  EXPECT_THAT(broken([](auto& p) { p.slope = 1.58; }), ElementsAre(rule("b < π/2")));
  EXPECT_THAT(broken([](auto& p) { p.slope = 0; }), ElementsAre(rule("b > 0")));
  EXPECT_THAT(broken([](auto& p) { p.slope = std::numeric_limits<double>::quiet_NaN(); }), ElementsAre(rule("b > 0")));
  EXPECT_THAT(broken([](auto& p) { p.forgetting = HUGE_VAL; }), ElementsAre(rule("forgetting > 0")));
  EXPECT_THAT(broken([](auto& p) { p.frame = 0_B; }), ElementsAre(rule("frame > 0")));
  EXPECT_THAT(broken([](auto& p) { p.largest = 0s; }), ElementsAre(rule("largest price > 0")));
  EXPECT_THAT(broken([](auto& p) { p.slope = std::numbers::pi / 2; }), ElementsAre(rule("b < π/2")));
  EXPECT_THAT(broken([](auto& p) { p.forgetting = 0; }), ElementsAre(rule("forgetting > 0")));
  EXPECT_THAT(broken([](auto& p) {
                p.slope = 1e-9;
                p.forgetting = 1e-9;
                p.frame = 1_B;
                p.largest = 1ns;
              }),
              IsEmpty())
      << "the smallest values";
  ClampPriceParameters unstable;
  unstable.slope = 2;
  EXPECT_THROW(ClampPriceAgent{unstable}, std::invalid_argument);
}

}  // namespace
}  // namespace sluice::control
