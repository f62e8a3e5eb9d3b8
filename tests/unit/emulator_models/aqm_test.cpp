// Tests of router queues: FIFO, RED, CoDel, FQ-CoDel and round robin, with and without ECN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "emulator/aqm/codel.hpp"
#include "emulator/aqm/ecn.hpp"
#include "emulator/aqm/fifo.hpp"
#include "emulator/aqm/fq_codel.hpp"
#include "emulator/aqm/line.hpp"
#include "emulator/aqm/red.hpp"
#include "emulator/aqm/round_robin_queue.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using test::at_ms;

/// The ones' complement sum of an IPv4 header: 0xffff when its checksum is right.
std::uint32_t header_sum(const std::uint8_t* ip) {
  std::uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += static_cast<std::uint32_t>(ip[i] << 8 | ip[i + 1]);
  return (sum & 0xffff) + (sum >> 16);
}

/// A TCP frame of `size` bytes of the flow from `port`; its last byte is the port's low one.
packet::Packet of_flow(std::uint16_t port, std::size_t size = 1014, bool ecn_capable = false) {
  std::vector<std::uint8_t> bytes = test::frame_bytes(test::address("10.45.0.2"), size - 14);
  std::uint8_t* const ip = bytes.data() + 14;
  if (ecn_capable) ip[1] = 2;
  ip[9] = 6;
  ip[20] = static_cast<std::uint8_t>(port >> 8);
  ip[21] = static_cast<std::uint8_t>(port & 0xff);
  bytes.back() = static_cast<std::uint8_t>(port);
  const auto checksum = static_cast<std::uint16_t>(~header_sum(ip));
  ip[10] = static_cast<std::uint8_t>(checksum >> 8);
  ip[11] = static_cast<std::uint8_t>(checksum & 0xff);
  return test::packet_of(bytes);
}

int mark_of(const packet::Packet& packet) {
  return packet ? packet.data()[packet.size() - 1] : -1;
}

std::vector<int> drain(QueueDiscipline& queue, double ms) {
  std::vector<int> marks;
  for (packet::Packet packet = queue.dequeue(at_ms(ms)); packet; packet = queue.dequeue(at_ms(ms))) {
    marks.push_back(mark_of(packet));
  }
  return marks;
}

void expect_balance(const QueueDiscipline& queue) {
  const DisciplineCounters& c = queue.counters();
  EXPECT_EQ(c.arrived, c.departed + c.dropped() + queue.packets());
}

TEST(Ecn, MarksEcnCapablePacketsAndKeepsTheChecksumValid) {
  packet::Packet capable = of_flow(1, 100, true);
  EXPECT_TRUE(mark_congestion(capable));
  EXPECT_EQ(capable.data()[15] & 3, 3);
  EXPECT_EQ(header_sum(capable.data() + 14), 0xffffU);
  EXPECT_TRUE(mark_congestion(capable)) << "marked already";
  EXPECT_EQ(header_sum(capable.data() + 14), 0xffffU);
  packet::Packet deaf = of_flow(1, 100, false);
  EXPECT_FALSE(mark_congestion(deaf));
  EXPECT_EQ(deaf.data()[15] & 3, 0);
  std::vector<std::uint8_t> six = test::frame_bytes(test::address("2001:db8::1"), 60);
  six[15] = 0x10;  // ECT(1)
  packet::Packet v6 = test::packet_of(six);
  EXPECT_TRUE(mark_congestion(v6));
  EXPECT_EQ(v6.data()[15] >> 4 & 3, 3);
  packet::Packet arp = test::packet_of(std::vector<std::uint8_t>(60, 0));
  EXPECT_FALSE(mark_congestion(arp));
}

TEST(Fifo, KeepsOrderAndDropsPacketsWhenFull) {
  FifoQueue queue({Bytes(0), 3});
  for (std::uint16_t i = 1; i <= 5; ++i) queue.enqueue(of_flow(i), at_ms(i));
  EXPECT_EQ(drain(queue, 10), std::vector<int>({1, 2, 3}));
  EXPECT_EQ(queue.counters().dropped_full, 2U);
  EXPECT_EQ(queue.counters().longest_wait, 9ms);
  expect_balance(queue);
  FifoQueue bytes({Bytes(1999), 0});  // of IP: a frame of 1014 is 1000
  bytes.enqueue(of_flow(1, 1014), at_ms(0));
  bytes.enqueue(of_flow(2, 1014), at_ms(0));
  bytes.enqueue(of_flow(3, 900), at_ms(0));
  EXPECT_EQ(drain(bytes, 1), std::vector<int>({1, 3}));
}

TEST(RoundRobinQueue, FlowsTakeTurnsByBytes) {
  RoundRobinQueue queue({});
  for (int i = 0; i < 6; ++i) queue.enqueue(of_flow(1, 1514), at_ms(0));
  for (int i = 0; i < 12; ++i) queue.enqueue(of_flow(2, 757), at_ms(0));
  std::map<int, int> bytes;
  for (int i = 0; i < 9; ++i) {
    packet::Packet packet = queue.dequeue(at_ms(1));
    bytes[mark_of(packet)] += packet.size();
  }
  EXPECT_EQ(bytes[1], bytes[2]);
  drain(queue, 2);
  EXPECT_EQ(queue.flows(), 0U);
  expect_balance(queue);
}

TEST(RoundRobinQueue, AFullBufferDropsTheNewestPacketOfTheLongestQueue) {
  RoundRobinQueue queue({Bytes(0), 10}, Bytes(1014));
  for (int i = 0; i < 10; ++i) queue.enqueue(of_flow(1), at_ms(0));
  for (int i = 0; i < 3; ++i) queue.enqueue(of_flow(2), at_ms(0));
  EXPECT_EQ(queue.packets(), 10U);
  EXPECT_EQ(queue.counters().dropped_full, 3U);
  EXPECT_EQ(drain(queue, 1), std::vector<int>({1, 2, 1, 2, 1, 2, 1, 1, 1, 1}));
}

RedParameters red(bool ecn) {
  RedParameters parameters;
  parameters.min_threshold = Bytes(5000);
  parameters.max_threshold = Bytes(15'000);
  parameters.bytes_per_second = 1e6;
  parameters.ecn = ecn;
  return parameters;
}

TEST(Red, NothingIsDroppedBelowMinThAndEverythingAboveMaxTh) {
  RedQueue queue({}, red(false), Random(1));
  for (int i = 0; i < 4; ++i) queue.enqueue(of_flow(1), at_ms(0));
  EXPECT_EQ(queue.counters().dropped(), 0U);
  RedParameters quick = red(false);
  quick.weight = 1;  // the average is the queue
  RedQueue full({}, quick, Random(1));
  while (full.average() < 15'000) full.enqueue(of_flow(1), at_ms(0));
  const auto before = full.counters().dropped_early;
  for (int i = 0; i < 10; ++i) full.enqueue(of_flow(1), at_ms(0));
  EXPECT_EQ(full.counters().dropped_early, before + 10);
  expect_balance(full);
}

// With p_b constant the gaps between drops are uniform up to 1/p_b (section 7 of the paper): half of that on average.
TEST(Red, ParametersOutOfRangeAreRefused) {
  const auto with = [](auto change) {
    RedParameters parameters = red(false);
    change(parameters);
    return RedQueue({}, parameters, Random(1));
  };
  EXPECT_THROW(with([](auto& p) { p.min_threshold = -1_B; }), std::invalid_argument);
  EXPECT_THROW(with([](auto& p) { p.max_threshold = p.min_threshold; }), std::invalid_argument);
  EXPECT_THROW(with([](auto& p) { p.max_probability = 0; }), std::invalid_argument);
  EXPECT_THROW(with([](auto& p) { p.max_probability = 1.001; }), std::invalid_argument);
  EXPECT_THROW(with([](auto& p) { p.weight = 0; }), std::invalid_argument);
  EXPECT_THROW(with([](auto& p) { p.weight = 1.001; }), std::invalid_argument);
  EXPECT_THROW(with([](auto& p) { p.mean_packet = 0_B; }), std::invalid_argument);
  EXPECT_THROW(with([](auto& p) { p.bytes_per_second = 0; }), std::invalid_argument);
  EXPECT_NO_THROW(with([](auto& p) {
    p.min_threshold = 0_B;
    p.max_threshold = 1_B;
    p.max_probability = 1;
    p.weight = 1;
    p.mean_packet = 1_B;
    p.bytes_per_second = 1e-9;
  }));
}

TEST(Red, GapsBetweenDropsAreUniform) {
  RedParameters parameters = red(false);
  parameters.weight = 1;  // the average is the queue
  parameters.max_probability = 0.04;
  RedQueue queue({}, parameters, Random(2));
  std::vector<int> gaps;
  int gap = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto before = queue.counters().dropped_early;
    queue.enqueue(of_flow(1, 1000), at_ms(0));
    if (queue.bytes() > Bytes(10'000)) static_cast<void>(queue.dequeue(at_ms(0)));  // ten wait: p_b = 0.02
    ++gap;
    if (queue.counters().dropped_early == before) continue;
    gaps.push_back(gap);
    gap = 0;
  }
  double sum = 0;
  for (const int g : gaps) {
    ASSERT_LE(g, 51);
    sum += g;
  }
  EXPECT_NEAR(sum / static_cast<double>(gaps.size()), 25, 1.5);
}

TEST(Red, EcnMarksBetweenTheThresholdsAndDropsAbove) {
  RedParameters parameters = red(true);
  parameters.weight = 1;
  parameters.max_probability = 1;
  RedQueue queue({}, parameters, Random(3));
  for (int i = 0; i < 200; ++i) {
    queue.enqueue(of_flow(1, 1014, true), at_ms(i));
    while (queue.bytes() > Bytes(10'000)) static_cast<void>(queue.dequeue(at_ms(i)));
  }
  EXPECT_GT(queue.counters().marked, 50U);
  EXPECT_EQ(queue.counters().dropped(), 0U);
  for (int i = 0; i < 20; ++i) queue.enqueue(of_flow(1, 1014, true), at_ms(300));
  EXPECT_GT(queue.counters().dropped_early, 0U);
  RedQueue deaf({}, parameters, Random(3));
  for (int i = 0; i < 200; ++i) {
    deaf.enqueue(of_flow(1, 1014, false), at_ms(i));
    while (deaf.bytes() > Bytes(10'000)) static_cast<void>(deaf.dequeue(at_ms(i)));
  }
  EXPECT_EQ(deaf.counters().marked, 0U);
  EXPECT_GT(deaf.counters().dropped_early, 50U);
}

TEST(Red, EcnMarksAboveTheUpperThresholdIfConfigured) {
  RedParameters parameters = red(true);
  parameters.weight = 1;
  parameters.mark_above_max = true;
  RedQueue queue({Bytes(40'000), 0}, parameters, Random(3));
  while (queue.average() < 15'000) queue.enqueue(of_flow(1, 1014, true), at_ms(0));
  const auto before = queue.counters();
  for (int i = 0; i < 10; ++i) queue.enqueue(of_flow(1, 1014, true), at_ms(0));
  EXPECT_EQ(queue.counters().marked, before.marked + 10);
  EXPECT_EQ(queue.counters().dropped(), before.dropped());
  queue.enqueue(of_flow(1, 1014, false), at_ms(0));
  EXPECT_EQ(queue.counters().dropped_early, before.dropped_early + 1) << "its sender would not know";
  for (int i = 0; i < 100; ++i) queue.enqueue(of_flow(1, 1014, true), at_ms(0));
  EXPECT_GT(queue.counters().dropped_full, 0U) << "there is no room for all that are marked";
  expect_balance(queue);
}

TEST(Red, TheAverageFallsWhileTheLineIsIdle) {
  RedParameters parameters = red(false);
  parameters.weight = 0.01;
  RedQueue queue({}, parameters, Random(4));
  for (int i = 0; i < 400; ++i) {
    queue.enqueue(of_flow(1, 500), at_ms(0));
    if (queue.bytes() > Bytes(4000)) static_cast<void>(queue.dequeue(at_ms(0)));
  }
  const double before = queue.average();
  drain(queue, 0);
  queue.enqueue(of_flow(1, 500), at_ms(100));  // 100 packets of 1000 bytes at 1 MB/s
  EXPECT_NEAR(queue.average(), before * std::pow(0.99, 100), 1);
}

/// Sends at `gap` for `length` and serves at `service`; returns when packets were dropped, ms.
std::vector<double> drops_of(QueueDiscipline& queue, Duration gap, Duration service, Duration length,
                             bool ecn = false) {
  std::vector<double> times;
  Instant next_service{service};
  for (Instant now{}; now < Instant(length); now += gap) {
    while (next_service <= now) {
      const auto before = queue.counters().dropped_early + queue.counters().marked;
      static_cast<void>(queue.dequeue(next_service));
      const auto happened = queue.counters().dropped_early + queue.counters().marked - before;
      for (std::uint64_t i = 0; i < happened; ++i) times.push_back(to_milliseconds(next_service.time_since_epoch()));
      next_service += service;
    }
    queue.enqueue(of_flow(1, 1014, ecn), now);
  }
  return times;
}

TEST(Codel, ABurstThatDrainsWithinAnIntervalIsNotDropped) {
  CodelQueue queue({}, {});
  for (int i = 0; i < 90; ++i) queue.enqueue(of_flow(1), at_ms(0));
  for (int i = 1; i <= 90; ++i) EXPECT_TRUE(queue.dequeue(at_ms(i)));
  EXPECT_EQ(queue.counters().dropped(), 0U);
}

TEST(Codel, DropIntervalsShrinkWithTheSquareRootOfTheCount) {
  CodelQueue queue({}, {});
  const auto drops = drops_of(queue, 500us, 1ms, 3s);
  ASSERT_GT(drops.size(), 8U);
  // Above target from about 11 ms on, and for an interval.
  EXPECT_NEAR(drops[0], 111, 3);
  double expected = drops[0];
  for (int i = 1; i < 8; ++i) {
    expected += 100 / std::sqrt(static_cast<double>(i));
    EXPECT_NEAR(drops[static_cast<std::size_t>(i)], expected, 1.1) << i;
  }
  expect_balance(queue);
}

TEST(Codel, MarksInsteadOfDroppingWithEcn) {
  CodelQueue queue({}, {.ecn = true});
  const auto marks = drops_of(queue, 500us, 1ms, 1s, true);
  EXPECT_GT(marks.size(), 8U);
  EXPECT_EQ(queue.counters().dropped(), 0U);
  EXPECT_EQ(queue.counters().marked, marks.size());
}

TEST(Codel, OnePacketIsNeverAStandingQueue) {
  CodelQueue queue({}, {});
  for (int i = 0; i < 100; ++i) {
    queue.enqueue(of_flow(1), at_ms(i * 50));
    EXPECT_TRUE(queue.dequeue(at_ms(i * 50 + 40)));  // each waits 40 ms, alone
  }
  EXPECT_EQ(queue.counters().dropped(), 0U);
  EXPECT_THROW(CodelQueue({}, {.target = 0ms}), std::invalid_argument);
  EXPECT_THROW(CodelQueue({}, {.interval = 0ms}), std::invalid_argument);
  EXPECT_NO_THROW(CodelQueue({}, {.target = 1ns, .interval = 1ns}));
}

TEST(FqCodel, ASparseFlowPrecedesABulkFlow) {
  FqCodelQueue queue({}, {});
  for (int i = 0; i < 50; ++i) queue.enqueue(of_flow(1, 1514), at_ms(0));
  for (int i = 0; i < 3; ++i) static_cast<void>(queue.dequeue(at_ms(0)));  // the bulk flow's queue is old now
  queue.enqueue(of_flow(2, 100), at_ms(1));
  EXPECT_EQ(mark_of(queue.dequeue(at_ms(1))), 2);
  EXPECT_EQ(mark_of(queue.dequeue(at_ms(1))), 1);
  drain(queue, 2);
  EXPECT_EQ(queue.active(), 0U);
}

TEST(FqCodel, FlowsShareByBytes) {
  FqCodelQueue queue({}, {});
  for (int i = 0; i < 40; ++i) queue.enqueue(of_flow(1, 1514), at_ms(0));
  for (int i = 0; i < 200; ++i) queue.enqueue(of_flow(2, 300), at_ms(0));
  std::map<int, int> bytes;
  for (int i = 0; i < 100; ++i) {
    packet::Packet packet = queue.dequeue(at_ms(1));
    bytes[mark_of(packet)] += packet.size();
  }
  EXPECT_NEAR(bytes[1], bytes[2], 3100);
}

TEST(FqCodel, AFullBufferDropsTheOldestPacketOfTheLongestQueue) {
  FqCodelQueue queue({Bytes(0), 20}, {});
  for (int i = 0; i < 20; ++i) queue.enqueue(of_flow(1), at_ms(i));
  queue.enqueue(of_flow(2), at_ms(20));
  EXPECT_EQ(queue.packets(), 20U);
  EXPECT_EQ(queue.counters().dropped_full, 1U);
  const auto marks = drain(queue, 21);
  EXPECT_EQ(std::count(marks.begin(), marks.end(), 2), 1);
  expect_balance(queue);
}

TEST(FqCodel, ControlsOneQueueWithoutTouchingTheOthers) {
  FqCodelQueue queue({}, {});
  Instant next_service{1ms};
  std::uint64_t sparse = 0;
  for (int i = 0; i < 8000; ++i) {
    const Instant now{i * 500us};
    while (next_service <= now) {
      sparse += mark_of(queue.dequeue(next_service)) == 2 ? 1U : 0U;
      next_service += 1ms;
    }
    queue.enqueue(of_flow(1), now);
    if (i % 40 == 0) queue.enqueue(of_flow(2, 200), now);
  }
  EXPECT_GT(queue.counters().dropped_early, 100U);
  EXPECT_GE(sparse, 198U) << "one packet every 20 ms, none lost";
  expect_balance(queue);
}

TEST(QueueLine, SendsAtItsRateAndArrivesAfterItsDelay) {
  EventLoop loop;
  test::Recorder far;
  QueueLine line(loop, Rate::bytes_per_second(1e6), 10ms, std::make_unique<FifoQueue>(QueueLimit{Bytes(0), 2}), far);
  for (std::uint16_t i = 1; i <= 5; ++i) line.receive(of_flow(i), loop.now());
  loop.run_until(at_ms(100));
  ASSERT_EQ(far.entries.size(), 3U);  // one being sent and two waiting
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(to_milliseconds(far.entries[i].at.time_since_epoch()), static_cast<double>(11 + i), 1e-3);
  }
  EXPECT_EQ(line.discipline().counters().dropped_full, 2U);
  EXPECT_THROW(QueueLine(loop, Rate(), 10ms, std::make_unique<FifoQueue>(QueueLimit{}), far), std::invalid_argument);
  const Rate slow = Rate::bits_per_second(1);
  EXPECT_THROW(QueueLine(loop, slow, -1ns, std::make_unique<FifoQueue>(QueueLimit{}), far), std::invalid_argument);
  EXPECT_THROW(QueueLine(loop, slow, 0ms, nullptr, far), std::invalid_argument);
  EXPECT_NO_THROW(QueueLine(loop, slow, 0ms, std::make_unique<FifoQueue>(QueueLimit{}), far));
}

}  // namespace
}  // namespace sluice::emulator
