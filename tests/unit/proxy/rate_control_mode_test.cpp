// Who decides what the radio leg of a bearer sends, and what follows from it for the connections.

#include "proxy/engine/bearer/rate_control_mode.hpp"

#include <gtest/gtest.h>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using tcp::WindowSource;

PolicySettings smvs_at(ControllerLocation place, WithoutReports without = WithoutReports::congestion_control) {
  PolicySettings settings;
  settings.mode = Mode::smvs;
  settings.smvs.law = place;
  settings.smvs.without_reports = without;
  return settings;
}

TEST(ControllerChoice, ModesWithoutAControllerAreNeverSteered) {
  for (const Mode mode : {Mode::bypass, Mode::i_tcp}) {
    PolicySettings settings;
    settings.mode = mode;
    RateControlMode rate_control(settings, false);
    rate_control.set_timely_reports(settings, true);
    EXPECT_FALSE(rate_control.can_be_controlled());
    EXPECT_FALSE(rate_control.has_feedback());
    EXPECT_FALSE(rate_control.is_rate_controlled());
    EXPECT_FALSE(rate_control.is_ack_based());
    EXPECT_EQ(rate_control.window_source(), WindowSource::congestion_control);
  }
}

TEST(ControllerChoice, AUeOfTheControlGroupIsNotSteered) {
  const PolicySettings settings = smvs_at(ControllerLocation::acks);
  RateControlMode rate_control(settings, true);
  rate_control.set_timely_reports(settings, true);
  EXPECT_FALSE(rate_control.can_be_controlled());
  EXPECT_FALSE(rate_control.uses_ack_feedback());
  EXPECT_FALSE(rate_control.is_rate_controlled());
}

TEST(ControllerChoice, RequiredReportsSteerWhileTheyAreTimely) {
  const PolicySettings settings = smvs_at(ControllerLocation::proxy);
  RateControlMode rate_control(settings, false);
  EXPECT_TRUE(rate_control.needs_reports());
  EXPECT_FALSE(rate_control.is_rate_controlled()) << "there was none yet";
  rate_control.set_timely_reports(settings, true);
  EXPECT_TRUE(rate_control.is_rate_controlled());
  EXPECT_TRUE(rate_control.is_report_based());
  EXPECT_EQ(rate_control.window_source(), WindowSource::allowance);
  rate_control.set_timely_reports(settings, false);
  EXPECT_FALSE(rate_control.is_rate_controlled());
  EXPECT_EQ(rate_control.window_source(), WindowSource::congestion_control);
}

TEST(ControllerChoice, AckBasedControlReplacesLateReports) {
  const PolicySettings settings = smvs_at(ControllerLocation::proxy, WithoutReports::acks);
  RateControlMode rate_control(settings, false);
  EXPECT_TRUE(rate_control.is_ack_based());
  EXPECT_TRUE(rate_control.is_rate_controlled());
  rate_control.set_timely_reports(settings, true);
  EXPECT_TRUE(rate_control.uses_ack_feedback());
  EXPECT_FALSE(rate_control.is_ack_based());
  EXPECT_TRUE(rate_control.is_rate_controlled());
}

TEST(ControllerChoice, WithoutRequiredReportsTheFasterFeedbackSteers) {
  const PolicySettings settings = smvs_at(ControllerLocation::acks);
  RateControlMode rate_control(settings, false);
  EXPECT_TRUE(rate_control.is_ack_based());
  rate_control.set_timely_reports(settings, true);
  EXPECT_TRUE(rate_control.is_ack_based()) << "nothing is known of how soon they are";
  rate_control.compare(settings, 30ms, Duration::zero(), false);
  EXPECT_TRUE(rate_control.is_ack_based()) << "nor is it";
  rate_control.compare(settings, 50ms, 60ms, false);
  EXPECT_TRUE(rate_control.is_ack_based()) << "the advantage is small";
  rate_control.compare(settings, 30ms, 60ms, false);
  EXPECT_FALSE(rate_control.is_ack_based());
  EXPECT_TRUE(rate_control.is_report_based());
  rate_control.compare(settings, 45ms, 60ms, false);
  EXPECT_FALSE(rate_control.is_ack_based()) << "nor is it given up for a small one";
  rate_control.set_timely_reports(settings, false);
  EXPECT_TRUE(rate_control.is_ack_based()) << "they are late";
  rate_control.set_timely_reports(settings, true);
  rate_control.compare(settings, 30ms, 60ms, true);
  EXPECT_TRUE(rate_control.is_ack_based()) << "the acknowledgements contradict them";
  EXPECT_TRUE(rate_control.is_rate_controlled());
}

TEST(ControllerChoice, AckBasedControlAlwaysSteersEndToEnd) {
  PolicySettings settings = smvs_at(ControllerLocation::acks);
  settings.intercept = Intercept::regulate;
  RateControlMode rate_control(settings, false);
  rate_control.set_timely_reports(settings, true);
  rate_control.compare(settings, 1ms, 60ms, false);
  EXPECT_TRUE(rate_control.is_ack_based()) << "an allowance is nothing that a server could be told";
}

TEST(ControllerChoice, APerFlowWindowControllerKeepsTheCongestionWindow) {
  PolicySettings settings;
  settings.mode = Mode::wrd;
  RateControlMode rate_control(settings, false);
  EXPECT_FALSE(rate_control.has_flow_windows());
  rate_control.set_timely_reports(settings, true);
  EXPECT_TRUE(rate_control.has_flow_windows());
  EXPECT_TRUE(rate_control.limits_inflight());
  EXPECT_TRUE(rate_control.is_rate_controlled());
  EXPECT_EQ(rate_control.window_source(), WindowSource::congestion_control);
  rate_control.set_timely_reports(settings, false);
  EXPECT_FALSE(rate_control.has_flow_windows());
  EXPECT_FALSE(rate_control.limits_inflight());
}

TEST(ControllerChoice, ObserveModeSteersNothing) {
  for (const Mode observed : {Mode::smvs, Mode::wrd}) {
    PolicySettings settings;
    settings.mode = Mode::observe;
    settings.observed = observed;
    RateControlMode rate_control(settings, false);
    rate_control.set_timely_reports(settings, true);
    EXPECT_TRUE(rate_control.has_feedback());
    EXPECT_FALSE(rate_control.is_rate_controlled());
    EXPECT_FALSE(rate_control.limits_inflight());
    EXPECT_EQ(rate_control.has_flow_windows(), observed == Mode::wrd);
    EXPECT_EQ(rate_control.window_source(), WindowSource::congestion_control);
  }
}

}  // namespace
}  // namespace sluice::proxy
