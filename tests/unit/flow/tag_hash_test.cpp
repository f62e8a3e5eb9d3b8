// Tests of the tag hash with AES and with SipHash: published values, distribution and bursts.
#include "dataplane/flow/tag_hash.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "tests/unit/flow/keys.hpp"

namespace sluice::flow {
namespace {

FlowKey v6_key(std::uint32_t number) {
  FlowKey key = v4_key(number);
  key.ue = *IpAddress::parse("2001:db8::1");
  key.server = *IpAddress::parse("2001:db8:1::2");
  key.ue.octets[14] = static_cast<std::uint8_t>(number >> 8);
  key.ue.octets[15] = static_cast<std::uint8_t>(number);
  return key;
}

TEST(Aes128, EncryptsThePublishedVector) {
  if (!Aes128::is_available()) GTEST_SKIP() << "the processor has no AES";
  Aes128::Block key, plain;
  for (std::uint8_t i = 0; i < 16; ++i) {
    key.at(i) = i;
    plain.at(i) = static_cast<std::uint8_t>(i * 0x11);
  }
  // FIPS 197 appendix C.1.
  EXPECT_THAT(Aes128(key).encrypt(plain), testing::ElementsAre(0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8,
                                                               0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a));
}

/// Whether the processor's AES is used, where it has it.
class TagHashOf : public testing::TestWithParam<bool> {
 protected:
  static TagHash with(const HashKey& secret) { return TagHash(secret, GetParam()); }
  void SetUp() override {
    if (GetParam() && !Aes128::is_available()) GTEST_SKIP() << "the processor has no AES";
  }
};
INSTANTIATE_TEST_SUITE_P(WithAndWithoutAes, TagHashOf, testing::Bool());

TEST_P(TagHashOf, EveryBitOfAKeyAndOfTheSecretMatters) {
  for (const FlowKey& base : {v4_key(1), v6_key(1)}) {
    std::set<std::uint32_t> tags = {with({1, 0})(base)};
    EXPECT_TRUE(tags.insert(with({1, 1})(base)).second);
    EXPECT_TRUE(tags.insert(with({3, 0})(base)).second);
    for (std::size_t bit = 0; bit < sizeof(FlowKey) * 8; ++bit) {
      FlowKey changed = base;
      auto* const bytes = reinterpret_cast<std::uint8_t*>(&changed);
      bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
      EXPECT_TRUE(tags.insert(with({1, 0})(changed)).second) << bit;
    }
  }
}

TEST_P(TagHashOf, NeighbouringKeysAreUniformlyDistributed) {
  // 64 Ki keys into as many buckets: about 1 - 1/e of them are hit.
  const TagHash tag = with({99, 0});
  for (FlowKey (*const key)(std::uint32_t) : {v4_key, v6_key}) {
    std::vector<bool> hit(65536);
    for (std::uint32_t i = 0; i < 65536; ++i) hit[tag(key(i)) % 65536] = true;
    EXPECT_NEAR(static_cast<double>(std::count(hit.begin(), hit.end(), true)) / 65536, 0.632, 0.02);
  }
}

TEST_P(TagHashOf, ABurstEqualsSingleHashes) {
  const TagHash tag = with({5, 6});
  KeyBurst keys;
  keys.begin(KeyBurst::most);
  for (std::uint32_t i = 0; i < KeyBurst::most; ++i) keys.set(i, i % 3 == 0 ? v6_key(i / 7) : v4_key(i / 7));
  std::array<std::uint32_t, KeyBurst::most> tags;
  tag.burst(keys, tags.data());
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(tags.at(i), tag(keys.key(i))) << i;
}

TEST(TagHash, IsSipHashWithoutAes) {
  constexpr HashKey secret{7, 8};
  const TagHash tag(secret, false);
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(tag(v4_key(i)), static_cast<std::uint32_t>(hash(v4_key(i), secret)));
    EXPECT_EQ(tag(v6_key(i)), static_cast<std::uint32_t>(hash(v6_key(i), secret)));
  }
}

}  // namespace
}  // namespace sluice::flow
