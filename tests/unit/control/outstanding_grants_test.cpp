// Tests of the ledger of outstanding grants: what is in flight between a Node-B's grants and the proxy's statuses.
#include "control/smvs/outstanding_grants.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

Instant at(Duration time) {
  return Instant(time);
}

feedback::BearerStatus status(std::uint64_t applied, Bytes left) {
  feedback::BearerStatus status;
  status.applied_sequence = applied;
  status.allowance_left = left;
  return status;
}

TEST(OutstandingGrants, CountsTheGrantsOfARttWithoutStatuses) {
  OutstandingGrants outstanding(10ms);
  EXPECT_EQ(outstanding.in_flight(at(1s), 0), 0_B);
  for (int i = 0; i < 10; ++i) outstanding.granted(at(1s + i * 5ms), 1U + static_cast<unsigned>(i), 1000_B);
  EXPECT_EQ(outstanding.in_flight(at(1045ms), 0), 5000_B) << "granted at 25, 30, 35, 40 and 45 ms";
  EXPECT_EQ(outstanding.in_flight(at(1065ms), 0), 1000_B);
  EXPECT_EQ(outstanding.in_flight(at(1066ms), 0), 0_B);
}

TEST(OutstandingGrants, AStatusReplacesTheEstimate) {
  OutstandingGrants outstanding(10ms);
  outstanding.granted(at(1000ms), 7, 1000_B);
  outstanding.granted(at(1005ms), 9, 2000_B);
  outstanding.granted(at(1010ms), 12, 4000_B);
  // Report 10 was the second datagram of the step whose first was 9.
  outstanding.on_status(at(1018ms), status(10, 300_B), 5000);
  EXPECT_EQ(outstanding.in_flight(at(1018ms), 5000), 4300_B);
  EXPECT_EQ(outstanding.in_flight(at(1019ms), 5200), 4100_B) << "200 of the 300 have arrived";
  EXPECT_EQ(outstanding.in_flight(at(1020ms), 6000), 4000_B);
}

// The next allowance replaces what is left, but for the part of a packet.
TEST(OutstandingGrants, GrantsUnusedForLackOfDataAreNotInFlight) {
  OutstandingGrants outstanding(10ms);
  outstanding.granted(at(1000ms), 1, 20'000_B);
  outstanding.granted(at(1005ms), 2, 4000_B);
  outstanding.on_status(at(1020ms), status(1, 20'000_B), 0);
  EXPECT_EQ(outstanding.in_flight(at(1020ms), 0), 5500_B);
  EXPECT_EQ(outstanding.in_flight(at(1021ms), 1000), 4500_B) << "some data has come after all";
}

TEST(OutstandingGrants, AnIdleFlowHasNothingInFlight) {
  OutstandingGrants outstanding(10ms);
  outstanding.granted(at(1000ms), 1, 1000_B);
  outstanding.on_status(at(1020ms), status(1, 1000_B), 0);
  EXPECT_EQ(outstanding.in_flight(at(1020ms), 0), 1000_B);
  EXPECT_EQ(outstanding.in_flight(at(1041ms), 0), 0_B);
}

TEST(OutstandingGrants, BytesReportedByStatusesAreSummed) {
  OutstandingGrants outstanding(10ms);
  outstanding.granted(at(1000ms), 1, 1000_B);
  outstanding.on_status(at(1005ms), status(0, Bytes::max()), 0);
  EXPECT_GT(outstanding.in_flight(at(1005ms), 0), 1000_B);
}

TEST(OutstandingGrants, AnOldStatusIsIgnored) {
  OutstandingGrants outstanding(10ms);
  outstanding.granted(at(1000ms), 1, 1000_B);
  outstanding.granted(at(1005ms), 2, 1000_B);
  outstanding.on_status(at(1025ms), status(2, 0_B), 2000);
  outstanding.on_status(at(1026ms), status(1, 900_B), 2000);
  EXPECT_EQ(outstanding.in_flight(at(1026ms), 2000), 0_B);
}

TEST(OutstandingGrants, CountersThatRunBackwardsLeaveOnlyTheGrants) {
  OutstandingGrants outstanding(10ms);
  outstanding.on_status(at(1000ms), status(1, 900_B), 2000);
  outstanding.granted(at(1001ms), 2, 100_B);
  EXPECT_EQ(outstanding.in_flight(at(1002ms), 0), 100_B);
}

TEST(OutstandingGrants, TheNumberOfGrantsIsBounded) {
  OutstandingGrants outstanding(10s);
  for (unsigned i = 1; i <= 1000; ++i) outstanding.granted(at(1s), i, 1_B);
  EXPECT_EQ(outstanding.in_flight(at(1s), 0), 64_B);
  outstanding.restart();
  EXPECT_EQ(outstanding.in_flight(at(1s), 0), 0_B);
}

}  // namespace
}  // namespace sluice::control
