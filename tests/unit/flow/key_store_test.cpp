// Tests of the compact store of flow keys of both IP versions.
#include "dataplane/flow/key_store.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "tests/unit/flow/keys.hpp"

namespace sluice::flow {
namespace {

class KeyStoreOf : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static FlowKey key(std::uint32_t number) { return GetParam() == 4 ? v4_key(number) : v6_key(number); }
};
INSTANTIATE_TEST_SUITE_P(IpVersions, KeyStoreOf, testing::Values(4, 6));

TEST_P(KeyStoreOf, StoresEveryBitOfAKey) {
  const bool v4 = GetParam() == 4;
  KeyStore store(8);
  for (std::size_t bit = 0; bit < sizeof(FlowKey) * 8; ++bit) {
    FlowKey changed = key(1);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(&changed);
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
    const bool is_long = !is_v4(changed.words());  // one of the prefix's bits makes an IPv4 address one of IPv6
    store.put(3, changed);
    EXPECT_EQ(store.get(3), changed) << bit;
    EXPECT_TRUE(store.has(3, is_long, changed)) << bit;
    EXPECT_FALSE(store.has(3, is_long, key(1))) << bit;
    store.put(3, key(1));
    EXPECT_EQ(store.get(3), key(1)) << bit;
    EXPECT_TRUE(store.has(3, !v4, key(1))) << bit;
    EXPECT_FALSE(store.has(3, !v4, changed)) << bit;
  }
}

TEST_P(KeyStoreOf, ItsViewPointsToTheEndsOfTheAddresses) {
  const std::size_t length = GetParam() == 4 ? 4 : 16;
  KeyStore store(8);
  FlowKey whole = key(0x10203);
  whole.server_port = 0x1234;
  store.put(7, whole);
  const KeyView view = store.view(7, static_cast<std::uint8_t>(GetParam()));
  EXPECT_TRUE(std::equal(view.ue_end - length, view.ue_end, whole.ue.octets.end() - length));
  EXPECT_TRUE(std::equal(view.server_end - length, view.server_end, whole.server.octets.end() - length));
  EXPECT_EQ(view.ue_port, whole.ue_port);
  EXPECT_EQ(view.server_port, 0x1234);
}

TEST(KeyStore, AnIndexHasItsNewestKeyOfEitherIpVersion) {
  constexpr std::uint32_t capacity = 200;  // more than one word of the bits that tell IPv4 from IPv6
  std::mt19937 random(1);
  KeyStore store(capacity);
  std::map<std::uint32_t, FlowKey> model;
  for (int step = 0; step < 20'000; ++step) {
    const auto index = static_cast<std::uint32_t>(random() % capacity);
    const auto number = static_cast<std::uint32_t>(random());
    const FlowKey key = random() % 2 == 0 ? v4_key(number) : v6_key(number);
    store.put(index, key);
    model[index] = key;
    const auto& [at, known] = *std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
    ASSERT_EQ(store.get(at), known) << step;
    ASSERT_TRUE(store.has(at, !is_v4(known.words()), known)) << step;
  }
}

TEST(KeyStore, KeysOfBothIpVersionsWithTheSameEndingDiffer) {
  const FlowKey v4 = v4_key(5);
  FlowKey v6 = v4;
  v6.ue.octets[0] = v6.server.octets[0] = 0x20;
  KeyStore store(2);
  store.put(0, v4);
  store.put(1, v6);
  EXPECT_FALSE(store.has(0, false, v6));
  EXPECT_FALSE(store.has(1, true, v4));
  EXPECT_EQ(store.get(0), v4);
  EXPECT_EQ(store.get(1), v6);
}

}  // namespace
}  // namespace sluice::flow
