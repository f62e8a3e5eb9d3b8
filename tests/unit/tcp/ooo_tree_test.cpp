// Tests of the tree of out-of-order runs against std::map, and of its depth.
#include "dataplane/tcp/ooo_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "tests/sim/tcp/random.hpp"
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr tcp::SeqNum base(0xfffff000U);  // wraps soon

/// Packets that stand for runs, by their position.
class Runs {
 public:
  void insert(std::uint32_t position) {
    packet::Packet packet = payload_packet(stream_bytes(position, 1));
    packet.note().seq = (base + position).raw();
    tree.insert(packet::Cursor(packet.buffer()));
    held.emplace(position, std::move(packet));
  }
  void erase(std::uint32_t position) {
    tree.erase(packet::Cursor(held.at(position).buffer()));
    held.erase(position);
  }
  void move(std::uint32_t position, std::uint32_t to) {
    if (const auto next = held.upper_bound(position); next != held.end() && next->first <= to) return;
    packet::Packet packet = payload_packet(stream_bytes(to, 1));
    packet.note().seq = (base + to).raw();
    tree.replace(packet::Cursor(held.at(position).buffer()), packet::Cursor(packet.buffer()));
    held.erase(position);
    held.emplace(to, std::move(packet));
  }
  void check(std::uint32_t place) const {
    const auto neighbours = tree.neighbours_of(base + place);
    const auto after = held.upper_bound(place);
    EXPECT_TRUE(neighbours.after == at(after));
    EXPECT_TRUE(neighbours.before == (after == held.begin() ? packet::Cursor() : at(std::prev(after))));
    EXPECT_TRUE(tree.first() == at(held.begin()));
  }
  [[nodiscard]] std::size_t depth() const { return depth(tree.any()); }

  tcp::OooTree tree;
  std::map<std::uint32_t, packet::Packet> held;

 private:
  [[nodiscard]] packet::Cursor at(std::map<std::uint32_t, packet::Packet>::const_iterator position) const {
    return position == held.end() ? packet::Cursor() : packet::Cursor(position->second.buffer());
  }
  static std::size_t depth(packet::Cursor top) {
    if (!top) return 0;
    return 1 + std::max(depth(packet::Cursor::from_bits(top.note().scratch64)),
                        depth(packet::Cursor::from_bits(top.note().scratch64_b)));
  }
};

/// 2 log2(n + 1).
std::size_t max_depth(std::size_t runs) {
  return 2 * std::bit_width(runs);
}

TEST(OooTree, AgreesWithAMap) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Runs runs;
    for (int step = 0; step < 1000; ++step) {
      const auto place = static_cast<std::uint32_t>(random.below(500)) * 10;
      const bool there = runs.held.contains(place);
      if (!there && random.chance(0.6)) {
        runs.insert(place);
      } else if (there && random.chance(0.8)) {
        runs.erase(place);
      } else if (there) {
        runs.move(place, place + 1 + static_cast<std::uint32_t>(random.below(9)));
      }
      runs.check(static_cast<std::uint32_t>(random.below(5000)));
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_LE(runs.depth(), max_depth(runs.held.size()));
  }
}

TEST(OooTree, StaysBalancedInAnyOrder) {
  constexpr std::uint32_t count = 4000;
  Runs upwards;
  Runs downwards;
  Runs from_both_ends;
  for (std::uint32_t i = 0; i < count; ++i) {
    upwards.insert(i);
    downwards.insert(count - i);
    from_both_ends.insert(i % 2 == 0 ? i : 2 * count - i);
  }
  for (const Runs* runs : {&upwards, &downwards, &from_both_ends}) {
    EXPECT_LE(runs->depth(), max_depth(count));
  }
  for (std::uint32_t i = 0; i < count - 30; ++i) upwards.erase(i);
  EXPECT_LE(upwards.depth(), max_depth(30));
}

}  // namespace
}  // namespace sluice::test
