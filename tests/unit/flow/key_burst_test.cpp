#include "dataplane/flow/key_burst.hpp"

#include <gmock/gmock.h>

#include <array>
#include <random>

#include "tests/unit/flow/keys.hpp"

namespace sluice::flow {
namespace {

TEST(ShortKey, OfAFrameEqualsThatOfItsParsedHeaders) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    std::array<std::uint8_t, 12> wire;
    for (std::uint8_t& byte : wire) byte = static_cast<std::uint8_t>(random());
    packet::Parsed parsed;
    parsed.src = IpAddress::v4(wire[0], wire[1], wire[2], wire[3]);
    parsed.dst = IpAddress::v4(wire[4], wire[5], wire[6], wire[7]);
    parsed.src_port = static_cast<std::uint16_t>(wire[8] << 8 | wire[9]);
    parsed.dst_port = static_cast<std::uint16_t>(wire[10] << 8 | wire[11]);
    const FlowKey of_ue = FlowKey::from_ue(parsed), of_server = FlowKey::from_server(parsed);
    EXPECT_EQ(ShortKey::from_ue(wire.data()), ShortKey::of(of_ue.words()));
    EXPECT_EQ(ShortKey::from_server(wire.data()), ShortKey::of(of_server.words()));
    EXPECT_EQ(ShortKey::from_ue(wire.data()).whole(), of_ue);
    EXPECT_EQ(ShortKey::from_server(wire.data()).whole(), of_server);
  }
}

TEST(ShortKey, OfNoKeyDiffersFromThatOfEveryFrame) {
  std::array<std::uint8_t, 12> wire{};
  for (const std::uint8_t byte : {std::uint8_t{0x00}, std::uint8_t{0xff}}) {
    wire.fill(byte);
    EXPECT_FALSE(ShortKey::from_ue(wire.data()) == ShortKey::of_none());
    EXPECT_FALSE(ShortKey::from_server(wire.data()) == ShortKey::of_none());
  }
}

TEST(KeyBurst, MayBeShrunkAfterFilling) {
  KeyBurst burst;
  std::array<FlowKey, KeyBurst::most> keys;
  burst.begin(keys.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    keys.at(i) = i % 3 == 0 ? v6_key(i) : v4_key(i);
    burst.set(i, keys.at(i));
  }
  burst.shrink(20);
  ASSERT_EQ(burst.size(), 20U);
  for (std::size_t i = 0; i < burst.size(); ++i) EXPECT_EQ(burst.key(i), keys.at(i)) << i;
}

TEST(KeyBurst, StoresEveryBitOfKeysOfBothIpVersions) {
  KeyBurst burst;
  for (int round = 0; round < 2; ++round) {  // the second time the places are those of others
    for (std::size_t bit = 0; bit < sizeof(FlowKey) * 8; ++bit) {
      burst.begin(KeyBurst::most);
      std::array<FlowKey, KeyBurst::most> keys;
      for (std::uint32_t i = 0; i < keys.size(); ++i) {
        keys.at(i) = (i + bit + static_cast<std::size_t>(round)) % 3 == 0 ? v6_key(i) : v4_key(i);
        auto* const bytes = reinterpret_cast<std::uint8_t*>(&keys.at(i));
        bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
        burst.set(i, keys.at(i));
      }
      ASSERT_EQ(burst.size(), keys.size());
      for (std::size_t i = 0; i < keys.size(); ++i) {
        EXPECT_EQ(burst.key(i), keys.at(i)) << i;
        EXPECT_EQ(burst.is_long(i), !is_v4(keys.at(i).words())) << i;
      }
    }
  }
}

}  // namespace
}  // namespace sluice::flow
