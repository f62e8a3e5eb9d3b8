// Tests of the load of a bearer: it must equal the sum over its flows after any changes.
#include "proxy/engine/flow/bearer_load.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

namespace sluice::proxy {
namespace {

FlowShare share(std::uint32_t backlog, std::uint32_t reserved, std::uint32_t exposed, bool transferring,
                bool window_closed, bool short_flow = false) {
  FlowShare share;
  share.backlog = backlog;
  share.reserved = reserved;
  share.exposed = exposed & FlowShare::max_exposed;
  share.transferring = transferring;
  share.window_closed = window_closed;
  share.short_flow = short_flow;
  return share;
}

TEST(BearerLoad, AddingAndRemovingAFlowChangesNothing) {
  BearerLoad load;
  const FlowShare flow = share(1000, 70'000, 500, true, true);
  load.change({}, flow);
  EXPECT_EQ(load.backlog, 1000_B);
  EXPECT_EQ(load.reserved, 70'000_B);
  EXPECT_EQ(load.exposed, 500_B);
  EXPECT_EQ(load.backlogged_flows, 1U);
  EXPECT_EQ(load.transferring_flows, 1U);
  EXPECT_EQ(load.closed_window_flows, 1U);
  load.change(flow, {});
  EXPECT_EQ(load.backlog, 0_B);
  EXPECT_EQ(load.reserved, 0_B);
  EXPECT_EQ(load.exposed, 0_B);
  EXPECT_EQ(load.backlogged_flows, 0U);
  EXPECT_EQ(load.transferring_flows, 0U);
  EXPECT_EQ(load.closed_window_flows, 0U);
}

TEST(BearerLoad, AFlowWithUnsentBytesCountsAsBacklogged) {
  BearerLoad load;
  load.change({}, share(1, 0, 0, false, false));
  load.change(share(1, 0, 0, false, false), share(2, 0, 0, false, false));
  EXPECT_EQ(load.backlogged_flows, 1U);
  load.change(share(2, 0, 0, false, false), share(0, 0, 0, false, false));
  EXPECT_EQ(load.backlogged_flows, 0U);
}

TEST(BearerLoad, AMovingFlowIsADownloadOnceItIsNoLongerShort) {
  BearerLoad load;
  FlowShare flow = share(0, 0, 0, false, false, true);
  load.change({}, flow);
  load.update(flow, 1000, 1000, true);
  EXPECT_EQ(load.short_flows, 1U);
  EXPECT_EQ(load.long_transferring_flows, 0U);
  FlowShare older = flow;
  older.short_flow = false;
  load.change(flow, older);
  EXPECT_EQ(load.short_flows, 0U);
  EXPECT_EQ(load.long_transferring_flows, 1U);
  load.update(older, 0, 0, false);
  EXPECT_EQ(load.long_transferring_flows, 0U);
}

TEST(BearerLoad, EqualsTheSumOverItsFlows) {
  std::mt19937 engine(1);
  const auto random = [&](std::uint32_t below) { return static_cast<std::uint32_t>(engine() % below); };
  std::array<FlowShare, 8> flows{};
  BearerLoad load;
  for (int i = 0; i < 10'000; ++i) {
    FlowShare& flow = flows.at(random(8));
    const FlowShare after =
        share(random(3) * 1000, random(100'000), random(5000), random(2) == 0, random(2) == 0, random(2) == 0);
    load.change(flow, after);
    flow = after;
    load.update(flow, random(3) * 1000, random(100'000), random(2) == 0);
    load.reserve(flow, std::int64_t{random(100'000)} - 50'000);
  }
  Bytes backlog;
  Bytes reserved;
  Bytes exposed;
  std::uint32_t backlogged = 0;
  std::uint32_t transferring = 0;
  std::uint32_t window_closed = 0;
  std::uint32_t long_moving = 0;
  std::uint32_t short_flows = 0;
  for (const FlowShare& flow : flows) {
    backlog += Bytes(flow.backlog);
    reserved += Bytes(flow.reserved);
    exposed += Bytes(flow.exposed);
    backlogged += flow.backlog != 0 ? 1U : 0U;
    transferring += flow.transferring ? 1U : 0U;
    window_closed += flow.window_closed ? 1U : 0U;
    long_moving += flow.transferring && !flow.short_flow ? 1U : 0U;
    short_flows += flow.short_flow ? 1U : 0U;
  }
  EXPECT_EQ(load.backlog, backlog);
  EXPECT_EQ(load.reserved, reserved);
  EXPECT_EQ(load.exposed, exposed);
  EXPECT_EQ(load.backlogged_flows, backlogged);
  EXPECT_EQ(load.transferring_flows, transferring);
  EXPECT_EQ(load.closed_window_flows, window_closed);
  EXPECT_EQ(load.long_transferring_flows, long_moving);
  EXPECT_EQ(load.short_flows, short_flows);
}

}  // namespace
}  // namespace sluice::proxy
