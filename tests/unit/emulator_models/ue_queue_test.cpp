#include "emulator/cell/ue_queue.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

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

TEST(UeQueue, WhatComesInTheInstantOfAnOpportunityMissesIt) {
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

TEST(UeQueue, ReportsHowLongAPacketWaited) {
  UeQueue queue({Bytes(0), BufferUnit::packets, 0});
  queue.push(any_packet(), Bytes(2000), at_ms(1.25));
  std::vector<Duration> waits;
  const auto note = [&](const Departed& departed) { waits.push_back(departed.queueing); };
  queue.serve(Bytes(1500), at_ms(2), note);
  queue.serve(Bytes(1500), at_ms(7), note);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0], std::chrono::microseconds(5750));
}

TEST(UeQueue, RefusesFramesWithoutASize) {
  EXPECT_THROW(UeQueue({Bytes(0), BufferUnit::frames, 10}), std::invalid_argument);
  EXPECT_THROW(UeQueue({Bytes(-1), BufferUnit::packets, 10}), std::invalid_argument);
}

TEST(UeQueue, CountersAlwaysAddUp) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const auto unit = static_cast<BufferUnit>(random.below(3));
    UeQueue queue({Bytes(40), unit, unit == BufferUnit::bytes ? 20'000U : 40U});
    Bytes used;
    for (int step = 0; step < 2000; ++step) {
      if (random.chance(0.5)) queue.push(any_packet(), Bytes(1 + random.below(1500)), at_ms(step));
      used += queue.serve(Bytes(random.below(1500)), at_ms(step),
                          [&](Departed departed) { queue.delivered(departed.length); });
      const QueueCounters& c = queue.counters();
      const auto queued = static_cast<std::uint64_t>(queue.bytes().count());
      ASSERT_EQ(c.arrived_bytes, c.transmitted_bytes + c.dropped_bytes + queued) << "seed " << seed;
      ASSERT_EQ(c.arrived_packets, c.transmitted_packets + c.dropped_packets + queue.packets()) << "seed " << seed;
      ASSERT_EQ(c.delivered_packets, c.transmitted_packets) << "seed " << seed;
      ASSERT_LE(c.delivered_bytes, c.transmitted_bytes) << "seed " << seed;
      ASSERT_EQ(c.carried, static_cast<std::uint64_t>(used.count())) << "seed " << seed;
      ASSERT_EQ(queue.empty(), queue.air_bytes() == Bytes(0)) << "seed " << seed;
    }
    EXPECT_GT(queue.counters().dropped_packets + queue.counters().delivered_packets, 0U);
  }
}

TEST(UeQueue, WhatIsGivenUpIsDroppedAndWhatIsOnlyBegunStays) {
  UeQueue queue({Bytes(0), BufferUnit::packets, 0});
  for (int i = 0; i < 3; ++i) queue.push(test::frame(test::address("10.45.0.2"), 400), Bytes(400), Instant());
  const auto never_departs = [](const Departed&) { FAIL(); };
  queue.serve(Bytes(100), test::at_ms(1), never_departs);
  std::vector<Bytes> dropped;
  queue.discard(Bytes(750), test::at_ms(2), [&](Bytes length) { dropped.push_back(length); });
  EXPECT_EQ(dropped, std::vector<Bytes>({Bytes(400), Bytes(400)}));  // 300 left of the first, and the second
  const QueueCounters& c = queue.counters();
  EXPECT_EQ(c.dropped_packets, 2U);
  EXPECT_EQ(c.dropped_bytes, 700U);
  EXPECT_EQ(c.arrived_bytes, c.transmitted_bytes + c.dropped_bytes + static_cast<std::uint64_t>(queue.bytes().count()));
  EXPECT_EQ(queue.air_bytes(), Bytes(400));
}

}  // namespace
}  // namespace sluice::emulator
