// Tests of the parsing of ICMP errors about TCP segments, including truncated and forged ones (RFC 5927).
#include "dataplane/packet/icmp_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/checksum.hpp"
#include "tests/support/eal.hpp"

namespace sluice::test {
namespace {

using packet::IcmpProblem;

constexpr std::array<std::uint8_t, 6> here = {2, 0, 0, 0, 0, 1}, there = {2, 0, 0, 0, 0, 2};
const IpAddress sender = IpAddress::v4(10, 45, 0, 2), receiver = IpAddress::v4(198, 51, 100, 7),
                router = IpAddress::v4(192, 0, 2, 1);
const IpAddress sender6 = *IpAddress::parse("fd00:45::2"), receiver6 = *IpAddress::parse("fd00:99::2"),
                router6 = *IpAddress::parse("fd00:1::1");

/// The IP packet of a segment of 1448 bytes from sender to receiver, seq 1000.
std::vector<std::uint8_t> segment(std::uint8_t version) {
  packet::Packet packet = pool().allocate();
  std::fill_n(packet.append(1448), 1448, std::uint8_t{7});
  tcp::Segment content;
  content.seq = tcp::SeqNum(1000);
  content.flags.bits = tcp::Flags::ack_bit;
  content.payload_len = 1448;
  const packet::Addresses addresses =
      version == 4 ? packet::Addresses{sender, receiver, 40000, 80} : packet::Addresses{sender6, receiver6, 40000, 80};
  packet::write_headers(packet, packet::make_template(here, there, version), addresses, content, 0, 1);
  return {packet.data() + packet::ethernet_length, packet.data() + packet.size()};
}

/// A router's message to the sender about that segment, `quoted` bytes of it.
packet::Packet message(std::uint8_t version, const packet::IcmpHeader& icmp, std::size_t quoted,
                       const std::vector<std::uint8_t>& about) {
  packet::Packet packet = pool().allocate();
  std::copy_n(about.begin(), quoted, packet.append(static_cast<std::uint16_t>(quoted)));
  const packet::Addresses addresses =
      version == 4 ? packet::Addresses{router, sender, 0, 0} : packet::Addresses{router6, sender6, 0, 0};
  packet::write_icmp_headers(packet, packet::make_template(there, here, version), addresses, icmp, 5);
  return packet;
}

std::optional<packet::IcmpError> read(const packet::Packet& packet) {
  packet::Parsed parsed;
  EXPECT_EQ(packet::parse(packet, parsed), packet::ParseResult::icmp);
  return packet::read_icmp_error(packet, parsed);
}

constexpr packet::IcmpHeader fragmentation_needed{3, 4, 1200}, too_big{2, 0, 1280}, host_unreachable{3, 1, 0};

TEST(IcmpError, FragmentationNeededNamesTheSegmentAndTheSize) {
  const auto error = read(message(4, fragmentation_needed, 28, segment(4)));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->problem, IcmpProblem::too_big);
  EXPECT_EQ(error->mtu, 1200U);
  EXPECT_EQ(error->ip_length, 1488U);
  EXPECT_EQ(error->src, sender);
  EXPECT_EQ(error->dst, receiver);
  EXPECT_EQ(error->src_port, 40000);
  EXPECT_EQ(error->dst_port, 80);
  EXPECT_EQ(error->seq, tcp::SeqNum(1000));
}

TEST(IcmpError, PacketTooBigNamesTheSegmentAndTheSize) {
  const auto error = read(message(6, too_big, 200, segment(6)));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->problem, IcmpProblem::too_big);
  EXPECT_EQ(error->mtu, 1280U);
  EXPECT_EQ(error->ip_length, 1508U);
  EXPECT_EQ(error->src, sender6);
  EXPECT_EQ(error->seq, tcp::SeqNum(1000));
}

TEST(IcmpError, UnreachableAndTimeExceededCarryNoSize) {
  for (const packet::IcmpHeader& icmp :
       {host_unreachable, packet::IcmpHeader{11, 0, 0}, packet::IcmpHeader{12, 0, 0}}) {
    const auto error = read(message(4, icmp, 28, segment(4)));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->problem, IcmpProblem::undelivered);
    EXPECT_EQ(error->mtu, 0U);
  }
  EXPECT_EQ(read(message(6, {1, 4, 0}, 60, segment(6)))->problem, IcmpProblem::undelivered);
}

TEST(IcmpError, SourceQuenchEchoAndRedirectAreIgnored) {
  using Types = std::initializer_list<std::uint8_t>;
  for (const std::uint8_t type : Types{0, 4, 5, 8}) EXPECT_FALSE(read(message(4, {type, 0, 0}, 28, segment(4))));
  for (const std::uint8_t type : Types{128, 129, 135, 137})
    EXPECT_FALSE(read(message(6, {type, 0, 0}, 60, segment(6))));
}

TEST(IcmpError, AnyShorterQuoteIsIgnored) {
  for (std::size_t length = 0; length < 28; ++length) {
    EXPECT_FALSE(read(message(4, fragmentation_needed, length, segment(4)))) << length;
  }
  for (std::size_t length = 0; length < 48; ++length)
    EXPECT_FALSE(read(message(6, too_big, length, segment(6)))) << length;
}

TEST(IcmpError, QuotesWithoutTcpAreIgnored) {
  std::vector<std::uint8_t> about = segment(4);
  about[9] = 17;
  EXPECT_FALSE(read(message(4, fragmentation_needed, 28, about))) << "UDP";
  about = segment(4);
  about[7] = 1;
  EXPECT_FALSE(read(message(4, fragmentation_needed, 28, about))) << "a later fragment has no ports";
  about = segment(4);
  about[0] = 0x4f;
  EXPECT_FALSE(read(message(4, fragmentation_needed, 28, about))) << "a header longer than the quote";
  about = segment(4);
  about[0] = 0x41;
  EXPECT_FALSE(read(message(4, fragmentation_needed, 28, about))) << "a header shorter than any";
  about = segment(4);
  about[15] ^= 1;
  EXPECT_FALSE(read(message(4, fragmentation_needed, 28, about))) << "sent by another one than it is told to";
  about = segment(6);
  about[6] = 44;
  EXPECT_FALSE(read(message(6, too_big, 60, about))) << "a fragment";
}

TEST(IcmpError, ADamagedErrorIsIgnored) {
  for (const std::uint8_t version : {std::uint8_t{4}, std::uint8_t{6}}) {
    packet::Packet packet = message(version, version == 4 ? fragmentation_needed : too_big, 60, segment(version));
    const std::size_t icmp = packet::ethernet_length + (version == 4 ? 20 : 40);
    packet.data()[icmp + 7] ^= 0x10;  // the size
    EXPECT_FALSE(read(packet));
  }
}

TEST(IcmpError, PlateausAreSmallerAndEnd) {
  EXPECT_EQ(packet::plateau_below(1500), 1492U);
  EXPECT_EQ(packet::plateau_below(1492), 1006U);
  EXPECT_EQ(packet::plateau_below(68), 0U);
  EXPECT_EQ(packet::plateau_below(0), 0U);
}

}  // namespace
}  // namespace sluice::test
