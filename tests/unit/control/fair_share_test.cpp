#include "control/window_laws/fair_share.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

TEST(FairShare, IsTheBufferInWholePacketsDividedByTheFlows) {
  FairShare fair;
  std::array<ActiveFlows::Mark, 60> marks;
  EXPECT_EQ(fair.window(Instant(1s)), 150'000_B) << "nobody to share with";
  const auto with = [&](std::size_t flows) {
    for (std::size_t i = 0; i < flows; ++i) fair.seen(Instant(1s), marks[i]);
    return fair.window(Instant(1s)).count() / 1500;
  };
  EXPECT_EQ(with(1), 100);
  EXPECT_EQ(with(3), 33);
  EXPECT_EQ(with(51), 1);
  EXPECT_EQ(with(60), 1) << "⌊100/60⌋";
}

TEST(FairShare, IsAtLeastOnePacket) {
  FairShareParameters parameters;
  parameters.buffer = 3000_B;
  FairShare fair(parameters);
  std::array<ActiveFlows::Mark, 3> marks;
  for (auto& mark : marks) fair.seen(Instant(1s), mark);
  EXPECT_EQ(fair.window(Instant(1s)), 1500_B);
  parameters.buffer = 1000_B;
  EXPECT_EQ(FairShare(parameters).window(Instant(1s)), 1500_B) << "a buffer that holds no packet";
}

TEST(FairShare, IdleFlowsExpire) {
  FairShare fair;
  std::array<ActiveFlows::Mark, 4> marks;
  for (auto& mark : marks) fair.seen(Instant(100s), mark);
  fair.seen(Instant(105s), marks[0]);
  EXPECT_EQ(fair.flows(Instant(109s)), 4U);
  EXPECT_EQ(fair.flows(Instant(110s)), 1U);
  EXPECT_EQ(fair.window(Instant(110s)), 150'000_B);
  fair.seen(Instant(111s), marks[1]);
  fair.left(marks[0]);
  EXPECT_EQ(fair.flows(Instant(111s)), 1U);
}

TEST(FairShareRules, ParametersOutOfRangeAreRefused) {
  const auto rule = [](const char* name) { return Field(&Violation::rule, name); };
  const auto broken = [](auto change) {
    FairShareParameters parameters;
    change(parameters);
    return validate(parameters);
  };
  EXPECT_THAT(validate(FairShareParameters{}), IsEmpty());
  EXPECT_THAT(validate(FairShareParameters{}, 33), IsEmpty());
  const auto crowded = validate(FairShareParameters{}, 34);
  ASSERT_THAT(crowded, ElementsAre(rule("⌊B/n⌋ > 2 packets")));
  EXPECT_EQ(crowded[0].severity, Violation::Severity::warning);
  EXPECT_THAT(broken([](auto& p) { p.buffer = 0_B; }), ElementsAre(rule("B > 0")));
  EXPECT_THAT(broken([](auto& p) { p.segment = 0_B; }), ElementsAre(rule("segment > 0")));
  EXPECT_THAT(broken([](auto& p) { p.idle = 0s; }), ElementsAre(rule("idle > 0")));
  EXPECT_THAT(broken([](auto& p) {
                p.buffer = 1_B;
                p.segment = 1_B;
                p.idle = 1ns;
              }),
              IsEmpty())
      << "the smallest values";
  FairShareParameters impossible;
  impossible.segment = 0_B;
  EXPECT_THROW(FairShare{impossible}, std::invalid_argument);
}

}  // namespace
}  // namespace sluice::control
