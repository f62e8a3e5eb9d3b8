// Who decides what the radio leg of a bearer sends, and what follows from it for the connections.

#include "proxy/bearer/lead.hpp"

#include <gtest/gtest.h>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using tcp::WindowSource;

Treatment smvs_at(LawPlace place, WithoutReports without = WithoutReports::congestion_control) {
  Treatment treatment;
  treatment.mode = Mode::smvs;
  treatment.smvs.law = place;
  treatment.smvs.without_reports = without;
  return treatment;
}

TEST(ControllerChoice, ModesWithoutAControllerAreNeverSteered) {
  for (const Mode mode : {Mode::bypass, Mode::i_tcp}) {
    Treatment treatment;
    treatment.mode = mode;
    Lead lead(treatment, false);
    lead.heed_reports(treatment, true);
    EXPECT_FALSE(lead.steerable());
    EXPECT_FALSE(lead.has_feedback());
    EXPECT_FALSE(lead.steered());
    EXPECT_FALSE(lead.clocked());
    EXPECT_EQ(lead.window_source(), WindowSource::congestion_control);
  }
}

TEST(ControllerChoice, AUeOfTheControlGroupIsNotSteered) {
  const Treatment treatment = smvs_at(LawPlace::acks);
  Lead lead(treatment, true);
  lead.heed_reports(treatment, true);
  EXPECT_FALSE(lead.steerable());
  EXPECT_FALSE(lead.listens());
  EXPECT_FALSE(lead.steered());
}

TEST(ControllerChoice, RequiredReportsSteerWhileTheyAreTimely) {
  const Treatment treatment = smvs_at(LawPlace::proxy);
  Lead lead(treatment, false);
  EXPECT_TRUE(lead.needs_reports());
  EXPECT_FALSE(lead.steered()) << "there was none yet";
  lead.heed_reports(treatment, true);
  EXPECT_TRUE(lead.steered());
  EXPECT_TRUE(lead.led_by_reports());
  EXPECT_EQ(lead.window_source(), WindowSource::allowance);
  lead.heed_reports(treatment, false);
  EXPECT_FALSE(lead.steered());
  EXPECT_EQ(lead.window_source(), WindowSource::congestion_control);
}

TEST(ControllerChoice, AckBasedControlReplacesLateReports) {
  const Treatment treatment = smvs_at(LawPlace::proxy, WithoutReports::acks);
  Lead lead(treatment, false);
  EXPECT_TRUE(lead.clocked());
  EXPECT_TRUE(lead.steered());
  lead.heed_reports(treatment, true);
  EXPECT_TRUE(lead.listens());
  EXPECT_FALSE(lead.clocked());
  EXPECT_TRUE(lead.steered());
}

TEST(ControllerChoice, WithoutRequiredReportsTheFasterFeedbackSteers) {
  const Treatment treatment = smvs_at(LawPlace::acks);
  Lead lead(treatment, false);
  EXPECT_TRUE(lead.clocked());
  lead.heed_reports(treatment, true);
  EXPECT_TRUE(lead.clocked()) << "nothing is known of how soon they are";
  lead.compare(treatment, 30ms, Duration::zero(), false);
  EXPECT_TRUE(lead.clocked()) << "nor is it";
  lead.compare(treatment, 50ms, 60ms, false);
  EXPECT_TRUE(lead.clocked()) << "the advantage is small";
  lead.compare(treatment, 30ms, 60ms, false);
  EXPECT_FALSE(lead.clocked());
  EXPECT_TRUE(lead.led_by_reports());
  lead.compare(treatment, 45ms, 60ms, false);
  EXPECT_FALSE(lead.clocked()) << "nor is it given up for a small one";
  lead.heed_reports(treatment, false);
  EXPECT_TRUE(lead.clocked()) << "they are late";
  lead.heed_reports(treatment, true);
  lead.compare(treatment, 30ms, 60ms, true);
  EXPECT_TRUE(lead.clocked()) << "the acknowledgements contradict them";
  EXPECT_TRUE(lead.steered());
}

TEST(ControllerChoice, AckBasedControlAlwaysSteersEndToEnd) {
  Treatment treatment = smvs_at(LawPlace::acks);
  treatment.intercept = Intercept::regulate;
  Lead lead(treatment, false);
  lead.heed_reports(treatment, true);
  lead.compare(treatment, 1ms, 60ms, false);
  EXPECT_TRUE(lead.clocked()) << "an allowance is nothing that a server could be told";
}

TEST(ControllerChoice, APerFlowWindowControllerKeepsTheCongestionWindow) {
  Treatment treatment;
  treatment.mode = Mode::wrd;
  Lead lead(treatment, false);
  EXPECT_FALSE(lead.windowed());
  lead.heed_reports(treatment, true);
  EXPECT_TRUE(lead.windowed());
  EXPECT_TRUE(lead.bounds());
  EXPECT_TRUE(lead.steered());
  EXPECT_EQ(lead.window_source(), WindowSource::congestion_control);
  lead.heed_reports(treatment, false);
  EXPECT_FALSE(lead.windowed());
  EXPECT_FALSE(lead.bounds());
}

TEST(ControllerChoice, ObserveModeSteersNothing) {
  for (const Mode observed : {Mode::smvs, Mode::wrd}) {
    Treatment treatment;
    treatment.mode = Mode::observe;
    treatment.observed = observed;
    Lead lead(treatment, false);
    lead.heed_reports(treatment, true);
    EXPECT_TRUE(lead.has_feedback());
    EXPECT_FALSE(lead.steered());
    EXPECT_FALSE(lead.bounds());
    EXPECT_EQ(lead.windowed(), observed == Mode::wrd);
    EXPECT_EQ(lead.window_source(), WindowSource::congestion_control);
  }
}

}  // namespace
}  // namespace sluice::proxy
