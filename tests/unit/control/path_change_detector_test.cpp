#include "control/ack_based/path_change_detector.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{10s};

TEST(PathChangeDetector, IsALongerPathOnceThreeReportsAgreeForLongEnough) {
  PathChangeDetector delay;
  EXPECT_EQ(delay.on_report(start, 50ms, 400ms), std::nullopt);
  EXPECT_EQ(delay.on_report(start + 450ms, 40ms, 400ms), std::nullopt) << "two may be chance";
  EXPECT_EQ(delay.on_report(start + 500ms, 40ms, 400ms), 40ms);
  EXPECT_EQ(delay.on_report(start + 550ms, 40ms, 0ms), std::nullopt) << "it begins anew";
}

TEST(PathChangeDetector, WaitsForItsTimeWithAnyNumberOfReports) {
  PathChangeDetector delay;
  for (int i = 0; i < 40; ++i) ASSERT_EQ(delay.on_report(start + i * 10ms, 30ms, 400ms), std::nullopt);
  EXPECT_EQ(delay.on_report(start + 400ms, 30ms, 400ms), 30ms);
}

TEST(PathChangeDetector, OneReportThatExplainsTheDelayEndsIt) {
  PathChangeDetector delay;
  delay.on_report(start, 50ms, 0ms);
  delay.on_report(start + 10ms, 50ms, 0ms);
  delay.forget();
  EXPECT_EQ(delay.on_report(start + 20ms, 50ms, 0ms), std::nullopt);
}

TEST(PathChangeDetector, FollowsAMeanThatStillConverges) {
  PathChangeDetector delay;
  delay.on_report(start, 8ms, 0ms);
  delay.on_report(start + 10ms, 80ms, 0ms);
  EXPECT_EQ(delay.on_report(start + 20ms, 81ms, 0ms), 25ms) << "8 + 9 + 8";
}

}  // namespace
}  // namespace sluice::control
