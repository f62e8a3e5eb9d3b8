#include "dataplane/flow/flow_table.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace sluice::flow {
namespace {

FlowKey key(std::uint32_t number) {
  FlowKey result;
  result.ue = IpAddress::v4(10, 45, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number));
  result.server = IpAddress::v4(198, 51, 100, 7);
  result.ue_port = static_cast<std::uint16_t>(40000 + (number >> 16));
  result.server_port = 443;
  return result;
}

TEST(FlowKey, BothDirectionsOfAConnectionHaveOneKey) {
  packet::Parsed up;
  up.src = IpAddress::v4(10, 45, 0, 2);
  up.dst = IpAddress::v4(198, 51, 100, 7);
  up.src_port = 40000;
  up.dst_port = 443;
  up.vlan[0].bits = 100 | packet::VlanTag::present;
  packet::Parsed down = up;
  std::swap(down.src, down.dst);
  std::swap(down.src_port, down.dst_port);
  EXPECT_EQ(FlowKey::from_ue(up), FlowKey::from_server(down));
  EXPECT_FALSE(FlowKey::from_ue(up) == FlowKey::from_ue(down));
  down.vlan[0].bits = 101 | packet::VlanTag::present;
  EXPECT_FALSE(FlowKey::from_ue(up) == FlowKey::from_server(down));
}

TEST(FlowKey, HashDependsOnEveryBitAndOnTheSeed) {
  const FlowKey base = key(1);
  std::set<std::uint64_t> hashes = {hash(base, 1), hash(base, 2)};
  for (std::size_t bit = 0; bit < sizeof(FlowKey) * 8; ++bit) {
    FlowKey changed = base;
    auto* const bytes = reinterpret_cast<std::uint8_t*>(&changed);
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
    EXPECT_TRUE(hashes.insert(hash(changed, 1)).second) << bit;
  }
}

TEST(FlowKey, LowHashBitsOfNeighbouringKeysSpread) {
  // 64 Ki sequential connections into 64 Ki buckets: as with random numbers, about 63 % of the buckets are hit.
  std::vector<bool> hit(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) hit[hash(key(i), 99) % 65536] = true;
  const auto count = std::count(hit.begin(), hit.end(), true);
  EXPECT_NEAR(static_cast<double>(count) / 65536, 0.632, 0.02);
}

TEST(FlowTable, FindsWhatWasEntered) {
  FlowTable table(100, 1);
  EXPECT_EQ(table.find(key(1)), no_flow);
  EXPECT_TRUE(table.insert(key(1), 42));
  EXPECT_EQ(table.find(key(1)), 42U);
  EXPECT_EQ(table.key_of(42), key(1));
  EXPECT_EQ(table.find(key(2)), no_flow);
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.erase(key(1)), 42U);
  EXPECT_EQ(table.erase(key(1)), no_flow);
  EXPECT_EQ(table.find(key(1)), no_flow);
  EXPECT_EQ(table.size(), 0U);
}

TEST(FlowTable, RefusesDuplicatesAndOverflow) {
  FlowTable table(3, 1);
  EXPECT_TRUE(table.insert(key(0), 0));
  EXPECT_FALSE(table.insert(key(0), 1));
  EXPECT_EQ(table.find(key(0)), 0U);
  EXPECT_TRUE(table.insert(key(1), 1));
  EXPECT_TRUE(table.insert(key(2), 2));
  EXPECT_FALSE(table.insert(key(3), 0));
  EXPECT_EQ(table.erase(key(1)), 1U);
  EXPECT_TRUE(table.insert(key(3), 1));
}

TEST(FlowTable, RefusesImpossibleCapacities) {
  EXPECT_THROW(FlowTable(0, 1), std::invalid_argument);
  EXPECT_THROW(FlowTable(0x40000001U, 1), std::invalid_argument);
}

TEST(FlowTable, AgreesWithAMapUnderRandomChanges) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::mt19937 random(seed);
    constexpr std::uint32_t capacity = 500;
    FlowTable table(capacity, seed);
    std::map<std::uint32_t, FlowIndex> model;
    std::vector<FlowIndex> free_indices;
    for (std::uint32_t i = 0; i < capacity; ++i) free_indices.push_back(i);
    for (int step = 0; step < 100000; ++step) {
      const auto number = static_cast<std::uint32_t>(random() % 800);
      const auto known = model.find(number);
      ASSERT_EQ(table.find(key(number)), known == model.end() ? no_flow : known->second) << seed << " " << step;
      if (known != model.end() && random() % 2 == 0) {
        ASSERT_EQ(table.erase(key(number)), known->second);
        free_indices.push_back(known->second);
        model.erase(known);
      } else if (known == model.end() && !free_indices.empty()) {
        ASSERT_TRUE(table.insert(key(number), free_indices.back()));
        model[number] = free_indices.back();
        free_indices.pop_back();
      }
      ASSERT_EQ(table.size(), model.size());
    }
  }
}

TEST(FlowTable, ABurstFindsWhatSingleLookupsFind) {
  FlowTable table(4096, 7);
  for (std::uint32_t i = 0; i < 4096; i += 2) ASSERT_TRUE(table.insert(key(i), i));
  for (const std::size_t burst : {0U, 1U, 31U, 32U, 33U, 100U}) {
    std::vector<FlowKey> keys;
    for (std::uint32_t i = 0; i < burst; ++i) keys.push_back(key(i * 37 % 5000));
    std::vector<FlowIndex> found(burst);
    table.lookup_burst(keys, found);
    for (std::size_t i = 0; i < burst; ++i) EXPECT_EQ(found[i], table.find(keys[i])) << i;
  }
}

TEST(FlowTable, ALargeLimitCostsNothingUntilItIsUsed) {
  FlowTable table(1U << 28U, 1);  // 15 GiB of address space
  EXPECT_TRUE(table.insert(key(5), (1U << 28U) - 1));
  EXPECT_EQ(table.find(key(5)), (1U << 28U) - 1);
}

}  // namespace
}  // namespace sluice::flow
