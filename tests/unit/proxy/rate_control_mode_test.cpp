// Who decides what the radio leg of a bearer sends, and what follows from it for the connections.

#include "proxy/engine/bearer/rate_control_mode.hpp"

#include <gtest/gtest.h>

#include <set>

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
    EXPECT_EQ(rate_control.input(), FeedbackInput::none);
    EXPECT_EQ(rate_control.controller(), Controller::congestion_control);
    EXPECT_EQ(rate_control.window_source(), WindowSource::congestion_control);
  }
}

TEST(ControllerChoice, AUeOfTheControlGroupIsNotSteered) {
  for (const ControllerLocation place : {ControllerLocation::acks, ControllerLocation::nodeb}) {
    const PolicySettings settings = smvs_at(place);
    RateControlMode rate_control(settings, true);
    rate_control.set_timely_reports(settings, true);
    EXPECT_EQ(rate_control.input(), FeedbackInput::none);
    EXPECT_FALSE(rate_control.uses_ack_feedback());
    EXPECT_EQ(rate_control.controller(), Controller::congestion_control);
  }
}

TEST(ControllerChoice, RequiredReportsSteerWhileTheyAreTimely) {
  const PolicySettings settings = smvs_at(ControllerLocation::proxy);
  RateControlMode rate_control(settings, false);
  EXPECT_EQ(rate_control.input(), FeedbackInput::reports);
  EXPECT_EQ(rate_control.controller(), Controller::congestion_control) << "there was none yet";
  rate_control.set_timely_reports(settings, true);
  EXPECT_EQ(rate_control.controller(), Controller::reports);
  EXPECT_EQ(rate_control.window_source(), WindowSource::allowance);
  rate_control.set_timely_reports(settings, false);
  EXPECT_EQ(rate_control.controller(), Controller::congestion_control);
}

TEST(ControllerChoice, AckBasedControlReplacesLateReports) {
  const PolicySettings settings = smvs_at(ControllerLocation::proxy, WithoutReports::acks);
  RateControlMode rate_control(settings, false);
  EXPECT_EQ(rate_control.input(), FeedbackInput::reports_else_acks);
  EXPECT_EQ(rate_control.controller(), Controller::acks);
  rate_control.set_timely_reports(settings, true);
  EXPECT_TRUE(rate_control.uses_ack_feedback());
  EXPECT_EQ(rate_control.controller(), Controller::reports);
}

TEST(ControllerChoice, WithoutRequiredReportsTheFasterFeedbackSteers) {
  const PolicySettings settings = smvs_at(ControllerLocation::acks);
  RateControlMode rate_control(settings, false);
  EXPECT_EQ(rate_control.input(), FeedbackInput::acks_or_reports);
  EXPECT_EQ(rate_control.controller(), Controller::acks);
  rate_control.set_timely_reports(settings, true);
  EXPECT_EQ(rate_control.controller(), Controller::acks) << "nothing is known of how soon they are";
  rate_control.compare(settings, 30ms, Duration::zero(), false);
  EXPECT_EQ(rate_control.controller(), Controller::acks) << "the delay of ACKs is unknown";
  rate_control.compare(settings, 50ms, 60ms, false);
  EXPECT_EQ(rate_control.controller(), Controller::acks) << "the advantage is small";
  rate_control.compare(settings, 30ms, 60ms, false);
  EXPECT_EQ(rate_control.controller(), Controller::reports);
  rate_control.compare(settings, 45ms, 60ms, false);
  EXPECT_EQ(rate_control.controller(), Controller::reports) << "a small disadvantage does not end it";
  rate_control.set_timely_reports(settings, false);
  EXPECT_EQ(rate_control.controller(), Controller::acks) << "they are late";
  rate_control.set_timely_reports(settings, true);
  rate_control.compare(settings, 30ms, 60ms, true);
  EXPECT_EQ(rate_control.controller(), Controller::acks) << "the acknowledgements contradict them";
}

TEST(ControllerChoice, AckBasedControlAlwaysSteersEndToEnd) {
  PolicySettings settings = smvs_at(ControllerLocation::acks);
  settings.intercept = Intercept::regulate;
  RateControlMode rate_control(settings, false);
  rate_control.set_timely_reports(settings, true);
  rate_control.compare(settings, 1ms, 60ms, false);
  EXPECT_EQ(rate_control.controller(), Controller::acks) << "an allowance cannot be advertised to a server";
}

TEST(ControllerChoice, APerFlowWindowControllerKeepsTheCongestionWindow) {
  PolicySettings settings;
  settings.mode = Mode::wrd;
  RateControlMode rate_control(settings, false);
  EXPECT_EQ(rate_control.controller(), Controller::congestion_control);
  rate_control.set_timely_reports(settings, true);
  EXPECT_EQ(rate_control.controller(), Controller::flow_windows);
  EXPECT_EQ(rate_control.window_source(), WindowSource::congestion_control);
  rate_control.set_timely_reports(settings, false);
  EXPECT_EQ(rate_control.controller(), Controller::congestion_control);
}

TEST(ControllerChoice, APerFlowWindowControllerOfAConfiguredBufferNeedsNoReports) {
  PolicySettings settings;
  settings.mode = Mode::fair_share;
  settings.laws.buffer = Bytes(100'000);
  const RateControlMode rate_control(settings, false);
  EXPECT_EQ(rate_control.input(), FeedbackInput::configured_buffer);
  EXPECT_EQ(rate_control.controller(), Controller::flow_windows_both_ways);
}

TEST(ControllerChoice, ObserveModeSteersNothing) {
  for (const Mode observed : {Mode::smvs, Mode::wrd}) {
    PolicySettings settings;
    settings.mode = Mode::observe;
    settings.observed = observed;
    RateControlMode rate_control(settings, false);
    rate_control.set_timely_reports(settings, true);
    EXPECT_EQ(rate_control.controller(),
              observed == Mode::wrd ? Controller::observed_flow_windows : Controller::observed_reports);
    EXPECT_EQ(rate_control.window_source(), WindowSource::congestion_control);
    EXPECT_STREQ(to_string(rate_control.controller()), "congestion control");
  }
}

/// Every policy and every state of the reports selects one row of the table, and its properties exclude each other.
TEST(ControllerChoice, EverySettingSelectsAControllerOfTheTable) {
  std::set<Controller> selected;
  const auto try_settings = [&selected](PolicySettings settings, bool in_time, bool faster) {
    RateControlMode rate_control(settings, false);
    rate_control.set_timely_reports(settings, in_time);
    rate_control.compare(settings, 1ms, 60ms, !faster);
    selected.insert(rate_control.controller());
    EXPECT_TRUE(rate_control.has_feedback() || !rate_control.is_rate_controlled());
    EXPECT_FALSE(rate_control.is_ack_based() && rate_control.has_flow_windows());
    EXPECT_FALSE(rate_control.is_ack_based() && !rate_control.uses_ack_feedback());
    EXPECT_EQ(rate_control.is_rate_controlled(), rate_control.has_feedback() && !settings.observes());
    EXPECT_EQ(rate_control.limits_inflight(), rate_control.is_rate_controlled() && rate_control.has_flow_windows());
    EXPECT_EQ(rate_control.window_source() == WindowSource::allowance,
              rate_control.is_rate_controlled() && !rate_control.has_flow_windows());
  };
  for (const ModeText& mode : mode_table) {
    for (const ControllerLocation place :
         {ControllerLocation::nodeb, ControllerLocation::proxy, ControllerLocation::acks}) {
      for (const WithoutReports without : {WithoutReports::congestion_control, WithoutReports::acks}) {
        for (unsigned choice = 0; choice < 8; ++choice) {
          PolicySettings settings = smvs_at(place, without);
          settings.mode = mode.mode;
          if ((choice & 4U) != 0 && needs_feedback(mode.mode) && mode.mode != Mode::observe) {
            settings.mode = Mode::observe;
            settings.observed = mode.mode;
          }
          try_settings(settings, (choice & 1U) != 0, (choice & 2U) != 0);
        }
      }
    }
  }
  EXPECT_EQ(selected.size(), controller_table.size()) << "no row is a copy of another one, and none is unused";
}

}  // namespace
}  // namespace sluice::proxy
