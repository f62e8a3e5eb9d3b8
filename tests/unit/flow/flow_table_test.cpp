// Tests of flow keys, their keyed hash and the hash table of flows. Peers choose the keys, so probes must stay short.
#include "dataplane/flow/flow_table.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "dataplane/packet/vlan.hpp"
#include "tests/unit/flow/keys.hpp"

namespace sluice::flow {
namespace {

FlowKey key(std::uint32_t number) {
  return v4_key(number);
}

TEST(FlowKey, BothDirectionsOfAConnectionHaveOneKey) {
  packet::Parsed up;
  up.src = IpAddress::v4(10, 45, 0, 2);
  up.dst = IpAddress::v4(198, 51, 100, 7);
  up.src_port = 40000;
  up.dst_port = 443;
  up.networks[0].bits = 100 | packet::VlanTag::present;
  packet::Parsed down = up;
  std::swap(down.src, down.dst);
  std::swap(down.src_port, down.dst_port);
  EXPECT_EQ(FlowKey::from_ue(up), FlowKey::from_server(down));
  EXPECT_FALSE(FlowKey::from_ue(up) == FlowKey::from_ue(down));
  down.networks[0].bits = 101 | packet::VlanTag::present;
  EXPECT_FALSE(FlowKey::from_ue(up) == FlowKey::from_server(down));
}

/// Words whose bytes count up from zero.
template <std::size_t count>
std::array<std::uint64_t, count> counting_up() {
  std::array<std::uint64_t, count> words;
  for (std::size_t i = 0; i < count; ++i) words.at(i) = 0x0706050403020100U + i * 0x0808080808080808U;
  return words;
}

TEST(SipHash, EqualsThePublishedVectors) {
  constexpr HashKey secret{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
  // The vectors of the reference implementation: the bytes from 0 up, 0, 8, 16 and 40 of them.
  EXPECT_EQ((sip_hash<2, 4>(secret, counting_up<0>())), 0x726fdb47dd0e0e31U);
  EXPECT_EQ((sip_hash<2, 4>(secret, counting_up<1>())), 0x93f5f5799a932462U);
  EXPECT_EQ((sip_hash<2, 4>(secret, counting_up<2>())), 0x3f2acc7f57c29bdbU);
  EXPECT_EQ((sip_hash<2, 4>(secret, counting_up<5>())), 0x0e3ea96b5304a7d0U);
  EXPECT_EQ((sip_hash<1, 3>(secret, counting_up<0>())), 0xabac0158050fc4dcU);
  EXPECT_EQ((sip_hash<1, 3>(secret, counting_up<1>())), 0x369095118d299a8eU);
  EXPECT_EQ((sip_hash<1, 3>(secret, counting_up<2>())), 0xcc4fdd1a7d908b66U);
  EXPECT_EQ((sip_hash<1, 3>(secret, counting_up<5>())), 0xc1d2363299e41531U);
}

class FlowKeyOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(IpVersions, FlowKeyOf, testing::Values(4, 6));

TEST_P(FlowKeyOf, HashDependsOnEveryBitAndOnTheSecret) {
  FlowKey v6 = key(1);
  v6.ue = v6.server = *IpAddress::parse("2001:db8::1");
  const FlowKey base = GetParam() == 4 ? key(1) : v6;
  std::set<std::uint64_t> hashes = {hash(base, {1, 0}), hash(base, {2, 0})};
  EXPECT_TRUE(hashes.insert(hash(base, {1, 1})).second);
  for (std::size_t bit = 0; bit < sizeof(FlowKey) * 8; ++bit) {
    FlowKey changed = base;
    auto* const bytes = reinterpret_cast<std::uint8_t*>(&changed);
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
    EXPECT_TRUE(hashes.insert(hash(changed, {1, 0})).second) << bit;
  }
}

TEST(FlowKey, LowHashBitsOfNeighbouringKeysSpread) {
  // 64 Ki sequential connections into 64 Ki buckets: as with random numbers, about 63 % of the buckets are hit.
  std::vector<bool> hit(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) hit[hash(key(i), {99, 0}) % 65536] = true;
  const auto count = std::count(hit.begin(), hit.end(), true);
  EXPECT_NEAR(static_cast<double>(count) / 65536, 0.632, 0.02);
}

TEST(FlowTable, FindsInsertedKeys) {
  FlowTable table(100, {1, 0});
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
  FlowTable table(3, {1, 0});
  EXPECT_TRUE(table.insert(key(0), 0));
  EXPECT_FALSE(table.insert(key(0), 1));
  EXPECT_EQ(table.find(key(0)), 0U);
  EXPECT_TRUE(table.insert(key(1), 1));
  EXPECT_TRUE(table.insert(key(2), 2));
  EXPECT_FALSE(table.insert(key(3), 0));
  EXPECT_EQ(table.erase(key(1)), 1U);
  EXPECT_TRUE(table.insert(key(3), 1));
}

TEST(FlowTable, CountsTheChangesThatInvalidateLookups) {
  FlowTable table(8, HashKey{1, 2});
  const std::uint32_t before = table.changes();
  const std::uint32_t removals = table.removals();
  EXPECT_TRUE(table.insert(key(1), 1));
  EXPECT_EQ(table.changes(), before + 1);
  EXPECT_EQ(table.removals(), removals) << "what was found is still there";
  EXPECT_FALSE(table.insert(key(1), 2));
  EXPECT_EQ(table.find(key(2)), no_flow);
  EXPECT_EQ(table.erase(key(2)), no_flow);
  EXPECT_EQ(table.changes(), before + 1) << "nothing has changed";
  EXPECT_TRUE(table.reassign(key(1), 2));
  EXPECT_EQ(table.changes(), before + 2);
  EXPECT_EQ(table.removals(), removals + 1);
  EXPECT_EQ(table.erase(key(1)), 2U);
  EXPECT_EQ(table.changes(), before + 3);
  EXPECT_EQ(table.removals(), removals + 2);
  table.erase_flow(2);
  EXPECT_EQ(table.changes(), before + 3) << "it was taken out before";
}

TEST(FlowTable, RefusesImpossibleCapacities) {
  EXPECT_THROW(FlowTable(0, {1, 0}), std::invalid_argument);
  EXPECT_THROW(FlowTable(0x40000001U, {1, 0}), std::invalid_argument);
}

/// Keys of both IP versions, an index of one going to the other; few slots, so that many collide.
TEST(FlowTable, AgreesWithAMapUnderRandomChanges) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::mt19937 random(seed);
    constexpr std::uint32_t capacity = 500;
    FlowTable table(capacity, {seed, 0});
    std::map<std::uint32_t, FlowIndex> model;
    std::vector<FlowIndex> free_indices;
    for (std::uint32_t i = 0; i < capacity; ++i) free_indices.push_back(i);
    for (int step = 0; step < 100000; ++step) {
      const auto number = static_cast<std::uint32_t>(random() % 800);
      const FlowKey wanted = number % 3 == 0 ? v6_key(number) : key(number);
      const auto known = model.find(number);
      ASSERT_EQ(table.find(wanted), known == model.end() ? no_flow : known->second) << seed << " " << step;
      if (known != model.end()) {
        ASSERT_EQ(table.key_of(known->second), wanted) << seed << " " << step;
      }
      if (known != model.end() && random() % 2 == 0) {
        if (random() % 2 == 0) {
          ASSERT_EQ(table.erase(wanted), known->second);
        } else {
          table.erase_flow(known->second);
        }
        free_indices.push_back(known->second);
        model.erase(known);
      } else if (known == model.end() && !free_indices.empty()) {
        ASSERT_TRUE(table.insert(wanted, free_indices.back()));
        model[number] = free_indices.back();
        free_indices.pop_back();
      }
      ASSERT_EQ(table.size(), model.size());
    }
  }
}

TEST(FlowTable, LookupsWithATagEqualThoseWithout) {
  constexpr HashKey secret{5, 6};
  FlowTable table(100, secret);
  const FlowTable other(7, secret);
  const KeyTag tag = other.tag_of(key(1));
  EXPECT_EQ(tag, table.tag_of(key(1))) << "of one secret";
  ASSERT_TRUE(table.insert(key(1), 42, tag));
  EXPECT_FALSE(table.insert(key(1), 43, tag));
  EXPECT_EQ(table.find(key(1)), 42U);
  EXPECT_EQ(table.find(key(1), tag), 42U);
  EXPECT_EQ(table.find(key(2), tag), no_flow) << "another key";
  EXPECT_EQ(table.erase(key(1), tag), 42U);
  EXPECT_EQ(table.find(key(1)), no_flow);
}

TEST(FlowTable, KeysOfBothIpVersionsWithOneTagAreDistinct) {
  FlowTable table(100, {1, 0});
  const FlowKey v4 = key(9);
  const FlowKey v6 = v6_key(9);
  const KeyTag tag = table.tag_of(v4);  // given for both, as if they collided
  ASSERT_TRUE(table.insert(v4, 1, tag));
  EXPECT_EQ(table.find(v6, tag), no_flow);
  ASSERT_TRUE(table.insert(v6, 2, tag));
  EXPECT_EQ(table.find(v4, tag), 1U);
  EXPECT_EQ(table.find(v6, tag), 2U);
  EXPECT_EQ(table.erase(v4, tag), 1U);
  EXPECT_EQ(table.find(v6, tag), 2U) << "it has moved back";
}

TEST(FlowTable, ABurstLookupEqualsSingleLookups) {
  FlowTable table(4096, {7, 0});
  const auto of = [](std::uint32_t number) { return number % 8 == 0 ? v6_key(number) : key(number); };
  for (std::uint32_t i = 0; i < 4096; i += 2) ASSERT_TRUE(table.insert(of(i), i));
  for (const std::size_t burst : {0U, 1U, 31U, 32U}) {
    for (std::uint32_t first = 0; first < 5000; first += 32) {
      KeyBurst keys;
      keys.begin(burst);
      for (std::uint32_t i = 0; i < burst; ++i) keys.set(i, of((first + i) * 37 % 5000));
      std::vector<FlowIndex> found(burst);
      table.lookup_burst(keys, found);
      for (std::uint32_t i = 0; i < burst; ++i) {
        const std::uint32_t number = (first + i) * 37 % 5000;
        EXPECT_EQ(found[i], number % 2 == 0 && number < 4096 ? number : no_flow) << number;
      }
    }
  }
}

/// Returns keys that all hash to the slot of the first one.
std::vector<FlowKey> colliding(std::uint32_t count, std::uint32_t slots, const HashKey& secret) {
  std::vector<FlowKey> keys;
  const TagHash tag(secret);
  for (std::uint32_t i = 0; keys.size() < count; ++i) {
    if (tag(key(i)) % slots == 0) keys.push_back(key(i));
  }
  return keys;
}

TEST(FlowTable, ABurstLookupFindsDisplacedKeys) {
  constexpr HashKey secret{3, 4};
  FlowTable table(200, secret);  // 512 slots
  const std::vector<FlowKey> known = colliding(KeyBurst::most + 1, 512, secret);
  KeyBurst keys;
  keys.begin(KeyBurst::most);
  for (std::uint32_t i = 0; i < KeyBurst::most; ++i) {
    ASSERT_TRUE(table.insert(known[i], i));
    keys.set(i, known[i == 7 ? KeyBurst::most : i]);  // one that is not there
  }
  std::vector<FlowIndex> found(KeyBurst::most);
  table.lookup_burst(keys, found);
  for (std::uint32_t i = 0; i < KeyBurst::most; ++i) EXPECT_EQ(found[i], i == 7 ? no_flow : i);
}

TEST(FlowTable, AShortKeyFindsTheEntryOfItsFullKey) {
  constexpr HashKey secret{3, 4};
  FlowTable table(200, secret);  // 512 slots
  const std::vector<FlowKey> keys = colliding(4, 512, secret);
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(table.insert(keys[i], i));
  for (std::uint32_t i = 0; i < 4; ++i) {
    const ShortKey of = ShortKey::of(keys[i].words());
    EXPECT_EQ(table.tag_of(of), table.tag_of(keys[i]));
    EXPECT_EQ(table.find(of), i < 3 ? i : no_flow) << "the last one is not there";
  }
  FlowTable empty(200, secret);
  EXPECT_EQ(empty.find(ShortKey::of(keys[0].words())), no_flow);
}

TEST(FlowTable, AFlowIsErasedByItsTagWithoutItsKey) {
  FlowTable table(100, {1, 0});
  const KeyTag tag = table.tag_of(key(1));  // given for all, as if they collided
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(table.insert(key(i), i, tag));
  table.erase_flow(1, tag);
  EXPECT_EQ(table.find(key(0), tag), 0U);
  EXPECT_EQ(table.find(key(1), tag), no_flow);
  EXPECT_EQ(table.find(key(2), tag), 2U);
  table.erase_flow(1, tag);
  EXPECT_EQ(table.size(), 2U) << "it was out already";
}

TEST(FlowTable, ProbeLengthIsBounded) {
  constexpr HashKey secret{3, 4};
  FlowTable table(200, secret);  // 512 slots
  const std::vector<FlowKey> keys = colliding(FlowTable::longest_probe + 20, 512, secret);
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(table.insert(keys[i], i), i < FlowTable::longest_probe) << i;
  }
  for (std::uint32_t i = 0; i < FlowTable::longest_probe; ++i) EXPECT_EQ(table.find(keys[i]), i);
  EXPECT_EQ(table.find(keys.back()), no_flow);
  EXPECT_EQ(table.erase(keys[5]), 5U);
  EXPECT_TRUE(table.insert(keys.back(), 5)) << "into the gap";
  EXPECT_EQ(table.find(keys.back()), 5U);
  for (std::uint32_t i = 6; i < FlowTable::longest_probe; ++i) EXPECT_EQ(table.erase(keys[i]), i);
}

/// The host addresses are chosen without the secret: one word makes a factor of a multiplying hash zero, so nothing of
/// the address's other word remains in the product.
TEST(FlowKey, HostsOfAChosenPrefixDoNotCollide) {
  struct Choice {
    std::size_t fixed;
    std::uint64_t factor;
    std::size_t free;
  };
  constexpr std::uint32_t count = 1000;
  for (const Choice& choice : {Choice{1, 0x9e3779b97f4a7c15U, 0}, Choice{2, 0xc2b2ae3d27d4eb4fU, 3}}) {
    std::set<std::uint64_t> hashes;
    for (std::uint32_t i = 0; i < count; ++i) {
      FlowKey chosen = key(1);
      auto words = chosen.words();
      words.at(choice.fixed) = choice.factor;
      words.at(choice.free) = i;
      std::memcpy(static_cast<void*>(&chosen), words.data(), sizeof chosen);
      hashes.insert(hash(chosen, {0x1234U, 0x5678U}));
    }
    EXPECT_EQ(hashes.size(), count);
  }
}

TEST(FlowTable, AnExistingKeyCanGetAnotherIndex) {
  FlowTable table(100, {1, 0});
  EXPECT_FALSE(table.reassign(key(1), 5)) << "it is not there";
  ASSERT_TRUE(table.insert(key(1), 42));
  EXPECT_TRUE(table.reassign(key(1), 5));
  EXPECT_EQ(table.find(key(1)), 5U);
  EXPECT_EQ(table.key_of(5), key(1));
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.erase(key(1)), 5U);
}

TEST(FlowTable, ALargeLimitCostsNothingUntilItIsUsed) {
  FlowTable table(1U << 28U, {1, 0});  // 18 GiB of address space
  EXPECT_TRUE(table.insert(key(5), (1U << 28U) - 1));
  EXPECT_EQ(table.find(key(5)), (1U << 28U) - 1);
}

}  // namespace
}  // namespace sluice::flow
