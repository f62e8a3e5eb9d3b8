// Tests of the UE-address hash in software against the Toeplitz hash of a device, because both must choose the same
// shard.
#include "dataplane/dpdk/address_hash.hpp"

#include <gmock/gmock.h>
#include <rte_thash.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "tests/unit/dpdk/frames.hpp"

namespace sluice::dpdk {
namespace {

using namespace test;

/// DPDK's own software Toeplitz over bytes at some place of a tuple, as a device would hash them.
std::uint32_t device_hash(const std::vector<std::uint8_t>& input) {
  std::vector<std::uint32_t> words(input.size() / 4);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<std::uint32_t>(input[4 * i]) << 24 | static_cast<std::uint32_t>(input[4 * i + 1]) << 16 |
               static_cast<std::uint32_t>(input[4 * i + 2]) << 8 | input[4 * i + 3];
  }
  return rte_softrss(words.data(), static_cast<std::uint32_t>(words.size()), rss_key().data());
}

TEST(AddressHash, EqualsTheHashThatADeviceComputes) {
  std::mt19937 random(11);
  for (int round = 0; round < 1000; ++round) {
    IpAddress v4 = IpAddress::v4(static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random()),
                                 static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random()));
    const std::vector<std::uint8_t> bytes(v4.octets.begin() + 12, v4.octets.end());
    std::vector<std::uint8_t> as_destination(4, 0);
    as_destination.insert(as_destination.end(), bytes.begin(), bytes.end());
    ASSERT_EQ(address_hash(v4), device_hash(bytes));
    ASSERT_EQ(address_hash(v4), device_hash(as_destination)) << "an address left out hashes as zero";

    IpAddress v6;
    for (std::uint8_t& octet : v6.octets) octet = static_cast<std::uint8_t>(random());
    ASSERT_EQ(address_hash(v6), device_hash({v6.octets.begin(), v6.octets.end()}));
  }
}

TEST(AddressHash, BothDirectionsOfAUeHaveTheSameHash) {
  for (unsigned number = 0; number < 500; ++number) {
    const packet::Packet up = datagram(ue(number), server(), "up");
    const packet::Packet down = datagram(server(), ue(number), "down");
    ASSERT_EQ(ue_address_hash(up, Facing::radio), address_hash(ue(number)));
    ASSERT_EQ(ue_address_hash(down, Facing::core), address_hash(ue(number)));
  }
  const IpAddress v6 = *IpAddress::parse("2001:db8:45::2");
  const IpAddress v6_server = *IpAddress::parse("2001:db8:ffff::1");
  EXPECT_EQ(ue_address_hash(datagram(v6, v6_server, "up"), Facing::radio), address_hash(v6));
  EXPECT_EQ(ue_address_hash(datagram(v6_server, v6, "down"), Facing::core), address_hash(v6));
}

TEST(AddressHash, VlanTagsDoNotChangeIt) {
  packet::Packet frame = datagram(ue(7), server(), "tagged");
  for (int tags = 0; tags < 2; ++tags) {
    std::uint8_t* const start = frame.prepend(4);
    std::memmove(start, start + 4, 12);
    packet::store_be16(start + 12, 0x8100);
    packet::store_be16(start + 14, 99);
    EXPECT_EQ(ue_address_hash(frame, Facing::radio), address_hash(ue(7)));
  }
}

TEST(AddressHash, AFrameWithoutAnAddressHashesToZero) {
  packet::Packet frame = datagram(ue(7), server(), "short");
  for (std::uint16_t size = frame.size(); size > 0; --size) {
    frame.truncate(static_cast<std::uint16_t>(size - 1));
    const std::uint32_t expected = frame.size() >= 34 ? address_hash(ue(7)) : 0;
    EXPECT_EQ(ue_address_hash(frame, Facing::radio), expected) << frame.size();
  }
}

TEST(AddressHash, NeighbouringUesSpreadOverTheTable) {
  std::array<int, rss_table_size> hits{};
  for (unsigned number = 0; number < 8192; ++number) ++hits[address_hash(ue(number)) % rss_table_size];
  for (const int hit : hits) {
    EXPECT_GT(hit, 32);
    EXPECT_LT(hit, 128);
  }
}

}  // namespace
}  // namespace sluice::dpdk
