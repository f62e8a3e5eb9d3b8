// Tests of the radio queue of one UE: opportunities, packets in parts, frames and counters.
#include "emulator/cell/ue_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "emulator/cell/backlog_sum.hpp"
#include "emulator/random.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using test::at_ms;

packet::Packet any_packet() {
  return sluice::test::pool().allocate();
}

/// Serves and returns the lengths of the packets that left.
std::vector<std::int64_t> serve(UeQueue& queue, std::int64_t grant, double ms) {
  std::vector<std::int64_t> left;
  static_cast<void>(
      queue.serve(Bytes(grant), at_ms(ms), [&](const Departed& departed) { left.push_back(departed.length.count()); }));
  return left;
}

using Lengths = std::vector<std::int64_t>;

TEST(UeQueue, SmallPacketsShareAnOpportunity) {
  UeQueue queue({Bytes(0), BufferUnit::packets, 0});
  for (int i = 0; i < 4; ++i) queue.push(any_packet(), Bytes(500), at_ms(0));
  EXPECT_EQ(serve(queue, 1500, 1), Lengths({500, 500, 500}));
  EXPECT_EQ(queue.packets(), 1U);
}

TEST(UeQueue, ARemainderLeavesWithItsLastByteInALaterOpportunity) {
  UeQueue queue({Bytes(0), BufferUnit::packets, 0});
  queue.push(any_packet(), Bytes(1000), at_ms(0));
  queue.push(any_packet(), Bytes(1000), at_ms(0));
  EXPECT_EQ(serve(queue, 1500, 1), Lengths({1000}));
  EXPECT_EQ(queue.bytes(), Bytes(500));
  EXPECT_EQ(serve(queue, 499, 2), Lengths({}));
  EXPECT_EQ(serve(queue, 1, 3), Lengths({1000}));
  EXPECT_TRUE(queue.empty());
}

TEST(UeQueue, UnusedBytesAreLost) {
  UeQueue queue({Bytes(0), BufferUnit::packets, 0});
  queue.push(any_packet(), Bytes(100), at_ms(0));
  EXPECT_EQ(serve(queue, 1500, 1), Lengths({100}));
  queue.push(any_packet(), Bytes(1600), at_ms(1));
  EXPECT_EQ(serve(queue, 1500, 2), Lengths({}));
  EXPECT_EQ(queue.counters().carried, 1600U);
}

TEST(BacklogSum, EqualsTheSumOfAllQueues) {
  QueueConfig codel{Bytes(0), BufferUnit::bytes, 20'000};
  codel.management = QueueManagement::codel;
  std::array<UeQueue, 3> queues{UeQueue({}), UeQueue({Bytes(0), BufferUnit::packets, 20}), UeQueue(codel)};
  BacklogSum sum;
  for (UeQueue& queue : queues) sum.add(queue);
  Random random(3);
  for (int ms = 0; ms < 2000; ++ms) {
    UeQueue& queue = queues[random.below(queues.size())];
    if (random.chance(0.6)) {
      queue.push(any_packet(), Bytes(static_cast<std::int64_t>(1 + random.below(1500))), at_ms(ms));
    } else {
      static_cast<void>(serve(queue, static_cast<std::int64_t>(random.below(4000)), ms + 0.5));
    }
    if (random.chance(0.01)) queue.clear(at_ms(ms), IgnoreDropped{});
    Backlog expected;
    for (const UeQueue& each : queues) {
      expected.add(each.air_bytes(), each.frames_or_packets(), each.short_head());
    }
    ASSERT_EQ(sum.sum(), expected) << ms;
    ASSERT_EQ(queue.empty(), queue.packets() == 0);
  }
}

TEST(UeQueue, APacketThatArrivesAtAnOpportunityMissesIt) {
  UeQueue queue({Bytes(0), BufferUnit::packets, 0});
  queue.push(any_packet(), Bytes(100), at_ms(1));
  EXPECT_FALSE(queue.ready(at_ms(1)));
  EXPECT_EQ(serve(queue, 1500, 1), Lengths({}));
  EXPECT_EQ(serve(queue, 1500, 2), Lengths({100}));
}

TEST(UeQueue, ThePacketInTransitDoesNotCountInPacketsAndBytes) {
  for (const auto& [unit, limit] : {std::pair{BufferUnit::packets, 2}, std::pair{BufferUnit::bytes, 3000}}) {
    UeQueue queue({Bytes(0), unit, static_cast<std::uint64_t>(limit)});
    EXPECT_TRUE(queue.push(any_packet(), Bytes(1500), at_ms(0)));
    EXPECT_TRUE(queue.push(any_packet(), Bytes(1500), at_ms(0)));
    EXPECT_FALSE(queue.push(any_packet(), Bytes(1500), at_ms(0)));
    EXPECT_EQ(serve(queue, 1, 1), Lengths({}));
    EXPECT_TRUE(queue.push(any_packet(), Bytes(1500), at_ms(1)));
    EXPECT_FALSE(queue.push(any_packet(), Bytes(1500), at_ms(1)));
  }
}

TEST(UeQueue, FramesArePaddedAndCountedUntilSent) {
  UeQueue queue({Bytes(40), BufferUnit::frames, 26});
  EXPECT_TRUE(queue.push(any_packet(), Bytes(512), at_ms(0)));  // the paper's packet: 13 frames
  EXPECT_EQ(queue.frames(), 13U);
  EXPECT_EQ(queue.air_bytes(), Bytes(520));
  EXPECT_EQ(queue.bytes(), Bytes(512));
  EXPECT_TRUE(queue.push(any_packet(), Bytes(512), at_ms(0)));
  EXPECT_FALSE(queue.push(any_packet(), Bytes(1), at_ms(0)));
  EXPECT_EQ(serve(queue, 39, 1), Lengths({}));
  EXPECT_EQ(queue.frames(), 26U);  // one frame partly sent
  EXPECT_EQ(serve(queue, 1, 2), Lengths({}));
  EXPECT_EQ(queue.frames(), 25U);
  EXPECT_TRUE(queue.push(any_packet(), Bytes(40), at_ms(2)));
  EXPECT_EQ(serve(queue, 479, 3), Lengths({}));  // 519 of 520: the padding is sent, too
  EXPECT_EQ(queue.bytes(), Bytes(512 + 40));
  EXPECT_EQ(serve(queue, 1, 4), Lengths({512}));
  EXPECT_EQ(queue.counters().carried, 520U);
  EXPECT_EQ(queue.counters().transmitted_bytes, 512U);
  EXPECT_EQ(queue.buffer(), Bytes(1040));
}

TEST(UeQueue, ABufferInPacketsHoldsThatManyFullPackets) {
  QueueConfig config{Bytes(0), BufferUnit::packets, 20};
  EXPECT_EQ(UeQueue(config).buffer(), Bytes(30'000));
  config.packet = Bytes(1000);
  EXPECT_EQ(UeQueue(config).buffer(), Bytes(20'000));
}

TEST(UeQueue, ReportsHowLongAPacketWaited) {
  UeQueue queue({Bytes(0), BufferUnit::packets, 0});
  queue.push(any_packet(), Bytes(2000), at_ms(1.25));
  std::vector<Duration> waits;
  const auto record = [&](const Departed& departed) { waits.push_back(departed.queueing); };
  queue.serve(Bytes(1500), at_ms(2), record);
  queue.serve(Bytes(1500), at_ms(7), record);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0], std::chrono::microseconds(5750));
}

TEST(UeQueue, RefusesFramesWithoutASize) {
  EXPECT_THROW(UeQueue({Bytes(0), BufferUnit::frames, 10}), std::invalid_argument);
  EXPECT_THROW(UeQueue({Bytes(-1), BufferUnit::packets, 10}), std::invalid_argument);
}

TEST(UeQueue, CountersAlwaysBalance) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const auto unit = static_cast<BufferUnit>(random.below(3));
    QueueConfig config{Bytes(40), unit, unit == BufferUnit::bytes ? 20'000U : 40U};
    config.management = static_cast<QueueManagement>(random.below(3));
    config.drop = static_cast<DropPolicy>(random.below(2));
    UeQueue queue(config);
    Bytes used;
    for (int step = 0; step < 2000; ++step) {
      if (random.chance(0.5)) queue.push(any_packet(), Bytes(1 + random.below(1500)), at_ms(step));
      used += queue.serve(Bytes(random.below(1200)), at_ms(step),
                          [&](Departed departed) { queue.delivered(departed.length); });
      const auto nobody = [](const packet::Packet&, Bytes) {};
      if (random.chance(0.01)) queue.discard(Bytes(random.below(3000)), at_ms(step), nobody);
      if (random.chance(0.001)) queue.clear(at_ms(step), nobody);
      const QueueCounters& c = queue.counters();
      const auto queued = static_cast<std::uint64_t>(queue.bytes().count());
      ASSERT_EQ(c.arrived_bytes, c.transmitted_bytes + c.dropped_bytes + queued) << "seed " << seed;
      ASSERT_EQ(c.arrived_packets, c.transmitted_packets + c.dropped_packets + queue.packets()) << "seed " << seed;
      ASSERT_EQ(c.delivered_packets, c.transmitted_packets) << "seed " << seed;
      ASSERT_LE(c.early_packets, config.management == QueueManagement::none ? 0 : c.dropped_packets) << "seed " << seed;
      ASSERT_LE(c.delivered_bytes, c.transmitted_bytes) << "seed " << seed;
      ASSERT_EQ(c.carried, static_cast<std::uint64_t>(used.count())) << "seed " << seed;
      ASSERT_EQ(queue.empty(), queue.air_bytes() == Bytes(0)) << "seed " << seed;
    }
    EXPECT_GT(queue.counters().dropped_packets + queue.counters().delivered_packets, 0U);
  }
}

TEST(UeQueue, AbandonedPacketsAreDroppedAndPartlySentOnesStay) {
  UeQueue queue({Bytes(0), BufferUnit::packets, 0});
  for (int i = 0; i < 3; ++i) queue.push(test::frame(test::address("10.45.0.2"), 400), Bytes(400), Instant());
  const auto never_departs = [](const Departed&) { FAIL(); };
  queue.serve(Bytes(100), test::at_ms(1), never_departs);
  std::vector<Bytes> dropped;
  queue.discard(Bytes(750), test::at_ms(2), [&](const packet::Packet&, Bytes length) { dropped.push_back(length); });
  EXPECT_EQ(dropped, std::vector<Bytes>({Bytes(400), Bytes(400)}));  // 300 left of the first, and the second
  const QueueCounters& c = queue.counters();
  EXPECT_EQ(c.dropped_packets, 2U);
  EXPECT_EQ(c.dropped_bytes, 700U);
  EXPECT_EQ(c.arrived_bytes, c.transmitted_bytes + c.dropped_bytes + static_cast<std::uint64_t>(queue.bytes().count()));
  EXPECT_EQ(queue.air_bytes(), Bytes(400));
}

/// Long flows get port 1 and lengths of 1000, short ones others.
class ShortFlowsFirst : public testing::Test {
 protected:
  bool push(std::uint16_t port, std::int64_t length, double ms) {
    const bool taken = queue_.push(test::segment(port, static_cast<std::size_t>(length)), Bytes(length), at_ms(ms),
                                   [this](const packet::Packet&, Bytes gone) { evicted_.push_back(gone.count()); });
    if (!taken) evicted_.pop_back();  // itself
    return taken;
  }
  QueueConfig config_{Bytes(0), BufferUnit::packets, 20, DropPolicy::tail, QueueOrder::short_flows_first, {}};
  UeQueue queue_{config_};
  Lengths evicted_;
};

TEST_F(ShortFlowsFirst, AFlowIsLongAfterFifteenThousandBytes) {
  for (int i = 0; i < 17; ++i) push(1, 1000, 0);
  push(2, 100, 0);
  // Fifteen packets of the first flow were short; the short one stands behind them and before the other two.
  EXPECT_EQ(serve(queue_, 15'000, 1), Lengths(15, 1000));
  EXPECT_TRUE(queue_.short_head());
  EXPECT_EQ(serve(queue_, 100, 1), Lengths({100}));
  EXPECT_FALSE(queue_.short_head());
  EXPECT_EQ(serve(queue_, 5000, 1), Lengths({1000, 1000}));
}

TEST_F(ShortFlowsFirst, AShortFlowEvictsTheNewestPacketsOfLongFlows) {
  for (int i = 0; i < 15; ++i) push(1, 1000, 0);
  serve(queue_, 15'000, 1);
  for (int i = 0; i < 20; ++i) push(1, 980 + i, 2);
  EXPECT_FALSE(push(1, 1000, 2)) << "long ones evict nobody";
  serve(queue_, 10, 3);  // the first long one is in transit, which makes room for one more
  EXPECT_TRUE(push(2, 100, 4));
  EXPECT_TRUE(push(2, 100, 4));
  EXPECT_EQ(evicted_, Lengths({999}));
  EXPECT_EQ(serve(queue_, 1170, 5), Lengths({980, 100, 100})) << "what is in transit goes on";
}

TEST_F(ShortFlowsFirst, AFlowIsShortAgainAfterAnIdleSecond) {
  for (int i = 0; i < 16; ++i) push(1, 1000, 0);
  push(2, 100, 0);
  serve(queue_, 17'000, 1);
  push(1, 1000, 999);
  EXPECT_FALSE(queue_.short_head());
  serve(queue_, 17'000, 1000);
  push(1, 1000, 2000);
  EXPECT_TRUE(queue_.short_head());
}

TEST_F(ShortFlowsFirst, AFlowNeverOvertakesItself) {
  for (int i = 0; i < 16; ++i) push(1, 1000, 0);
  serve(queue_, 15'000, 1);
  push(1, 999, 5000);  // silent for 5 s, but a long packet of its own still waits
  EXPECT_EQ(serve(queue_, 5000, 5001), Lengths({1000, 999}));
}

TEST(UeQueue, HeadDropEvictsTheOldestPacketNotInTransit) {
  UeQueue queue({Bytes(0), BufferUnit::packets, 2, DropPolicy::head});
  Lengths evicted;
  const auto push = [&](std::int64_t length, double ms) {
    return queue.push(any_packet(), Bytes(length), at_ms(ms),
                      [&](const packet::Packet&, Bytes gone) { evicted.push_back(gone.count()); });
  };
  push(101, 0);
  serve(queue, 1, 1);
  push(102, 2);
  push(103, 2);
  EXPECT_TRUE(push(104, 2));
  EXPECT_EQ(evicted, Lengths({102}));
  EXPECT_EQ(serve(queue, 1000, 3), Lengths({101, 103, 104}));
  const QueueCounters& c = queue.counters();
  EXPECT_EQ(c.arrived_bytes, c.transmitted_bytes + c.dropped_bytes);
}

TEST(UeQueue, OccupancyIsTheBacklogOverTime) {
  UeQueue queue({Bytes(0), BufferUnit::packets, 0});
  queue.push(any_packet(), Bytes(1000), at_ms(0));
  queue.push(any_packet(), Bytes(500), at_ms(100));
  serve(queue, 1500, 200);
  const QueueCounters c = queue.counters(at_ms(1000));
  EXPECT_EQ(c.max_air, 1500U);
  EXPECT_NEAR(c.air_seconds, 0.1 * 1000 + 0.1 * 1500, 1e-9);
}

}  // namespace
}  // namespace sluice::emulator
