// Tests of the air link with hybrid ARQ and RLC: retransmissions, lost packets and counters, in both RLC modes.
#include "emulator/cell/air_link.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "emulator/channel/hsdpa.hpp"
#include "tests/unit/emulator_models/one_cell.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using test::at_ms;
using test::behind_arq;
using test::frame;
using test::OneCell;

/// 400 bytes in every TTI; what is sent in the TTIs named is lost, whatever is combined.
class Script final : public SteppedChannel {
 public:
  explicit Script(std::set<std::uint64_t> lost) : lost_(std::move(lost)) {}
  [[nodiscard]] double error_rate(double /*snr_db*/, std::uint8_t /*cqi*/) const override { return 0.5; }

 protected:
  LinkGrant step(std::uint64_t tti) override {
    LinkGrant grant;
    grant.capacity = Bytes(400);
    grant.cqi = 15;
    grant.received = !lost_.contains(tti);
    grant.draw = grant.received ? 0.9 : 0.1;
    return grant;
  }

 private:
  std::set<std::uint64_t> lost_;
};

/// A cell of 2-ms TTIs with one UE behind hybrid ARQ.
class AirLinkTest : public testing::Test, protected OneCell {
 protected:
  AirLinkTest() : OneCell(milliseconds(2)) {}
  UeConfig config(std::set<std::uint64_t> lost, link::RlcMode mode, QueueManagement management) const {
    UeConfig config = behind_arq(the_ue, std::make_unique<Script>(std::move(lost)));
    config.queue.management = management;
    config.air->rlc.mode = mode;
    config.air->rlc.status_delay = milliseconds(50);
    return config;
  }
  void add(std::set<std::uint64_t> lost, link::RlcMode mode = link::RlcMode::acknowledged) {
    cell.add_ue(config(std::move(lost), mode, QueueManagement::none));
  }
  void send(int packets, std::size_t length = 400) { OneCell::send(the_ue, packets, length); }
};

TEST_F(AirLinkTest, TheAirLinkChangesNothingWithoutLoss) {
  add({});
  send(3);
  loop.run_until(at_ms(100));
  EXPECT_EQ(arrivals(), std::vector<double>({2, 4, 6}));
  EXPECT_EQ(cell.queue(0).counters().delivered_packets, 3U);
}

TEST_F(AirLinkTest, ALostBlockIsRetransmittedAfterTwelveMillisecondsAndBlocksTheOthers) {
  add({1});  // the block of 2 ms
  send(3);
  loop.run_until(at_ms(100));
  EXPECT_EQ(arrivals(), std::vector<double>({14, 14, 14}));
  EXPECT_EQ(cell.air(0)->counters().retransmissions, 1U);
  EXPECT_EQ(cell.tti_counters().blocks_lost, 1U);
  EXPECT_EQ(cell.air(0)->in_flight(), 0U);
}

TEST_F(AirLinkTest, ARetransmissionPrecedesNewData) {
  add({1});
  send(20);
  loop.run_until(at_ms(12.5));
  EXPECT_EQ(cell.queue(0).counters().transmitted_packets, 6U);
  loop.run_until(at_ms(14.5));
  EXPECT_EQ(cell.queue(0).counters().transmitted_packets, 6U) << "the TTI of 14 ms went to the block of 2 ms";
  EXPECT_EQ(ues.entries.size(), 6U);
}

TEST_F(AirLinkTest, InUnacknowledgedModeTheStallTimerDropsAPacketThatLostABlock) {
  add({1, 7, 13}, link::RlcMode::unacknowledged);  // 2, 14 and 26 ms
  send(3, 600);  // packets of 15 frames, blocks of 10: the lost one held two thirds of the first
  loop.run_until(at_ms(28.5));
  EXPECT_TRUE(ues.entries.empty());
  loop.run_until(at_ms(100));
  // The block behind came at 4 ms and started the timer of 25 ms.
  EXPECT_EQ(arrivals(), std::vector<double>({29, 29}));
  EXPECT_EQ(cell.queue(0).counters().lost_packets, 1U);
  EXPECT_EQ(cell.queue(0).counters().lost_bytes, 600U);
}

TEST_F(AirLinkTest, InAcknowledgedModeALostBlockIsRetransmitted) {
  add({1, 7, 13});
  send(3, 600);
  loop.run_until(at_ms(300));
  // Noticed at 29 ms, sent again 50 ms later, in the TTI of 80 ms.
  EXPECT_EQ(arrivals(), std::vector<double>({80, 80, 80}));
  EXPECT_EQ(cell.air(0)->counters().repeated, 400U);
  EXPECT_EQ(cell.queue(0).counters().lost_packets, 0U);
}

TEST_F(AirLinkTest, ALossAtTheEndIsDetectedByThePoll) {
  add({1, 7, 13});
  send(1);
  loop.run_until(at_ms(1000));
  // Given up at 26 ms, polled 200 ms later, status 50 ms, next TTI.
  EXPECT_EQ(arrivals(), std::vector<double>({276}));
}

TEST_F(AirLinkTest, CountersAddUp) {
  std::set<std::uint64_t> lost;
  Random random(1);
  for (std::uint64_t tti = 0; tti < 5000; ++tti) {
    if (random.chance(0.4)) lost.insert(tti);
  }
  add(std::move(lost), link::RlcMode::unacknowledged);
  for (int i = 0; i < 200; ++i) {
    send(3, 100 + random.below(900));
    loop.run_until(loop.now() + milliseconds(20));
  }
  loop.run_until(at_ms(9000));
  const QueueCounters& c = cell.queue(0).counters();
  EXPECT_EQ(c.arrived_packets, 600U);
  EXPECT_EQ(c.delivered_packets + c.lost_packets, 600U);
  EXPECT_EQ(c.delivered_bytes + c.lost_bytes, c.arrived_bytes);
  EXPECT_GT(c.lost_packets, 20U);
  EXPECT_EQ(ues.entries.size(), c.delivered_packets);
  const AirLinkCounters& air = cell.air(0)->counters();
  EXPECT_EQ(air.received + air.given_up, air.blocks);
  EXPECT_EQ(cell.air(0)->in_flight(), 0U);
}

/// Sums what the observer reports.
class Totals final : public CellObserver {
 public:
  void on_departure(UeIndex, const packet::Packet&, Bytes, Duration, Instant) override { ++departed; }
  void on_drop(UeIndex, const packet::Packet&, Bytes length, DropReason reason, Instant) override {
    early += reason == DropReason::early ? 1U : 0U;
    ++dropped;
    dropped_bytes += static_cast<std::uint64_t>(length.count());
  }
  std::uint64_t departed = 0;
  std::uint64_t dropped = 0;
  std::uint64_t early = 0;
  std::uint64_t dropped_bytes = 0;
};

TEST_F(AirLinkTest, CodelDropsOnlyPacketsThatWereNeverTransmitted) {
  for (const QueueManagement management : {QueueManagement::codel, QueueManagement::fq_codel}) {
    SCOPED_TRACE(static_cast<int>(management));
    std::set<std::uint64_t> lost;
    Random random(1);
    for (std::uint64_t tti = 0; tti < 5000; ++tti) {
      if (random.chance(0.3)) lost.insert(tti);
    }
    OneCell managed(milliseconds(2));
    Totals totals;
    managed.cell.set_observer(&totals);
    managed.cell.add_ue(config(std::move(lost), link::RlcMode::acknowledged, management));
    for (int i = 0; i < 1000; ++i) {
      managed.cell.receive(frame(the_ue, 300 + random.below(700)), managed.loop.now());
      managed.loop.run_until(managed.loop.now() + milliseconds(2));  // about as much again as the link carries
    }
    managed.loop.run_until(at_ms(30'000));
    const QueueCounters& c = managed.cell.queue(0).counters();
    EXPECT_GT(c.early_packets, 20U);
    EXPECT_EQ(c.early_packets, c.dropped_packets);
    EXPECT_EQ(c.delivered_packets + c.dropped_packets, 1000U);
    EXPECT_EQ(c.delivered_bytes + c.dropped_bytes, c.arrived_bytes);
    EXPECT_EQ(c.lost_packets, 0U);
    EXPECT_EQ(managed.cell.air(0)->in_flight(), 0U);
    EXPECT_GT(managed.cell.air(0)->counters().retransmissions, 100U);
    EXPECT_EQ(managed.ues.entries.size(), c.delivered_packets);
    EXPECT_EQ(totals.departed, c.delivered_packets);
    EXPECT_EQ(totals.dropped, c.dropped_packets);
    EXPECT_EQ(totals.early, c.early_packets);
    EXPECT_EQ(totals.dropped_bytes, c.dropped_bytes);
  }
}

/// A UE that never runs dry, on a real channel: the air is used wholly, and nothing comes out of order.
TEST_F(AirLinkTest, ABackloggedHsdpaUeUsesItsWholeLinkInOrder) {
  HsdpaParameters radio;
  radio.speed_kmh = 30;
  cell.add_ue(behind_arq(the_ue, std::make_unique<HsdpaChannel>(radio, milliseconds(2), Random(5))));
  std::uint8_t mark = 0;
  for (int i = 0; i < 400; ++i) {
    while (cell.queue(0).packets() < 50) {
      packet::Packet packet = frame(the_ue, 1000);
      packet.data()[packet.size() - 1U] = mark++;
      cell.receive(std::move(packet), loop.now());
    }
    loop.run_until(loop.now() + milliseconds(50));
  }
  ASSERT_GT(ues.entries.size(), 1000U);
  for (std::size_t i = 0; i < ues.entries.size(); ++i) {
    ASSERT_EQ(ues.entries[i].mark, static_cast<std::uint8_t>(i)) << i;
  }
  EXPECT_GT(cell.use(loop.now()).utilisation(), 0.99);
  EXPECT_LE(cell.use(loop.now()).utilisation(), 1);
  EXPECT_EQ(cell.queue(0).counters().lost_packets, 0U);
  EXPECT_GT(cell.air(0)->counters().retransmissions, 100U);
}

/// Slots that all fail: CLAMP's rule about what is dropped after n attempts.
class Deaf final : public SteppedChannel {
 protected:
  LinkGrant step(std::uint64_t /*tti*/) override {
    LinkGrant grant;
    grant.capacity = Bytes(1000);
    grant.received = false;
    return grant;
  }
};

TEST(AttemptLimit, PacketsOfABlockAreDroppedAfterNFailedAttempts) {
  OneCell slots(milliseconds(3));
  UeConfig config;
  config.address = slots.the_ue;
  config.queue = {Bytes(0), BufferUnit::packets, 0};
  config.channel = std::make_unique<Deaf>();
  config.attempts = 5;
  slots.cell.add_ue(std::move(config));
  slots.send(slots.the_ue, 4, 400);
  slots.loop.run_until(at_ms(14.9));
  EXPECT_EQ(slots.cell.queue(0).packets(), 4U);
  slots.loop.run_until(at_ms(15.1));
  EXPECT_EQ(slots.cell.queue(0).packets(), 2U) << "1000 bytes would have completed two and begun the third";
  EXPECT_EQ(slots.cell.queue(0).counters().dropped_packets, 2U);
  EXPECT_EQ(slots.cell.queue(0).counters().dropped_bytes, 800U);
  EXPECT_EQ(slots.cell.queue(0).bytes(), Bytes(800));
}

}  // namespace
}  // namespace sluice::emulator
