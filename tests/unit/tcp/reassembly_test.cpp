#include "dataplane/tcp/reassembly.hpp"

#include <gtest/gtest.h>

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

std::vector<Blocks> reported(const tcp::Reassembly& reassembly) {
  std::vector<Blocks> blocks;
  for (const tcp::SackBlock& block : reassembly.report().blocks()) {
    blocks.emplace_back(block.left - base, block.right - base);
  }
  return blocks;
}

TEST(Reassembly, ReportsRunsNewestFirst) {
  tcp::Reassembly reassembly;
  reassembly.insert(piece(100, 50));
  reassembly.insert(piece(300, 50));
  reassembly.insert(piece(200, 50));
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{200, 250}, {300, 350}, {100, 150}}));
  reassembly.insert(piece(250, 50));  // joins two
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{200, 350}, {100, 150}}));
  reassembly.insert(piece(400, 10));
  reassembly.insert(piece(500, 10));
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{500, 510}, {400, 410}, {200, 350}}));
  reassembly.insert(piece(150, 10));  // extends one that had been forgotten
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{100, 160}, {500, 510}, {400, 410}}));
  reassembly.clear();
}

TEST(Reassembly, ADuplicateGoesFirstAndOnce) {
  tcp::Reassembly reassembly;
  reassembly.insert(piece(100, 50));
  reassembly.insert(piece(120, 60));
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{120, 150}, {100, 180}}));
  reassembly.report().reported();
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{100, 180}}));
  EXPECT_EQ(reassembly.count(), 2U);
  reassembly.clear();
}

TEST(Reassembly, ALargeSegmentReplacesWhatItCovers) {
  tcp::Reassembly reassembly;
  for (std::uint32_t i = 0; i < 5; ++i) reassembly.insert(piece(100 + i * 20, 10));
  reassembly.insert(piece(95, 100));
  EXPECT_EQ(reassembly.count(), 1U);
  EXPECT_EQ(reported(reassembly), (std::vector<Blocks>{{95, 195}}));
  reassembly.clear();
}

/// Against a plain array of what has arrived.
TEST(Reassembly, AgreesWithAPlainModel) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    tcp::Reassembly reassembly;
    std::vector<bool> held(600, false);
    std::uint32_t next = 0;  // the stream position awaited
    for (int step = 0; step < 200 && next < 500; ++step) {
      const auto position = next + 1 + static_cast<std::uint32_t>(random.below(80));
      const auto count = 1 + static_cast<std::uint32_t>(random.below(random.chance(0.2) ? 60 : 12));
      if (position + count > held.size()) break;
      reassembly.insert(piece(position, count));
      for (std::uint32_t i = position; i < position + count; ++i) held[i] = true;
      ASSERT_FALSE(reassembly.report().empty());
      const tcp::SackBlock newest = reassembly.report().blocks()[reassembly.report().has_duplicate() ? 1 : 0];
      for (auto i = newest.left - base; i < newest.right - base; ++i) ASSERT_TRUE(held.at(static_cast<std::size_t>(i)));
      ASSERT_LE(newest.left - base, static_cast<std::int32_t>(position));
      ASSERT_GE(newest.right - base, static_cast<std::int32_t>(position + count));
      if (!random.chance(0.2)) continue;
      next += static_cast<std::uint32_t>(random.below(40));  // bytes that came in order, or again
      while (packet::Packet packet = reassembly.take(base + next)) {
        ASSERT_EQ(packet.note().seq, (base + next).raw());
        ASSERT_EQ(packet.size(), packet.note().payload_len);
        ASSERT_EQ(packet::ones_complement_sum(packet.bytes()) % 0xffff, packet.note().payload_sum % 0xffff);
        for (const std::uint8_t byte : packet.bytes()) {
          ASSERT_TRUE(held[next]);
          ASSERT_EQ(byte, stream_byte(next));
          ++next;
        }
      }
      reassembly.report().advance(base + next);
      ASSERT_FALSE(held[next]) << "something held was not given";
    }
    reassembly.clear();
  }
}

}  // namespace
}  // namespace sluice::test
