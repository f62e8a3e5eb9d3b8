// Tests of the plausibility check of a Node-B's reports against the UE's ACKs. Reports that contradict ACKs must not
// steer.
#include "control/ack_based/report_check.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// A UE at 10 Mb/s, whose Node-B reports each 100 ms.
class ReportsOfAUe : public testing::Test {
 protected:
  /// Runs for `how_long` with reports of a Node-B that has transmitted `share` of the acknowledged bytes, and whose
  /// queue lasts for `queue`.
  void go_on(Duration how_long, double share, Duration queue = 20ms) {
    for (const Instant end = now_ + how_long; now_ < end;) {
      now_ += 100ms;
      check_.on_acknowledged(Bytes(125'000), 40ms);
      transmitted_ += static_cast<std::uint64_t>(125'000 * share);
      check_.on_report(now_, transmitted_, queue);
    }
  }

  void restart_counter() { transmitted_ = 0; }

  ReportCheck check_;

 private:
  Instant now_{1h};
  std::uint64_t transmitted_ = 5'000'000;
};

TEST_F(ReportsOfAUe, AreTrustedIfTheyAgreeWithAcks) {
  go_on(60s, 1);
  EXPECT_TRUE(check_.trusted());
}

TEST_F(ReportsOfAUe, MayCountMoreThanTheObservedConnections) {
  go_on(60s, 5);
  EXPECT_TRUE(check_.trusted());
}

TEST_F(ReportsOfAUe, AreDistrustedWhenLessWasTransmittedThanArrived) {
  go_on(3s, 0.5);
  EXPECT_TRUE(check_.trusted()) << "one period is no proof";
  go_on(3s, 0.5);
  EXPECT_FALSE(check_.trusted());
}

TEST_F(ReportsOfAUe, AreDistrustedIfTheQueueExceedsEveryRtt) {
  go_on(6s, 1, 500ms);
  EXPECT_FALSE(check_.trusted());
}

TEST_F(ReportsOfAUe, AreTrustedIfOneOfTheLongQueuesIsPossible) {
  for (int i = 0; i < 20; ++i) {
    go_on(900ms, 1, 500ms);
    go_on(100ms, 1, 20ms);
  }
  EXPECT_TRUE(check_.trusted());
}

TEST_F(ReportsOfAUe, AreTrustedAgainAfterAgreeingForSomeTime) {
  go_on(6s, 0.1);
  ASSERT_FALSE(check_.trusted());
  go_on(6s, 1);
  EXPECT_FALSE(check_.trusted());
  go_on(6s, 1);
  EXPECT_TRUE(check_.trusted());
}

TEST_F(ReportsOfAUe, OfAnotherNodeBAreTrustedAtFirst) {
  go_on(6s, 0.1);
  check_.restart();
  EXPECT_TRUE(check_.trusted());
}

TEST_F(ReportsOfAUe, AreTrustedIfTheirCounterOftenRestarts) {
  for (int i = 0; i < 20; ++i) {
    go_on(1s, 1);
    restart_counter();
  }
  EXPECT_TRUE(check_.trusted());
}

TEST_F(ReportsOfAUe, AreDistrustedAlsoIfTheirCounterOftenRestarts) {
  for (int i = 0; i < 5; ++i) {
    go_on(1s, 0.5);
    restart_counter();
  }
  EXPECT_FALSE(check_.trusted());
}

TEST_F(ReportsOfAUe, AreDistrustedForLongQueuesAlsoIfTheirCounterOftenRestarts) {
  for (int i = 0; i < 6; ++i) {
    go_on(1s, 1, 500ms);
    restart_counter();
  }
  EXPECT_FALSE(check_.trusted());
}

TEST(ReportCheck, AUeThatReceivesNothingProvesNothing) {
  ReportCheck check;
  for (Instant now(1h); now < Instant(2h); now += 1s) check.on_report(now, 0, 10s);
  EXPECT_TRUE(check.trusted());
}

}  // namespace
}  // namespace sluice::control
