// Tests of the parameter rules of SMVS: which settings are refused, and which give a warning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "control/smvs/smvs.hpp"

namespace sluice::control {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Section 5.1: Ts = 25 ms, α = 0.85, δ = 35, ε = 20, q0 = 100 and Bmax = 200 frames of 40 bytes.
SmvsParameters paper() {
  SmvsParameters parameters;
  parameters.step = 25ms;
  parameters.alpha = 0.85;
  parameters.delta = 35;
  parameters.epsilon = 20;
  parameters.reference = Reference::frames(100);
  parameters.frame = 40_B;
  parameters.buffer = 8000_B;
  parameters.one_way_delay = 25ms;
  return parameters;
}

/// UE3 under FCDS: 1160 frames/s.
const Rate ue3 = Rate::bytes_per_second(1160 * 40);

auto rule(const char* name) {
  return Field(&Violation::rule, name);
}

TEST(SmvsRules, ThePaperAndDefaultParametersViolateNoRule) {
  EXPECT_THAT(validate(paper(), ue3, 200ms), IsEmpty());
  EXPECT_THAT(validate(SmvsParameters{}), IsEmpty());
}

TEST(SmvsRules, TheBoundaryLayerMustFitBelowTheReference) {
  SmvsParameters parameters = paper();
  parameters.minimum_reference = 0_B;
  parameters.reference = Reference::frames(5);
  EXPECT_THAT(validate(parameters), IsEmpty()) << "band 20·0.025/(1−0.875) = 4 frames";
  parameters.reference = Reference::frames(4);
  const auto found = validate(parameters);
  ASSERT_THAT(found, ElementsAre(rule("ε·Ts/(1−δ·Ts) < q0")));
  EXPECT_THAT(found[0].explanation, HasSubstr("band 4 frames"));
  EXPECT_EQ(found[0].severity, Violation::Severity::error);
}

TEST(SmvsRules, TheBoundaryLayerMustFitBelowTheBuffer) {
  SmvsParameters parameters = paper();
  parameters.epsilon = 499;
  EXPECT_THAT(validate(parameters), IsEmpty()) << "band 99.8 frames, 100 are free above q0";
  parameters.epsilon = 500;
  const auto found = validate(parameters);
  ASSERT_THAT(found, Contains(rule("ε·Ts/(1−δ·Ts) < Bmax − q0")));
  EXPECT_EQ(found[0].severity, Violation::Severity::error);
}

// However large the configured reference is, the law holds at most half of the buffer.
TEST(SmvsRules, TheBoundaryLayerIsCheckedAtTheEffectiveReference) {
  SmvsParameters parameters = paper();
  parameters.reference = Reference::frames(196);
  EXPECT_THAT(validate(parameters), ElementsAre(rule("q0 ≤ Bmax/2"))) << "a band of 4 frames has 100 on either side";
  parameters.buffer = parameters.frame * 7;
  EXPECT_THAT(validate(parameters), Contains(rule("ε·Ts/(1−δ·Ts) < q0"))) << "3.5 frames are held";
}

TEST(SmvsRules, AReferenceAboveHalfOfTheBufferIsLimitedWithAWarning) {
  SmvsParameters parameters = paper();
  parameters.reference = Reference::frames(120);
  const auto found = validate(parameters);
  ASSERT_THAT(found, ElementsAre(rule("q0 ≤ Bmax/2")));
  EXPECT_EQ(found[0].severity, Violation::Severity::warning);
  EXPECT_EQ(smvs_reference(parameters, ue3), 100 * 40);
}

TEST(SmvsRules, AReferenceInTimeIsCheckedAtTheMeanRate) {
  SmvsParameters parameters = paper();
  parameters.reference = Reference::time(200ms);  // 232 frames at 1160 frames/s, more than the buffer
  EXPECT_THAT(validate(parameters), IsEmpty());
  const auto found = validate(parameters, ue3);
  ASSERT_THAT(found, ElementsAre(rule("q0 ≤ Bmax/2")));
  EXPECT_THAT(found[0].explanation, HasSubstr("q0 = 232 frames"));
}

// Fig. 13 and 14: Ts = 0.2 s drains a full buffer in one step, Ts = 0.1 s does not.
TEST(SmvsRules, AFullBufferMustLastLongerThanAStep) {
  SmvsParameters parameters = paper();
  parameters.step = 200ms;
  parameters.delta = 4;
  parameters.eta_window = 1s;
  EXPECT_THAT(validate(parameters), IsEmpty());
  const auto found = validate(parameters, ue3);
  ASSERT_THAT(found, ElementsAre(rule("Ts < Bmax/b̄")));
  EXPECT_EQ(found[0].severity, Violation::Severity::warning) << "the law is defined, and figure 13 shows what it does";
  parameters.step = 100ms;
  EXPECT_THAT(validate(parameters, ue3), ElementsAre(rule("δ·Ts → 1")));
}

TEST(SmvsRules, FastVariationViolatesARule) {
  const auto found = validate(paper(), ue3, 40ms);
  ASSERT_THAT(found, ElementsAre(rule("Ts < Tb/2")));
  EXPECT_EQ(found[0].severity, Violation::Severity::warning);
}

// Fig. 16: δ = 20 settles only after about 20 s.
TEST(SmvsRules, ASmallDeltaIsAWarning) {
  SmvsParameters parameters = paper();
  parameters.delta = 20;
  const auto found = validate(parameters, ue3);
  ASSERT_THAT(found, ElementsAre(rule("δ·Ts → 1")));
  EXPECT_EQ(found[0].severity, Violation::Severity::warning);
}

TEST(SmvsRules, ALargeDeltaOvershoots) {
  SmvsParameters parameters = paper();
  parameters.delta = 40;
  EXPECT_THAT(validate(parameters), ElementsAre(rule("δ·Ts < 1")));
}

TEST(SmvsRules, EveryRangeIsChecked) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto broken = [](auto change) {
    SmvsParameters parameters = paper();
    change(parameters);
    return validate(parameters);
  };
  EXPECT_THAT(broken([](auto& p) { p.step = 0ms; }), Contains(rule("Ts > 0")));
  EXPECT_THAT(broken([](auto& p) { p.alpha = 0; }), Contains(rule("0 < α < 1")));
  EXPECT_THAT(broken([](auto& p) { p.alpha = 1; }), Contains(rule("0 < α < 1")));
  EXPECT_THAT(broken([&](auto& p) { p.alpha = nan; }), Contains(rule("0 < α < 1")));
  EXPECT_THAT(broken([](auto& p) { p.delta = 0; }), Contains(rule("δ > 0")));
  EXPECT_THAT(broken([&](auto& p) { p.delta = nan; }), Contains(rule("δ > 0")));
  EXPECT_THAT(broken([](auto& p) { p.epsilon = 0; }), Contains(rule("ε > 0")));
  EXPECT_THAT(broken([](auto& p) { p.epsilon = HUGE_VAL; }), Contains(rule("ε > 0")));
  EXPECT_THAT(broken([](auto& p) { p.frame = 0_B; }), Contains(rule("frame > 0")));
  EXPECT_THAT(broken([](auto& p) { p.buffer = -1_B; }), Contains(rule("Bmax ≥ 0")));
  EXPECT_THAT(broken([](auto& p) { p.one_way_delay = -1ms; }), Contains(rule("τp ≥ 0")));
  EXPECT_THAT(broken([](auto& p) { p.eta_window = 24ms; }), Contains(rule("η window ≥ Ts")));
  EXPECT_THAT(broken([](auto& p) { p.initial_allowance = 0_B; }), Contains(rule("start-up amounts")));
  EXPECT_THAT(broken([](auto& p) { p.one_way_delay = 24h; }), Contains(rule("d = ⌈τp/Ts⌉ ≤ 4096")));
}

TEST(SmvsRules, TheEndsOfRangesAreAllowed) {
  const auto with = [](auto change) {
    SmvsParameters parameters = paper();
    change(parameters);
    return validate(parameters);
  };
  EXPECT_THAT(with([](auto& p) { p.buffer = 0_B; }), IsEmpty()) << "the buffer is not known";
  EXPECT_THAT(with([](auto& p) { p.one_way_delay = 0ms; }), IsEmpty());
  EXPECT_THAT(with([](auto& p) { p.eta_window = p.step; }), IsEmpty());
  EXPECT_THAT(with([](auto& p) { p.initial_allowance = 1_B; }), IsEmpty());
  EXPECT_THAT(with([](auto& p) { p.minimum_reference = 0_B; }), IsEmpty());
  EXPECT_THAT(with([](auto& p) { p.minimum_reference = -1_B; }), Contains(rule("start-up amounts")));
  EXPECT_THAT(with([](auto& p) { p.frame = 1_B; }), Not(Contains(rule("frame > 0"))));
  EXPECT_THAT(with([](auto& p) { p.step = 0ms; }), Not(Contains(rule("d = ⌈τp/Ts⌉ ≤ 4096"))))
      << "without a step there is no number of steps";
  const auto delayed = [&](Duration delay) {
    return with([delay](auto& p) {
      p.step = 250ms;
      p.delta = 3;
      p.eta_window = 1s;
      p.one_way_delay = delay;
    });
  };
  EXPECT_THAT(delayed(1024s), Not(Contains(rule("d = ⌈τp/Ts⌉ ≤ 4096"))));
  EXPECT_THAT(delayed(1024s + 1ns), Contains(rule("d = ⌈τp/Ts⌉ ≤ 4096")));
}

TEST(SmvsRules, NoControllerExistsForStepsThatViolateThem) {
  EXPECT_FALSE(in_steps_of(SmvsParameters{}, 1ns)) << "millions of steps on the way";
  EXPECT_FALSE(in_steps_of(SmvsParameters{}, 0ns));
}

TEST(SmvsRules, TheControllerInOtherStepsObeysTheRules) {
  const SmvsParameters usual;
  for (const Duration period : {1ms, 5ms, 10ms, 20ms, 50ms, 250ms}) {
    const SmvsParameters fitted = in_steps_of(usual, period).value();
    EXPECT_EQ(fitted.step, period);
    EXPECT_DOUBLE_EQ(fitted.delta * to_seconds(period), usual.delta * to_seconds(usual.step));
    EXPECT_NEAR(fitted.reference.value(), to_seconds(usual.one_way_delay * 2 + period) - 0.005, 1e-9);
    for (const Violation& broken : validate(fitted)) EXPECT_NE(broken.severity, Violation::Severity::error);
  }
}

}  // namespace
}  // namespace sluice::control
