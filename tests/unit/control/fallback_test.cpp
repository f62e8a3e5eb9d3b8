// Tests of the fallback to congestion control when reports of the Node-B are missing, and of the return.
#include "control/smvs/fallback.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;
using feedback::RadioState;

const Rate rate = Rate::bits_per_second(8e6);

Instant at(Duration time) {
  return Instant(time);
}

TEST(Fallback, BeginsWithCongestionControl) {
  Fallback fallback;
  EXPECT_EQ(fallback.source(), ControlSource::congestion_control);
  EXPECT_EQ(fallback.deadline(), never);
  EXPECT_EQ(fallback.check(at(1h)), ControlSource::congestion_control);
  EXPECT_EQ(fallback.falls(), 0U);
}

TEST(Fallback, FallsBackAfterFivePeriodsWithoutReportsAndReturns) {
  Fallback fallback;
  EXPECT_EQ(fallback.on_report(at(1s), 25ms, RadioState::normal, rate), ControlSource::feedback);
  EXPECT_EQ(fallback.deadline(), at(1125ms));
  EXPECT_EQ(fallback.check(at(1125ms) - Duration(1)), ControlSource::feedback);
  EXPECT_EQ(fallback.check(at(1125ms)), ControlSource::congestion_control);
  EXPECT_EQ(fallback.deadline(), never);
  EXPECT_EQ(fallback.falls(), 1U);
  EXPECT_EQ(fallback.on_report(at(2s), 25ms, RadioState::normal, rate), ControlSource::feedback);
  EXPECT_EQ(fallback.deadline(), at(2125ms));
}

TEST(Fallback, EachReportMovesTheDeadline) {
  Fallback fallback;
  for (int i = 0; i < 100; ++i) {
    const Instant now = at(1s + i * 100ms);
    fallback.on_report(now, 25ms, RadioState::normal, rate);
    EXPECT_EQ(fallback.check(now + 99ms), ControlSource::feedback);
  }
  EXPECT_EQ(fallback.falls(), 0U);
}

TEST(Fallback, AShortPeriodHasAMinimumDeadline) {
  Fallback fallback;
  fallback.on_report(at(1s), 2ms, RadioState::normal, rate);
  EXPECT_EQ(fallback.deadline(), at(1020ms));
}

TEST(Fallback, TheDeadlineIsConfigurable) {
  FallbackParameters parameters;
  parameters.periods = 2;
  parameters.minimum = 0ms;
  Fallback fallback(parameters);
  fallback.on_report(at(1s), 3ms, RadioState::normal, rate);
  EXPECT_EQ(fallback.deadline(), at(1006ms));
}

TEST(Fallback, AReleasedBearerFallsBackAtOnce) {
  Fallback fallback;
  fallback.on_report(at(1s), 25ms, RadioState::normal, rate);
  EXPECT_EQ(fallback.on_report(at(1025ms), 25ms, RadioState::released, Rate()), ControlSource::congestion_control);
  EXPECT_EQ(fallback.deadline(), never);
  EXPECT_EQ(fallback.falls(), 1U);
  EXPECT_EQ(fallback.seed_window(1s), rate.in(1s)) << "a release says nothing about the rate";
  fallback.on_report(at(1050ms), 25ms, RadioState::released, Rate());
  EXPECT_EQ(fallback.falls(), 1U);
}

TEST(Fallback, ReportsOfOutageAndHandoverStillSteer) {
  Fallback fallback;
  EXPECT_EQ(fallback.on_report(at(1s), 25ms, RadioState::outage, rate), ControlSource::feedback);
  EXPECT_EQ(fallback.on_report(at(2s), 25ms, RadioState::handover, rate), ControlSource::feedback);
}

TEST(Fallback, SeedsTheWindowWithRateTimesRoundTrip) {
  Fallback fallback;
  fallback.on_report(at(1s), 25ms, RadioState::normal, rate);
  EXPECT_EQ(fallback.seed_window(100ms), 100000_B);
  EXPECT_EQ(fallback.seed_window(1ms), 14480_B) << "never less than the initial window";
  EXPECT_EQ(fallback.seed_window(-1ms), 14480_B);
  fallback.on_report(at(2s), 25ms, RadioState::outage, Rate());
  EXPECT_EQ(fallback.seed_window(100ms), 14480_B);
}

TEST(Fallback, AnAbsurdPeriodIsBounded) {
  Fallback fallback;
  fallback.on_report(at(1s), Duration::max(), RadioState::normal, rate);
  EXPECT_EQ(fallback.check(at(1000h)), ControlSource::congestion_control);
  fallback.on_report(at(1s), 1min, RadioState::normal, rate);
  EXPECT_EQ(fallback.deadline(), at(3s)) << "what is announced is believed up to the proxy's own bound";
  fallback.on_report(at(1s), 1s, RadioState::normal, rate);
  EXPECT_EQ(fallback.deadline(), at(3s)) << "five periods would be more";
  fallback.on_report(at(1s), Duration::min(), RadioState::normal, rate);
  EXPECT_EQ(fallback.deadline(), at(1020ms));
}

}  // namespace
}  // namespace sluice::control
