// Tests of UEs that move between cells of a Node-B, with queued packets and with blocks on the air.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "emulator/channel/constant.hpp"
#include "emulator/channel/timeline.hpp"
#include "tests/unit/emulator_models/one_cell.hpp"

namespace sluice::emulator {
namespace {

using control::feedback::RadioState;
using std::chrono::milliseconds;
using test::address;
using test::at_ms;
using test::behind_arq;
using test::OneCell;

std::unique_ptr<Channel> constant(double bytes_per_ms) {
  return std::make_unique<ConstantChannel>(Rate::bytes_per_second(bytes_per_ms * 1000), milliseconds(1));
}

TEST(Timeline, LinksFollowEachOtherWithSilentGaps) {
  TimelineChannel channel(constant(100));
  channel.silence_from(10);
  channel.replace_from(15, constant(300));
  channel.silence_from(20);
  channel.resume_from(22);
  EXPECT_EQ(channel.at(9).capacity, Bytes(100));
  EXPECT_EQ(channel.at(10).capacity, Bytes(0));
  EXPECT_FALSE(channel.at(12).received);
  EXPECT_EQ(channel.error_rate(30, 1), 1);
  EXPECT_EQ(channel.next_useful(12), 15U);
  EXPECT_EQ(channel.at(15).capacity, Bytes(300));
  EXPECT_EQ(channel.error_rate(30, 1), 0);
  EXPECT_EQ(channel.at(21).capacity, Bytes(0));
  EXPECT_EQ(channel.at(22).capacity, Bytes(300));
  EXPECT_EQ(channel.offered_through(29), 10U * 100 + 5 * 300 + 8 * 300);
}

TEST(Timeline, ATimelineThatEndsSilentHasNoFurtherOpportunity) {
  TimelineChannel channel(constant(100));
  channel.silence_from(10);
  EXPECT_EQ(channel.next_useful(3), 3U);
  EXPECT_EQ(channel.next_useful(10), UINT64_MAX);
  EXPECT_THROW(channel.resume_from(5), std::invalid_argument);
}

/// Two cells of 1-ms TTIs; UEs get 1000 bytes a TTI.
class Cells : public testing::Test, protected OneCell {
 protected:
  Cells() : OneCell(milliseconds(1)) {
    cell.add_sector(std::make_unique<RoundRobin>());
    for (int i = 0; i < 3; ++i) {
      UeConfig config;
      config.address = ue(i);
      config.queue = {Bytes(0), BufferUnit::packets, 0};
      config.channel = constant(1000);
      config.sector = i == 2 ? 1 : 0;
      cell.add_ue(std::move(config));
    }
  }
  static IpAddress ue(int i) { return address("10.45.0." + std::to_string(i + 2)); }
  void send(int i, int packets) { OneCell::send(ue(i), packets, 1000); }
  std::uint64_t carried(UeIndex i) { return cell.queue(i).counters().delivered_packets; }
};

TEST_F(Cells, EachCellHasItsOwnTtis) {
  for (int i = 0; i < 3; ++i) send(i, 100);
  loop.run_until(at_ms(20));
  EXPECT_EQ(carried(0), 10U);
  EXPECT_EQ(carried(1), 10U);
  EXPECT_EQ(carried(2), 20U) << "alone in the second";
  const LinkUse use = cell.use(at_ms(20.5));
  EXPECT_EQ(use.carried, 40'000U) << "20 TTIs in each";
  EXPECT_EQ(use.offered, 42'000U) << "and the very first, in which nothing was there yet";
}

TEST_F(Cells, AUeThatMovesSharesTheNewCell) {
  for (int i = 0; i < 3; ++i) send(i, 100);
  loop.run_until(at_ms(20));
  cell.move(0, 1);
  loop.run_until(at_ms(40));
  EXPECT_EQ(carried(0), 20U);
  EXPECT_EQ(carried(1), 30U);
  EXPECT_EQ(carried(2), 30U);
  EXPECT_THROW(cell.move(0, 2), std::invalid_argument);
}

TEST_F(Cells, AFlushDropsQueuedPackets) {
  send(0, 10);
  loop.run_until(at_ms(3));
  cell.downlink(0).flush(DropReason::handover, loop.now());
  loop.run_until(at_ms(40));
  EXPECT_EQ(carried(0), 3U);
  EXPECT_EQ(cell.queue(0).counters().dropped_packets, 7U);
  EXPECT_TRUE(cell.queue(0).empty());
}

TEST_F(Cells, PacketsOfAReleasedUeTakeTheDefaultRoute) {
  cell.set_state(0, RadioState::released);
  send(0, 2);
  EXPECT_EQ(cell.counters().dropped_no_route, 2U);
  EXPECT_TRUE(cell.queue(0).empty());
}

/// Every block is lost at first.
class Late final : public SteppedChannel {
 public:
  [[nodiscard]] double error_rate(double /*snr_db*/, std::uint8_t /*cqi*/) const override { return 1; }

 protected:
  LinkGrant step(std::uint64_t /*tti*/) override {
    LinkGrant grant;
    grant.capacity = Bytes(400);
    grant.cqi = 10;
    grant.received = false;
    grant.draw = 0.5;
    return grant;
  }
};

class Handover : public testing::Test, protected OneCell {
 protected:
  Handover() : OneCell(milliseconds(2)) {}
};

TEST_F(Handover, RlcRecoversBlocksLostByALinkReset) {
  auto timeline = std::make_unique<TimelineChannel>(std::make_unique<Late>());
  timeline->silence_from(5);
  timeline->replace_from(10, std::make_unique<ConstantChannel>(Rate::bytes_per_second(200'000), milliseconds(2)));
  UeConfig config = behind_arq(the_ue, std::move(timeline));
  config.air->rlc.status_delay = milliseconds(20);
  cell.add_ue(std::move(config));
  send(the_ue, 4, 400);
  loop.run_until(at_ms(9));
  EXPECT_EQ(cell.air(0)->in_flight(), 4U);
  cell.downlink(0).reset_link(loop.now());
  loop.run_until(at_ms(100));
  ASSERT_EQ(ues.entries.size(), 4U);
  EXPECT_EQ(ues.entries[0].at, at_ms(30)) << "9 ms and the status delay, next TTI";
  EXPECT_EQ(cell.queue(0).counters().lost_packets, 0U);
}

TEST_F(Handover, AnAbandonedLinkLosesEverythingInFlight) {
  cell.add_ue(behind_arq(the_ue, std::make_unique<Late>()));
  send(the_ue, 6, 400);
  loop.run_until(at_ms(7));
  cell.downlink(0).flush(DropReason::left, loop.now());
  EXPECT_EQ(cell.air(0)->in_flight(), 0U);
  const QueueCounters& c = cell.queue(0).counters();
  EXPECT_EQ(c.lost_packets, 3U);
  EXPECT_EQ(c.dropped_packets, 3U);
}

}  // namespace
}  // namespace sluice::emulator
