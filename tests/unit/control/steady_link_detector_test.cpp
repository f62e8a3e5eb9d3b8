#include "control/ack_based/steady_link_detector.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace sluice::control {
namespace {

using std::chrono::milliseconds;

constexpr double mbps = 1e6 / 8;

/// Adds rates for `duration`, one in 10 ms, alternately `high` and `low` for 200 ms each. Returns the end.
Instant add_rates(SteadyLinkDetector& link, Instant from, Duration duration, double high, double low,
                  bool is_end_to_end = false) {
  for (Instant now = from; now < from + duration; now += milliseconds(10))
    link.on_rate(now, milliseconds(10), (now - from) % milliseconds(400) < milliseconds(200) ? high : low,
                 is_end_to_end);
  return from + duration;
}

TEST(SteadyLinkDetector, ARateThatHardlyChangesIsSteadyAfterSeconds) {
  SteadyLinkDetector link;
  Instant now = add_rates(link, Instant(milliseconds(1000)), milliseconds(2000), 10 * mbps, 9.9 * mbps);
  EXPECT_EQ(link.steadiness(), 0);
  add_rates(link, now, milliseconds(4000), 10 * mbps, 9.9 * mbps);
  EXPECT_EQ(link.steadiness(), 1);
}

TEST(SteadyLinkDetector, OneGreatDeviationEndsSteadinessAtOnce) {
  SteadyLinkDetector link;
  const Instant now = add_rates(link, Instant(milliseconds(1000)), milliseconds(8000), 10 * mbps, 10 * mbps);
  ASSERT_EQ(link.steadiness(), 1);
  link.on_rate(now, milliseconds(10), 12 * mbps, false);
  EXPECT_EQ(link.steadiness(), 0);
}

// The slow start of a server raises the rate to many times its mean. That shows nothing about the link. A rate that
// falls does.
TEST(SteadyLinkDetector, ARiseOfAnyHeightIsForgottenLikeANewLinkEndToEnd) {
  const auto steadiness_after = [](double first, double then, bool is_end_to_end) {
    SteadyLinkDetector link;
    const Instant now = add_rates(link, Instant(milliseconds(1000)), milliseconds(500), first, first, is_end_to_end);
    add_rates(link, now, milliseconds(5500), then, then, is_end_to_end);
    return link.steadiness();
  };
  EXPECT_EQ(steadiness_after(mbps, 10 * mbps, true), 1);
  EXPECT_LT(steadiness_after(mbps, 10 * mbps, false), 1);
  EXPECT_LT(steadiness_after(10 * mbps, mbps, true), 1);
}

TEST(SteadyLinkDetector, ARateThatVariesIsNotSteady) {
  SteadyLinkDetector link;
  add_rates(link, Instant(milliseconds(1000)), milliseconds(8000), 11.5 * mbps, 8.5 * mbps);
  EXPECT_EQ(link.steadiness(), 0);
}

TEST(SteadyLinkDetector, RatesThatTheSenderChangesAreIgnored) {
  SteadyLinkDetector link;
  const Instant now = add_rates(link, Instant(milliseconds(1000)), milliseconds(8000), 10 * mbps, 10 * mbps);
  link.ignore_until(now + milliseconds(300));
  add_rates(link, now, milliseconds(300), 5 * mbps, 5 * mbps);
  EXPECT_EQ(link.steadiness(), 1);
  link.on_rate(now + milliseconds(310), milliseconds(10), 5 * mbps, false);
  EXPECT_EQ(link.steadiness(), 0);
}

TEST(SteadyLinkDetector, TheShortestRoundTripIsForgottenInTenthsOfASecond) {
  SteadyLinkDetector link;
  link.on_round_trip(milliseconds(0), 0.06);
  link.on_round_trip(milliseconds(10), 0.02);
  EXPECT_EQ(link.min_round_trip(), 0.02);
  for (int i = 0; i < 100; ++i) link.on_round_trip(milliseconds(10), 0.06);
  EXPECT_NEAR(link.min_round_trip(), 0.06, 0.001);
}

}  // namespace
}  // namespace sluice::control
