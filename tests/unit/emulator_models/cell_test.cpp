// Tests of the cell: which packet leaves in which TTI, resource blocks, counters and invalid frames.
#include "emulator/cell/cell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulator/channel/constant.hpp"
#include "emulator/channel/trace.hpp"
#include "emulator/scheduler/scheduler.hpp"
#include "tests/unit/emulator_models/one_cell.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using test::address;
using test::at_ms;
using test::frame;
using test::OneCell;
using test::Recorder;

std::unique_ptr<Channel> replay(std::vector<std::uint32_t> lines) {
  return std::make_unique<TraceChannel>(std::make_shared<const CapacityTrace>(std::move(lines)), milliseconds(1));
}

constexpr QueueConfig unlimited{Bytes(0), BufferUnit::packets, 0};

/// A cell of 1-ms TTIs, served round robin.
class CellTest : public testing::Test, protected OneCell {
 protected:
  CellTest() : OneCell(milliseconds(1)) {}
  UeIndex add(const IpAddress& ue, std::unique_ptr<Channel> channel, const QueueConfig& queue = unlimited) {
    return cell.add_ue({ue, queue, std::move(channel), nullptr});
  }
  void send(double ms, const IpAddress& to, std::size_t length) {
    loop.run_until(at_ms(ms));
    cell.receive(frame(to, length), loop.now());
  }

  const IpAddress ue_a_ = address("10.45.0.2");
  const IpAddress ue_b_ = address("10.45.0.3");
};

TEST_F(CellTest, ServesAPacketInTheTtiOfItsOpportunity) {
  add(ue_a_, replay({4, 7, 10}));
  send(0, ue_a_, 1500);
  send(0.5, ue_a_, 1500);
  send(4, ue_a_, 1500);
  loop.run_until(at_ms(30));
  EXPECT_EQ(arrivals(), std::vector<double>({4, 7, 10}));
}

TEST_F(CellTest, APacketThatArrivesInTheTtiOfAnOpportunityMissesIt) {
  add(ue_a_, replay({4, 10}));
  send(4, ue_a_, 100);
  loop.run_until(at_ms(9.5));
  EXPECT_TRUE(arrivals().empty());
  send(9.999, ue_a_, 100);
  loop.run_until(at_ms(30));
  EXPECT_EQ(arrivals(), std::vector<double>({10, 10}));
}

TEST_F(CellTest, EachUeHasItsOwnQueueAndAddresses) {
  const UeIndex a = add(ue_a_, replay({1}));
  const UeIndex b = add(ue_b_, replay({1}));
  cell.add_address(b, address("2001:db8::3"));
  send(0, ue_a_, 300);
  send(0, ue_b_, 200);
  send(0, address("2001:db8::3"), 100);
  EXPECT_EQ(cell.queue(a).bytes(), Bytes(300));
  EXPECT_EQ(cell.queue(b).bytes(), Bytes(300));
  EXPECT_EQ(cell.active_users(), 2U);
  EXPECT_EQ(cell.find(address("2001:db8::3")), b);
  EXPECT_THROW(add(ue_a_, replay({1})), std::invalid_argument);
  EXPECT_THROW(cell.add_address(a, ue_b_), std::invalid_argument);
  EXPECT_THROW(add(address("10.45.0.9"), nullptr), std::invalid_argument);
}

TEST_F(CellTest, TheBacklogIsThatOfAllQueues) {
  add(ue_a_, replay({50}), {Bytes(40), BufferUnit::frames, 0});
  add(ue_b_, replay({50}));
  QueueConfig short_first = unlimited;
  short_first.order = QueueOrder::short_flows_first;
  const IpAddress third = address("10.45.0.4");
  add(third, replay({50}), short_first);
  add(address("10.45.0.5"), replay({50}), short_first);
  EXPECT_EQ(cell.backlog().waiting, 0U);
  send(0, ue_a_, 100);
  send(0, ue_b_, 1000);
  send(0, ue_b_, 1000);
  send(0, third, 60);
  const Backlog all = cell.backlog();
  EXPECT_EQ(all.frames, 3 + 2 + 1);
  EXPECT_EQ(all.air, Bytes(3 * 40 + 2000 + 60));
  EXPECT_EQ(all.waiting, 3U);
  EXPECT_EQ(all.short_heads, 1U);
}

TEST_F(CellTest, VlanTagsAreKeptAndPaddingDoesNotCount) {
  const UeIndex a = add(ue_a_, replay({1}));
  std::vector<std::uint8_t> bytes = test::frame_bytes(ue_a_, 46);
  bytes.insert(bytes.begin() + 12, {0x81, 0x00, 0x20, 0x07, 0x88, 0xa8, 0x00, 0x01});
  bytes.resize(90, 0);
  cell.receive(test::packet_of(bytes), loop.now());
  EXPECT_EQ(cell.queue(a).bytes(), Bytes(46));
  loop.run_until(at_ms(5));
  ASSERT_EQ(ues.entries.size(), 1U);
  EXPECT_EQ(ues.entries[0].size, 90U);
}

TEST_F(CellTest, PacketsForOtherUesTakeTheDefaultRoute) {
  add(ue_a_, replay({1}));
  send(0, address("10.45.0.77"), 100);
  cell.receive(test::packet_of(std::vector<std::uint8_t>(60, 0)), loop.now());
  EXPECT_EQ(cell.counters().unknown_destination, 1U);
  EXPECT_EQ(cell.counters().not_ip, 1U);
  EXPECT_EQ(cell.counters().dropped_no_route, 2U);
  Recorder elsewhere;
  cell.set_default_route(&elsewhere);
  send(0, address("10.45.0.77"), 100);
  EXPECT_EQ(elsewhere.entries.size(), 1U);
  EXPECT_EQ(cell.counters().dropped_no_route, 2U);
}

TEST_F(CellTest, DamagedIpHeadersAreNoIp) {
  add(ue_a_, replay({1}));
  auto longer_than_the_frame = test::frame_bytes(ue_a_, 100);
  longer_than_the_frame.resize(80);
  auto wrong_version = test::frame_bytes(ue_a_, 100);
  wrong_version[14] = 0x55;
  auto shorter_than_a_header = test::frame_bytes(ue_a_, 100);
  shorter_than_a_header[16] = 0;
  shorter_than_a_header[17] = 19;
  auto three_tags = test::frame_bytes(ue_a_, 100);
  for (int i = 0; i < 3; ++i) three_tags.insert(three_tags.begin() + 12, {0x81, 0x00, 0x00, 0x01});
  auto short_ipv6 = test::frame_bytes(address("2001:db8::1"), 100);
  short_ipv6.resize(40);
  const std::vector<std::uint8_t> empty;
  const std::vector<std::uint8_t> runt(13, 8);
  const std::vector<std::uint8_t> vlan_at_the_end{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 1, 8};
  const std::vector all{
      longer_than_the_frame, wrong_version, shorter_than_a_header, three_tags, short_ipv6, empty, runt,
      vlan_at_the_end};
  for (const auto& bytes : all) cell.receive(test::packet_of(bytes), loop.now());
  EXPECT_EQ(cell.counters().not_ip, all.size());
}

TEST_F(CellTest, ALateArrivalForAnotherUeDoesNotWaitForSleepingUes) {
  add(ue_a_, replay({50}));
  add(ue_b_, replay({5}));
  send(0, ue_a_, 100);
  send(1, ue_b_, 200);
  loop.run_until(at_ms(60));
  EXPECT_EQ(arrivals(), std::vector<double>({5, 50}));
}

TEST_F(CellTest, TtisWithNothingToDoAreNotRun) {
  add(ue_a_, replay({10}));
  send(0, ue_a_, 100);
  loop.run_until(at_ms(1000));
  EXPECT_EQ(cell.tti_counters().ttis, 1U);
  EXPECT_EQ(loop.next(), never);
  send(1000.5, ue_a_, 100);
  loop.run_until(at_ms(2000));
  EXPECT_EQ(arrivals(), std::vector<double>({10, 1010}));
  EXPECT_EQ(cell.tti_counters().ttis, 2U);
}

TEST_F(CellTest, UtilisationIsTheCarriedShareOfTheCapacity) {
  const UeIndex a = add(ue_a_, std::make_unique<ConstantChannel>(Rate::bits_per_second(8e6), milliseconds(1)));
  send(0, ue_a_, 1400);  // 1000 bytes a TTI
  loop.run_until(at_ms(10));
  const LinkUse first = cell.use(a, at_ms(10));
  EXPECT_EQ(first.ttis, 10U);
  EXPECT_EQ(first.carried, 1400U);
  EXPECT_DOUBLE_EQ(first.airtime, 2);
  EXPECT_DOUBLE_EQ(first.utilisation(), 0.14);
  for (int i = 0; i < 10; ++i) send(10, ue_a_, 1000);
  loop.run_until(at_ms(20.5));
  const LinkUse second = cell.use(a, at_ms(20.5)) - first;
  EXPECT_EQ(second.offered, second.ttis * 1000);
  EXPECT_EQ(second.carried, 10'000U);
}

TEST_F(CellTest, SharedTimeIsSplitBetweenTheUes) {
  const UeIndex a = add(ue_a_, std::make_unique<ConstantChannel>(Rate::bits_per_second(8e6), milliseconds(1)));
  const UeIndex b = add(ue_b_, std::make_unique<ConstantChannel>(Rate::bits_per_second(16e6), milliseconds(1)));
  for (int i = 0; i < 100; ++i) {
    send(0, ue_a_, 1000);
    send(0, ue_b_, 1000);
  }
  loop.run_until(at_ms(40.5));
  EXPECT_DOUBLE_EQ(cell.use(a, loop.now()).airtime, 20);
  EXPECT_DOUBLE_EQ(cell.use(b, loop.now()).airtime, 20);
  EXPECT_EQ(cell.queue(a).counters().delivered_packets, 20U);
  EXPECT_EQ(cell.queue(b).counters().delivered_packets, 40U);
}

TEST_F(CellTest, TheOfferedCapacityIsThatOfTheServedUeOrTheMean) {
  add(ue_a_, std::make_unique<ConstantChannel>(Rate::bits_per_second(8e6), milliseconds(1)));
  add(ue_b_, std::make_unique<ConstantChannel>(Rate::bits_per_second(16e6), milliseconds(1)));
  for (int i = 0; i < 10; ++i) send(0.5, ue_a_, 1000);
  for (int i = 0; i < 10; ++i) send(0.5, ue_b_, 2000);
  loop.run_until(at_ms(40.5));
  const LinkUse use = cell.use(loop.now());
  EXPECT_EQ(use.ttis, 41U);
  EXPECT_DOUBLE_EQ(use.airtime, 20);
  EXPECT_EQ(use.carried, 10U * 1000 + 10U * 2000);
  EXPECT_EQ(use.offered, use.carried + 21U * 1500) << "TTI 0 and 20 at the end belonged to nobody";
}

class ObserverOfAll final : public CellObserver {
 public:
  void on_departure(UeIndex ue, const packet::Packet& packet, Bytes length, Duration queueing, Instant now) override {
    EXPECT_EQ(ue, 0U);
    EXPECT_EQ(packet.size(), length.count() + 14);
    queueings.push_back(queueing);
    last = now;
  }
  void on_drop(UeIndex /*ue*/, const packet::Packet& packet, Bytes length, DropReason /*reason*/,
               Instant /*now*/) override {
    EXPECT_EQ(packet.size(), length.count() + 14);
    dropped += length;
  }
  std::vector<Duration> queueings;
  Bytes dropped;
  Instant last;
};

TEST_F(CellTest, TheObserverIsNotifiedOfDelaysAndDrops) {
  ObserverOfAll observer;
  cell.set_observer(&observer);
  add(ue_a_, replay({5}), {Bytes(40), BufferUnit::frames, 38});
  send(1.5, ue_a_, 1400);
  send(1.5, ue_a_, 1400);
  loop.run_until(at_ms(8));
  EXPECT_EQ(observer.queueings, std::vector<Duration>({std::chrono::microseconds(3500)}));
  EXPECT_EQ(observer.last, at_ms(5));
  EXPECT_EQ(observer.dropped, Bytes(1400));
}

/// Every block of the even TTIs is lost.
class HalfLost final : public SteppedChannel {
 protected:
  LinkGrant step(std::uint64_t tti) override {
    LinkGrant grant;
    grant.capacity = Bytes(1500);
    grant.received = tti % 2 == 1;
    return grant;
  }
};

TEST_F(CellTest, ALostBlockCostsOnlyItsTti) {
  const UeIndex a = add(ue_a_, std::make_unique<HalfLost>());
  for (int i = 0; i < 3; ++i) send(0, ue_a_, 1500);
  loop.run_until(at_ms(9.5));
  EXPECT_EQ(arrivals(), std::vector<double>({1, 3, 5}));
  EXPECT_EQ(cell.tti_counters().blocks, 5U);
  EXPECT_EQ(cell.tti_counters().blocks_lost, 2U);
  EXPECT_EQ(cell.use(a, loop.now()).offered, 5U * 1500);
}

/// A UE that answers within the same instant: what it sends comes back into the queue being served.
class Echo final : public Element {
 public:
  explicit Echo(IpAddress to) : to_(to) {}
  void receive(packet::Packet packet, Instant now) override {
    if (++count > 20) return;
    for (int i = 0; i < 3; ++i) cell->receive(frame(to_, packet.size() - 14U), now);
  }
  Cell* cell = nullptr;
  int count = 0;

 private:
  IpAddress to_;
};

TEST_F(CellTest, PacketsMayArriveWhileItServes) {
  Echo echo(ue_a_);
  Cell echoing(loop, milliseconds(1), std::make_unique<RoundRobin>(), echo);
  echo.cell = &echoing;
  echoing.add_ue({ue_a_, unlimited, replay({1}), nullptr});
  echoing.receive(frame(ue_a_, 100), loop.now());
  loop.run_until(at_ms(100));
  EXPECT_EQ(echo.count, 1 + 3 * 20);
  EXPECT_TRUE(echoing.queue(0).empty());
}

/// A cell whose TTIs of 1 ms have 10 resource blocks of 100 bytes each for everybody.
class ResourceBlocks : public testing::Test {
 protected:
  void make(std::uint32_t sharers) {
    cell_.emplace(loop_, milliseconds(1), std::make_unique<RoundRobin>(), ues_, CellResources{10, sharers});
    for (int i = 0; i < 3; ++i) {
      cell_->add_ue({address("10.45.0." + std::to_string(i + 2)), unlimited,
                     std::make_unique<ConstantChannel>(Rate::bits_per_second(8e6), milliseconds(1)), nullptr});
    }
  }
  void send(int ue, std::size_t length) {
    cell_->receive(frame(address("10.45.0." + std::to_string(ue + 2)), length), loop_.now());
  }
  [[nodiscard]] std::vector<std::int64_t> left() const {
    return {cell_->queue(0).bytes().count(), cell_->queue(1).bytes().count(), cell_->queue(2).bytes().count()};
  }

  EventLoop loop_;
  Recorder ues_;
  std::optional<Cell> cell_;
};

TEST_F(ResourceBlocks, UnusedBlocksGoToTheNextUe) {
  make(1);
  send(0, 250);
  send(1, 450);
  send(2, 1400);
  loop_.run_until(at_ms(1));
  // Three blocks, five blocks, and the two that remain.
  EXPECT_EQ(left(), std::vector<std::int64_t>({0, 0, 1200}));
  EXPECT_DOUBLE_EQ(cell_->use(2, at_ms(2)).airtime, 0.2) << "two blocks of ten";
  EXPECT_DOUBLE_EQ(cell_->use(at_ms(2)).airtime, 1);
  loop_.run_until(at_ms(2));
  EXPECT_EQ(left(), std::vector<std::int64_t>({0, 0, 200}));
}

TEST_F(ResourceBlocks, UesGetEqualSharesAndTheRestGoesToBackloggedOnes) {
  make(2);
  send(0, 1400);
  send(1, 200);
  send(2, 100);
  loop_.run_until(at_ms(1));
  // Five of ten for the first, two for the second, one for the third, and the remaining two for the first again.
  EXPECT_EQ(left(), std::vector<std::int64_t>({700, 0, 0}));
}

TEST_F(ResourceBlocks, UtilisationCountsPartsOfTtis) {
  make(1);
  for (int i = 0; i < 10; ++i) send(0, 500);
  loop_.run_until(at_ms(10));
  const LinkUse use = cell_->use(at_ms(11));
  EXPECT_EQ(use.carried, 5000U);
  EXPECT_EQ(use.offered, 11U * 1000);
}

/// Channel with TTIs of 1 ms whose capacities are listed in bytes; the last value repeats.
class Steps final : public SteppedChannel {
 public:
  explicit Steps(std::vector<int> capacities) : capacities_(std::move(capacities)) {}

 protected:
  LinkGrant step(std::uint64_t tti) override {
    LinkGrant grant;
    grant.capacity = Bytes(capacities_[std::min<std::size_t>(tti, capacities_.size() - 1)]);
    return grant;
  }

 private:
  std::vector<int> capacities_;
};

/// When packets of 400 bytes for two UEs arrive, whose links take turns in fading from 200 bytes a TTI to 50.
std::vector<double> arrivals_of_two(bool whole_packets) {
  EventLoop loop;
  Recorder ues;
  CellResources resources;
  resources.whole_packets = whole_packets;
  Cell cell(loop, milliseconds(1), make_scheduler("mci"), ues, resources);
  const IpAddress a = address("10.45.0.2");
  const IpAddress b = address("10.45.0.3");
  cell.add_ue({a, unlimited, std::make_unique<Steps>(std::vector<int>{0, 200, 50, 50, 50, 200}), nullptr});
  cell.add_ue({b, unlimited, std::make_unique<Steps>(std::vector<int>{0, 100, 100, 100, 100, 100}), nullptr});
  cell.receive(frame(a, 400), loop.now());
  cell.receive(frame(b, 400), loop.now());
  loop.run_until(at_ms(30));
  std::vector<double> times;
  for (const Recorder::Entry& entry : ues.entries) times.push_back(to_milliseconds(entry.at.time_since_epoch()));
  return times;
}

TEST(Cell, AWholePacketKeepsTheAirAndItsFirstRate) {
  // Slot by slot the second UE takes the TTIs in which the first fades: 200 + 3 × 100 + 200 + 100.
  EXPECT_EQ(arrivals_of_two(false), std::vector<double>({5, 6}));
  // Whole: two TTIs of 200, though the second would carry 50, and then four of 100.
  EXPECT_EQ(arrivals_of_two(true), std::vector<double>({2, 6}));
}

TEST(Cell, AWholePacketOfADetachedUeFreesTheAir) {
  EventLoop loop;
  Recorder ues;
  CellResources resources;
  resources.whole_packets = true;
  Cell cell(loop, milliseconds(1), make_scheduler("mci"), ues, resources);
  const UeIndex gone =
      cell.add_ue({address("10.45.0.2"), unlimited, std::make_unique<Steps>(std::vector<int>{0, 200}), nullptr});
  cell.add_ue({address("10.45.0.3"), unlimited, std::make_unique<Steps>(std::vector<int>{0, 100}), nullptr});
  cell.receive(frame(address("10.45.0.2"), 1400), loop.now());
  cell.receive(frame(address("10.45.0.3"), 400), loop.now());
  loop.run_until(at_ms(2));
  cell.detach(gone, loop.now());
  loop.run_until(at_ms(30));
  ASSERT_EQ(ues.entries.size(), 1U);
  EXPECT_EQ(ues.entries.front().at, at_ms(6)) << "four TTIs of 100 from the third on";
}

TEST(Cell, RefusesInvalidParameters) {
  EventLoop loop;
  Recorder ues;
  EXPECT_THROW(Cell(loop, milliseconds(0), std::make_unique<RoundRobin>(), ues), std::invalid_argument);
  EXPECT_THROW(Cell(loop, milliseconds(1), nullptr, ues), std::invalid_argument);
  EXPECT_THROW(Cell(loop, milliseconds(1), std::make_unique<RoundRobin>(), ues, CellResources{0, 1}),
               std::invalid_argument);
  EXPECT_THROW(Cell(loop, milliseconds(1), std::make_unique<RoundRobin>(), ues, CellResources{2, 1, true}),
               std::invalid_argument);
}

}  // namespace
}  // namespace sluice::emulator
