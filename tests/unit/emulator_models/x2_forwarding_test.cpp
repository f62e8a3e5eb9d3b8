// Tests of handover between Node-Bs with X2 data forwarding: order, losses and end markers.
#include "emulator/cell/x2_forwarding.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "emulator/channel/constant.hpp"
#include "emulator/channel/timeline.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/end_marker.hpp"
#include "emulator/scheduler/round_robin.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using test::address;
using test::at_ms;
using test::frame_bytes;
using test::packet_of;
using test::Recorder;

constexpr std::size_t packet_length = 1000;
constexpr Duration line_delay = milliseconds(3);

class DropCounter final : public CellObserver {
 public:
  void on_departure(UeIndex, const packet::Packet&, Bytes, Duration, Instant) override {}
  void on_drop(UeIndex, const packet::Packet&, Bytes, DropReason reason, Instant) override { ++drops[reason]; }
  std::map<DropReason, int> drops;
};

/// A Node-B whose link carries a packet per TTI of 1 ms, in the stretches that the UE is there.
struct NodeB {
  NodeB(EventLoop& loop, Element& ues, const IpAddress& ue, bool here, const std::vector<std::uint64_t>& turns,
        QueueConfig queue = {Bytes(0), BufferUnit::packets, 0}, std::optional<AirLinkConfig> air = {})
      : cell(loop, milliseconds(1), std::make_unique<RoundRobin>(), ues) {
    auto link = std::make_unique<TimelineChannel>(
        std::make_unique<ConstantChannel>(Rate::bytes_per_second(packet_length * 1000), milliseconds(1)));
    if (!here) link->silence_from(0);
    bool there = here;
    for (const std::uint64_t turn : turns) {
      there ? link->silence_from(turn) : link->resume_from(turn);
      there = !there;
    }
    UeConfig config;
    config.address = ue;
    config.queue = queue;
    config.channel = std::move(link);
    config.air = air;
    config.here = here;
    cell.add_ue(std::move(config));
    cell.set_observer(&drops);
    port.emplace(loop, cell);
  }
  DropCounter drops;
  Cell cell;
  std::optional<X2Forwarding> port;
};

/// Two Node-Bs with a line each way. The UE begins with `a`.
class X2ForwardingTest : public testing::Test {
 protected:
  void send(X2Forwarding& port, int packets) {
    for (int i = 0; i < packets; ++i) {
      auto bytes = frame_bytes(ue_, packet_length);
      bytes.back() = ++sent_;
      port.receive(packet_of(bytes), loop_.now());
    }
  }
  void send_marker(X2Forwarding& port, std::uint32_t handover) {
    port.receive(make_end_marker(sluice::test::pool(), {0, handover}), loop_.now());
  }
  /// Numbers of the packets that reached the UE, in their order.
  std::vector<int> received() {
    std::vector<int> marks;
    for (const Recorder::Entry& entry : ues_.entries) marks.push_back(entry.mark);
    return marks;
  }
  static std::vector<int> numbers(int from, int to) {
    std::vector<int> list(static_cast<std::size_t>(to - from + 1));
    std::iota(list.begin(), list.end(), from);
    return list;
  }
  static const QueueCounters& counters(NodeB& node) { return node.cell.queue(0).counters(); }
  /// At each Node-B, at every moment.
  static void expect_consistent(NodeB& node) {
    const QueueCounters& c = counters(node);
    const auto queued = static_cast<std::uint64_t>(node.cell.queue(0).bytes().count());
    EXPECT_EQ(c.arrived_bytes, c.transmitted_bytes + c.dropped_bytes + (c.forwarded_bytes - c.recalled_bytes) + queued);
  }
  /// The UE leaves `from` at 10 ms and is with `to` at 20 ms.
  void hand_over(NodeB& from, NodeB& to, std::uint32_t number, Element* line) {
    to.port->expect(0, number, line != nullptr);
    from.port->leave(0, number, line, loop_.now());
  }
  void arrive(NodeB& from, NodeB& to) {
    from.cell.detach(0, loop_.now());
    to.cell.attach(0, loop_.now());
  }

  const IpAddress ue_ = address("10.45.0.2");
  std::uint8_t sent_ = 0;
  EventLoop loop_;
  Recorder ues_;
  NodeB a_{loop_, ues_, ue_, true, {10}};
  NodeB b_{loop_, ues_, ue_, false, {20}};
  DelayLine a_to_b_{loop_, {line_delay, {}, {}}, b_.port->neighbours()};
  DelayLine b_to_a_{loop_, {line_delay, {}, {}}, a_.port->neighbours()};
};

TEST_F(X2ForwardingTest, ForwardedPacketsPrecedeNewerOnesInOrder) {
  loop_.run_until(at_ms(4.5));
  send(*a_.port, 12);
  loop_.run_until(at_ms(10));
  hand_over(a_, b_, 1, &a_to_b_);
  send(*a_.port, 3);  // still by the old path
  EXPECT_TRUE(a_.cell.queue(0).empty());
  loop_.run_until(at_ms(20));
  arrive(a_, b_);
  send(*a_.port, 2);  // sent before the path was switched
  sent_ = 19;
  send(*b_.port, 4);  // and after it, which is faster
  EXPECT_EQ(b_.port->held(0), 4U);
  sent_ = 17;
  loop_.run_until(at_ms(21));
  send(*a_.port, 2);
  send_marker(*a_.port, 1);
  EXPECT_EQ(b_.port->held(0), 4U) << "it is on the line";
  loop_.run_until(at_ms(24));
  EXPECT_EQ(b_.port->held(0), 0U);
  sent_ = 23;
  send(*b_.port, 2);
  loop_.run_until(at_ms(60));
  EXPECT_EQ(received(), numbers(1, 25));
  EXPECT_TRUE(a_.drops.drops.empty());
  EXPECT_TRUE(b_.drops.drops.empty());
}

TEST_F(X2ForwardingTest, ForwardedPacketsAreNeitherDroppedNorCountedTwice) {
  loop_.run_until(at_ms(4.5));
  send(*a_.port, 12);
  loop_.run_until(at_ms(10));
  const std::uint64_t before = counters(a_).transmitted_bytes;
  hand_over(a_, b_, 1, &a_to_b_);
  send(*a_.port, 3);
  expect_consistent(a_);
  loop_.run_until(at_ms(20));
  arrive(a_, b_);
  expect_consistent(b_);
  send_marker(*a_.port, 1);
  loop_.run_until(at_ms(60));
  expect_consistent(a_);
  expect_consistent(b_);
  const std::uint64_t all = 15 * packet_length;
  EXPECT_EQ(counters(a_).forwarded_bytes, all - before);
  EXPECT_EQ(counters(a_).recalled_bytes, 0U);
  EXPECT_EQ(counters(b_).taken_over_bytes, counters(a_).forwarded_bytes);
  EXPECT_EQ(counters(a_).dropped_bytes + counters(b_).dropped_bytes, 0U);
  EXPECT_EQ(a_.cell.snapshot(0, loop_.now()).arrived_bytes + b_.cell.snapshot(0, loop_.now()).arrived_bytes, all);
  EXPECT_EQ(counters(a_).delivered_bytes + counters(b_).delivered_bytes, all);
}

TEST_F(X2ForwardingTest, WithoutForwardingQueuedAndLatePacketsAreDropped) {
  loop_.run_until(at_ms(4.5));
  send(*a_.port, 12);
  loop_.run_until(at_ms(10));
  const int before = static_cast<int>(ues_.entries.size());
  hand_over(a_, b_, 1, nullptr);
  send(*a_.port, 3);
  expect_consistent(a_);
  EXPECT_EQ(a_.drops.drops[DropReason::handover], 15 - before);
  EXPECT_EQ(a_.drops.drops.size(), 1U) << "for no other reason";
  loop_.run_until(at_ms(20));
  arrive(a_, b_);
  send(*b_.port, 2);
  EXPECT_EQ(b_.port->held(0), 0U) << "there is nothing to wait for";
  loop_.run_until(at_ms(60));
  std::vector<int> expected = numbers(1, before);
  expected.insert(expected.end(), {16, 17});
  EXPECT_EQ(received(), expected);
  EXPECT_EQ(counters(a_).forwarded_packets, 0U);
}

TEST_F(X2ForwardingTest, ALostEndMarkerTimesOut) {
  loop_.run_until(at_ms(10));
  hand_over(a_, b_, 1, &a_to_b_);
  loop_.run_until(at_ms(20));
  arrive(a_, b_);
  a_.port->path_switched(0, 1, loop_.now());
  b_.port->path_switched(0, 1, loop_.now());
  send(*b_.port, 2);
  loop_.run_until(loop_.now() + X2Forwarding::marker_timeout - milliseconds(1));
  EXPECT_TRUE(received().empty());
  loop_.run_until(loop_.now() + milliseconds(5));
  EXPECT_EQ(received(), numbers(1, 2));
  EXPECT_EQ(b_.port->counters().timeouts, 1U);
  EXPECT_EQ(a_.port->counters().timeouts, 0U);
}

TEST_F(X2ForwardingTest, AForeignEndMarkerReleasesNothing) {
  loop_.run_until(at_ms(10));
  hand_over(a_, b_, 1, &a_to_b_);
  send(*b_.port, 1);
  send_marker(*a_.port, 7);
  b_.port->neighbours().receive(make_end_marker(sluice::test::pool(), {0, 7}), loop_.now());
  b_.port->neighbours().receive(make_end_marker(sluice::test::pool(), {99, 1}), loop_.now());
  send_marker(*b_.port, 1);
  loop_.run_until(at_ms(15));
  EXPECT_EQ(b_.port->held(0), 1U);
}

/// The UE returns before the old path of the first handover has delivered its end marker.
TEST(HandoverBack, FollowsTheUeBack) {
  EventLoop loop;
  Recorder ues;
  const IpAddress ue = address("10.45.0.2");
  NodeB a(loop, ues, ue, true, {10, 40});
  NodeB b(loop, ues, ue, false, {20, 30});
  DelayLine a_to_b(loop, {line_delay, {}, {}}, b.port->neighbours());
  DelayLine b_to_a(loop, {line_delay, {}, {}}, a.port->neighbours());
  std::uint8_t number = 0;
  const auto send = [&](X2Forwarding& port, int packets) {
    for (int i = 0; i < packets; ++i) {
      auto bytes = frame_bytes(ue, packet_length);
      bytes.back() = ++number;
      port.receive(packet_of(bytes), loop.now());
    }
  };
  const auto move = [&](NodeB& from, NodeB& to, std::uint32_t handover, Element& line, double at, double there) {
    loop.run_until(at_ms(at));
    to.port->expect(0, handover, true);
    from.port->leave(0, handover, &line, loop.now());
    loop.run_until(at_ms(there));
    from.cell.detach(0, loop.now());
    to.cell.attach(0, loop.now());
  };
  loop.run_until(at_ms(1));
  send(*a.port, 30);
  move(a, b, 1, a_to_b, 10, 20);
  loop.run_until(at_ms(29));
  send(*b.port, 2);  // held: the end marker is still on its way to the first
  move(b, a, 2, b_to_a, 30, 40);
  a.port->receive(make_end_marker(sluice::test::pool(), {0, 1}), loop.now());
  loop.run_until(at_ms(41));
  b.port->receive(make_end_marker(sluice::test::pool(), {0, 2}), loop.now());
  send(*a.port, 3);
  EXPECT_EQ(a.port->held(0), 3U);
  loop.run_until(at_ms(120));
  ASSERT_EQ(ues.entries.size(), 35U);
  for (std::size_t i = 0; i < ues.entries.size(); ++i) EXPECT_EQ(ues.entries[i].mark, i + 1);
  EXPECT_EQ(a.cell.queue(0).counters().dropped_packets + b.cell.queue(0).counters().dropped_packets, 0U);
  EXPECT_EQ(a.cell.snapshot(0, loop.now()).arrived_bytes + b.cell.snapshot(0, loop.now()).arrived_bytes,
            35 * packet_length);
}

/// Data that has left the queue and is retransmitted on the air is forwarded first.
TEST(HandoverOfHybridArq, UnconfirmedDataIsForwardedFirst) {
  EventLoop loop;
  Recorder ues;
  const IpAddress ue = address("10.45.0.2");
  AirLinkConfig air;
  NodeB a(loop, ues, ue, true, {5}, {Bytes(40), BufferUnit::frames, 0}, air);  // silent: every block fails from there
  NodeB b(loop, ues, ue, false, {20}, {Bytes(40), BufferUnit::frames, 0}, air);
  DelayLine line(loop, {line_delay, {}, {}}, b.port->neighbours());
  loop.run_until(at_ms(1));
  for (std::uint8_t i = 1; i <= 12; ++i) {
    auto bytes = frame_bytes(ue, packet_length);
    bytes.back() = i;
    a.port->receive(packet_of(bytes), loop.now());
  }
  loop.run_until(at_ms(4.5));
  const std::size_t before = ues.entries.size();
  b.port->expect(0, 1, true);
  a.port->leave(0, 1, &line, loop.now());
  EXPECT_EQ(a.cell.air(0)->in_flight(), 0U);
  loop.run_until(at_ms(20));
  a.cell.detach(0, loop.now());
  b.cell.attach(0, loop.now());
  a.port->receive(make_end_marker(sluice::test::pool(), {0, 1}), loop.now());
  loop.run_until(at_ms(60));
  EXPECT_GT(before, 0U);
  ASSERT_EQ(ues.entries.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(ues.entries[i].mark, i + 1);
  const QueueCounters& c = a.cell.queue(0).counters();
  EXPECT_EQ(c.arrived_bytes, c.transmitted_bytes + c.forwarded_bytes - c.recalled_bytes);
  EXPECT_EQ(c.lost_packets + c.dropped_packets, 0U);
}

TEST(EndMarker, IsParsedAsItWasWritten) {
  const packet::Packet packet = make_end_marker(sluice::test::pool(), {77, 0x01020304});
  const auto marker = read_end_marker(packet.bytes());
  ASSERT_TRUE(marker);
  EXPECT_EQ(marker->ue, 77U);
  EXPECT_EQ(marker->handover, 0x01020304U);
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_FALSE(read_end_marker(packet.bytes().first(size))) << size;
  }
  EXPECT_FALSE(read_end_marker(frame_bytes(address("10.45.0.2"), 100)));
}

}  // namespace
}  // namespace sluice::emulator
