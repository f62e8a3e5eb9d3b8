// Tests of the out-of-order queue and of the SACK blocks that it reports (RFC 2018, RFC 2883).
#include "dataplane/tcp/reassembly.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/sim/tcp/random.hpp"
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr tcp::SeqNum base(0xffffff80U);  // wraps soon

packet::Packet piece(std::uint32_t position, std::uint32_t count) {
  packet::Packet packet = payload_packet(stream_bytes(position, count));
  packet.note().seq = (base + position).raw();
  return packet;
}

void insert(tcp::Reassembly& reassembly, std::uint32_t position, std::uint32_t count) {
  EXPECT_TRUE(reassembly.insert(piece(position, count), {}));
}

std::vector<Blocks> reported(const tcp::Reassembly& reassembly) {
  std::vector<Blocks> blocks;
  for (const tcp::SackBlock& block : reassembly.sack_generator().blocks()) {
    blocks.emplace_back(block.left - base, block.right - base);
  }
  return blocks;
}

TEST(Reassembly, ReportsTheNewestBlockFirst) {
  tcp::Reassembly reassembly;
  insert(reassembly, 100, 50);
  insert(reassembly, 300, 50);
  insert(reassembly, 200, 50);
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{200, 250}, {300, 350}, {100, 150}}));
  insert(reassembly, 250, 50);  // joins two
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{200, 350}, {100, 150}}));
  insert(reassembly, 400, 10);
  insert(reassembly, 500, 10);
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{500, 510}, {400, 410}, {200, 350}}));
  insert(reassembly, 150, 10);  // extends a dropped one
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{100, 160}, {500, 510}, {400, 410}}));
  reassembly.clear();
}

TEST(Reassembly, ADuplicateIsReportedFirstAndOnce) {
  tcp::Reassembly reassembly;
  insert(reassembly, 100, 50);
  insert(reassembly, 120, 60);
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{120, 150}, {100, 180}}));
  reassembly.sack_generator().reported();
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{100, 180}}));
  EXPECT_EQ(reassembly.count(), 1U) << "both in one buffer";
  reassembly.clear();
}

TEST(Reassembly, ALargeSegmentReplacesTheSegmentsThatItCovers) {
  tcp::Reassembly reassembly;
  for (std::uint32_t i = 0; i < 5; ++i) insert(reassembly, 100 + i * 20, 10);
  insert(reassembly, 95, 100);
  EXPECT_EQ(reassembly.count(), 1U);
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{95, 195}}));
  reassembly.clear();
}

/// One-byte segments, each in a buffer of its own as it comes from the port.
std::uint32_t buffers_of_single_bytes(const std::vector<std::uint32_t>& positions) {
  constexpr tcp::Reassembly::Limits limits{.packets = 4096, .joined = 1448};
  tcp::Reassembly reassembly;
  std::uint32_t most = 0;
  for (const std::uint32_t position : positions) {
    static_cast<void>(reassembly.insert(piece(position, 1), limits));
    most = std::max(most, reassembly.count());
  }
  return most;
}

TEST(Reassembly, DeliveredSegmentsAreNoLongerCounted) {
  tcp::Reassembly reassembly;
  insert(reassembly, 100, 1400);
  insert(reassembly, 1500, 1400);
  insert(reassembly, 5000, 50);
  ASSERT_EQ(reassembly.count(), 3U);
  packet::Queue out;
  reassembly.take(base + 100, out);
  EXPECT_EQ(reassembly.count(), 1U);
  reassembly.take(base + 5050, out);  // it has come in another segment meanwhile
  EXPECT_EQ(reassembly.count(), 0U);
  out.clear();
}

TEST(Reassembly, SmallSegmentsShareBuffers) {
  constexpr std::uint32_t bytes = 36'864;
  std::vector<std::uint32_t> positions(bytes);
  std::iota(positions.begin(), positions.end(), 1U);
  EXPECT_EQ(buffers_of_single_bytes(positions), (bytes + 1447) / 1448);
  std::reverse(positions.begin(), positions.end());
  EXPECT_EQ(buffers_of_single_bytes(positions), (bytes + 1447) / 1448) << "backwards";
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    for (std::size_t i = positions.size() - 1; i > 0; --i) std::swap(positions[i], positions[random.below(i + 1)]);
    EXPECT_LE(buffers_of_single_bytes(positions), tcp::Reassembly::max_thin + 2 * bytes / 256) << "in any order";
  }
}

TEST(Reassembly, BuffersAreProportionalToBytes) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 0; i < 20'000; ++i) positions.push_back(1 + 2 * i);
  EXPECT_EQ(buffers_of_single_bytes(positions), tcp::Reassembly::max_thin) << "a hole behind every byte";
}

TEST(Reassembly, AFullQueueAcceptsDataThatFitsAHeldBuffer) {
  constexpr tcp::Reassembly::Limits limits{.packets = 2, .joined = 1000};
  tcp::Reassembly reassembly;
  EXPECT_TRUE(reassembly.insert(piece(10, 10), limits));
  EXPECT_TRUE(reassembly.insert(piece(40, 10), limits));
  EXPECT_FALSE(reassembly.insert(piece(60, 10), limits)) << "a third buffer";
  EXPECT_TRUE(reassembly.insert(piece(50, 10), limits)) << "behind what is held";
  EXPECT_TRUE(reassembly.insert(piece(30, 10), limits)) << "in front of it";
  EXPECT_TRUE(reassembly.insert(piece(15, 20), limits)) << "between two";
  EXPECT_EQ(reassembly.count(), 1U);
  EXPECT_FALSE(reassembly.insert(piece(61, 10), {.packets = 1})) << "a second one";
  EXPECT_TRUE(reassembly.insert(piece(5, 100), {.packets = 1})) << "in the place of all";
  EXPECT_EQ(reported(reassembly).back(), (Blocks{5, 105}));
}

/// Against a plain array of what has arrived.
TEST(Reassembly, AgreesWithAPlainModel) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    tcp::Reassembly reassembly;
    const tcp::Reassembly::Limits limits{.joined = random.chance(0.5) ? 1460U : 20U};
    std::vector<bool> held(600, false);
    std::uint32_t next = 0;  // the stream position awaited
    for (int step = 0; step < 200 && next < 500; ++step) {
      const auto position = next + 1 + static_cast<std::uint32_t>(random.below(80));
      const auto count = 1 + static_cast<std::uint32_t>(random.below(random.chance(0.2) ? 60 : 12));
      if (position + count > held.size()) break;
      ASSERT_TRUE(reassembly.insert(piece(position, count), limits));
      for (std::uint32_t i = position; i < position + count; ++i) held[i] = true;
      ASSERT_FALSE(reassembly.sack_generator().empty());
      const tcp::SackBlock newest =
          reassembly.sack_generator().blocks()[reassembly.sack_generator().has_duplicate() ? 1 : 0];
      for (auto i = newest.left - base; i < newest.right - base; ++i) ASSERT_TRUE(held.at(static_cast<std::size_t>(i)));
      ASSERT_LE(newest.left - base, static_cast<std::int32_t>(position));
      ASSERT_GE(newest.right - base, static_cast<std::int32_t>(position + count));
      if (!random.chance(0.2)) continue;
      next += static_cast<std::uint32_t>(random.below(40));  // bytes that came in order, or again
      packet::Queue ready;
      reassembly.take(base + next, ready);
      while (!ready.empty()) {
        const packet::Packet packet = ready.pop_front();
        ASSERT_EQ(packet.note().seq, (base + next).raw());
        ASSERT_EQ(packet.size(), packet.note().payload_len);
        ASSERT_EQ(packet::ones_complement_sum(packet.bytes()) % 0xffff, packet.note().payload_sum % 0xffff);
        for (const std::uint8_t byte : packet.bytes()) {
          ASSERT_TRUE(held[next]);
          ASSERT_EQ(byte, stream_byte(next));
          ++next;
        }
      }
      reassembly.sack_generator().advance(base + next);
      ASSERT_FALSE(held[next]) << "something held was not given";
    }
    reassembly.clear();
  }
}

}  // namespace
}  // namespace sluice::test
