// Tests of the building of packets: headers, options and checksums, parsed back and compared byte by byte.
#include "dataplane/packet/build.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>

#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "tests/unit/packet/frame.hpp"

namespace sluice::packet {
namespace {

using namespace test;

constexpr std::array<std::uint8_t, 6> near_mac = {2, 0, 0, 0, 0, 1}, far_mac = {2, 0, 0, 0, 0, 2};

Addresses addresses_v4() {
  return {IpAddress::v4(10, 45, 0, 2), IpAddress::v4(198, 51, 100, 7), 40000, 443};
}
Addresses addresses_v6() {
  return {*IpAddress::parse("2001:db8::2"), *IpAddress::parse("2001:db8:ffff::1234"), 1, 65535};
}

/// A packet that holds `size` bytes of payload with full headroom.
Packet payload_packet(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(7 * i + 5);
  return packet_of(bytes);
}

/// Segments with every combination of options that occurs.
tcp::Segment sample_segment(unsigned options) {
  tcp::Segment segment;
  segment.seq = tcp::SeqNum(0xfffffff0);
  segment.ack = tcp::SeqNum(0x12345678);
  segment.window = 0xabcd;
  segment.flags.bits = tcp::Flags::ack_bit | tcp::Flags::psh_bit;
  if (options < 10) {  // timestamps or not, 0 … 4 SACK blocks
    segment.has_timestamps = options >= 5;
    segment.sack_count = static_cast<std::uint8_t>(std::min(options % 5, segment.has_timestamps ? 3U : 4U));
    for (std::uint32_t i = 0; i < segment.sack_count; ++i) {
      segment.sack_blocks[i] = {tcp::SeqNum(1000 * i + 1), tcp::SeqNum(1000 * i + 501)};
    }
  } else {  // a SYN with some of its options
    const unsigned bits = options - 10;
    segment.flags.bits = tcp::Flags::syn_bit;
    segment.ack = tcp::SeqNum(0);
    segment.syn.mss = 1400;
    segment.syn.has_window_scale = (bits & 1U) != 0;
    segment.syn.window_scale = (bits & 1U) != 0 ? 9 : 0;
    segment.syn.sack_permitted = (bits & 2U) != 0;
    segment.syn.timestamps = segment.has_timestamps = (bits & 4U) != 0;
  }
  if (segment.has_timestamps) {
    segment.ts_value = 0xdeadbeef;
    segment.ts_echo = 0x01020304;
  }
  return segment;
}

bool same(const tcp::Segment& a, const tcp::Segment& b) {
  return a.seq == b.seq && a.ack == b.ack && a.window == b.window && a.payload_len == b.payload_len &&
         a.urgent == b.urgent && a.flags == b.flags && a.has_timestamps == b.has_timestamps && a.ecn == b.ecn &&
         a.ts_value == b.ts_value && a.ts_echo == b.ts_echo && std::ranges::equal(a.sacks(), b.sacks()) &&
         a.syn == b.syn;
}

class RoundTrip : public testing::TestWithParam<std::tuple<int, int, unsigned, std::size_t>> {};

TEST_P(RoundTrip, BuiltPacketsAreParsedToTheSameSegment) {
  const auto [version, tags, options, size] = GetParam();
  HeaderTemplate header = make_template(near_mac, far_mac, static_cast<std::uint8_t>(version));
  if (tags >= 1) add_vlan_tag(header, 0x8100, 0x6123);
  if (tags == 2) add_vlan_tag(header, 0x88a8, 0x0456);
  header.tos = 0xb8;
  header.ttl = 17;
  header.flow_label = version == 6 ? 0x12345U : 0U;
  const Addresses addresses = version == 4 ? addresses_v4() : addresses_v6();
  tcp::Segment segment = sample_segment(options);
  segment.payload_len = static_cast<std::uint16_t>(size);

  Packet packet = payload_packet(size);
  const Bytes payload(packet.bytes().begin(), packet.bytes().end());
  const std::uint16_t length =
      write_headers(packet, header, addresses, segment, ones_complement_sum(packet.bytes()), 77);
  EXPECT_EQ(length, header_length(header, segment));
  EXPECT_EQ(packet.size(), length + size);
  EXPECT_TRUE(std::ranges::equal(packet.bytes().subspan(length), payload)) << "the payload is not touched";

  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::good);
  EXPECT_TRUE(same(parsed.segment, segment));
  EXPECT_EQ(addresses_of(parsed), addresses);
  EXPECT_EQ(parsed.payload_offset, length);
  EXPECT_EQ(parsed.ip_id, version == 4 ? 77 : 0);
  EXPECT_EQ(parsed.frame_length(), packet.size());
  EXPECT_EQ(learn(packet, parsed), header);
}

INSTANTIATE_TEST_SUITE_P(All, RoundTrip,
                         testing::Combine(testing::Values(4, 6), testing::Values(0, 1, 2), testing::Range(0U, 18U),
                                          testing::Values(0U, 1U, 1400U)));

TEST(Build, AnAckHasTheBytesOfTheRfcs) {
  HeaderTemplate header = make_template(near_mac, far_mac, 4);
  header.tos = 0xb8;
  header.ttl = 61;
  tcp::Segment segment;
  segment.seq = tcp::SeqNum(0x01020304);
  segment.ack = tcp::SeqNum(0x0a0b0c0d);
  segment.window = 0x2000;
  segment.flags.bits = ack_flag;
  Packet packet = payload_packet(0);
  write_headers(packet, header, addresses_v4(), segment, 0, 0x1234);
  Bytes expected = tcp_over_v4(ack_flag);
  const Bytes link = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
  std::copy(link.begin(), link.end(), expected.begin());
  EXPECT_THAT(packet.bytes(), testing::ElementsAreArray(expected));
}

TEST(Build, TheFastPathBuildsTheSameAckAsTheGeneralOne) {
  std::mt19937 random(3);
  const auto number = [&] { return static_cast<std::uint32_t>(random()); };
  for (int round = 0; round < 1000; ++round) {
    HeaderTemplate header = make_template(near_mac, far_mac, 4);
    header.tos = static_cast<std::uint8_t>(number() & 0xfcU);
    header.ttl = static_cast<std::uint8_t>(number());
    header.dont_fragment = round % 2 == 0;
    for (int tags = round % 3; tags > 0; --tags) add_vlan_tag(header, 0x8100, 7);
    Addresses addresses = addresses_v4();
    addresses.src_port = static_cast<std::uint16_t>(number());
    const tcp::Acknowledgement ack{.seq = tcp::SeqNum(number()),
                                   .ack = tcp::SeqNum(number()),
                                   .window = static_cast<std::uint16_t>(number()),
                                   .has_timestamps = true,
                                   .ts_value = number(),
                                   .ts_echo = number()};
    const auto ip_id = static_cast<std::uint16_t>(number());
    Packet quick = payload_packet(0), thorough = payload_packet(0);
    write_acknowledgement(quick, header, addresses, ack, ip_id);
    write_headers(thorough, header, addresses, ack.segment(), 0, ip_id);
    ASSERT_THAT(quick.bytes(), testing::ElementsAreArray(thorough.bytes()));
  }
}

/// AE lies in the byte before the other flags (RFC 9768 section 3), in segments of every kind.
TEST(Build, EveryAceFieldIsParsedAsItWasWritten) {
  const HeaderTemplate header = make_template(near_mac, far_mac, 4);
  for (const unsigned options : {0U, 5U, 7U, 14U}) {  // none, timestamps alone, SACK blocks, a SYN
    for (std::uint8_t ace = 0; ace < 8; ++ace) {
      tcp::Segment segment = sample_segment(options);
      segment.flags.bits |= tcp::ace_bits(ace);
      Packet packet = payload_packet(0);
      write_headers(packet, header, addresses_v4(), segment, 0, 0);
      Parsed parsed;
      ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
      EXPECT_EQ(parsed.segment.flags, segment.flags);
      EXPECT_EQ(tcp::ace_of(parsed.segment.flags), ace);
      EXPECT_EQ(parsed.segment.syn.accurate_ecn && segment.flags.syn(), segment.flags.syn() && ace != 0 && ace != 3)
          << "reserved combinations offer it, too (RFC 9768 section 3.1.3)";
      EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::good);
    }
  }
}

TEST(Build, SackBlocksThatDoNotFitAreOmitted) {
  tcp::Segment segment = sample_segment(9);
  segment.sack_count = 4;
  Packet packet = payload_packet(0);
  const HeaderTemplate header = make_template(near_mac, far_mac, 4);
  EXPECT_EQ(write_headers(packet, header, addresses_v4(), segment, 0, 0), 14 + 20 + 60);
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  EXPECT_EQ(parsed.segment.sack_count, 3);
  EXPECT_FALSE(parsed.unknown_options.any());
  EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::good);
}

TEST(Build, TheLongestHeadersFitTheHeadroom) {
  EXPECT_LE(max_header_length, std::size_t{RTE_PKTMBUF_HEADROOM});
  HeaderTemplate header = make_template(near_mac, far_mac, 6);
  add_vlan_tag(header, 0x8100, 1);
  add_vlan_tag(header, 0x8100, 2);
  Packet packet = payload_packet(9);
  tcp::Segment segment = sample_segment(8);
  segment.payload_len = 9;
  EXPECT_EQ(write_headers(packet, header, addresses_v6(), segment, ones_complement_sum(packet.bytes()), 0),
            max_header_length);
}

TEST(Build, CongestionExperiencedIsWritten) {
  tcp::Segment segment = sample_segment(0);
  segment.ecn = tcp::congestion_experienced;
  Packet packet = payload_packet(0);
  HeaderTemplate header = make_template(near_mac, far_mac, 6);
  header.tos = 0x28;
  write_headers(packet, header, addresses_v6(), segment, 0, 0);
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  EXPECT_EQ(parsed.tos, 0x2b);
}

TEST(Build, LearningAHeaderClearsEcnAndKeepsDscp) {
  HeaderTemplate header = make_template(near_mac, far_mac, 4);
  header.tos = 0xba;  // ECT(0)
  header.dont_fragment = false;
  Packet packet = payload_packet(0);
  write_headers(packet, header, addresses_v4(), sample_segment(0), 0, 0);
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  const HeaderTemplate learned = learn(packet, parsed);
  EXPECT_EQ(learned.tos, 0xb8);
  EXPECT_FALSE(learned.dont_fragment);
}

TEST(Build, AnOldChecksumVerdictOfTheDeviceIsCleared) {
  Packet packet = payload_packet(0);
  packet.buffer()->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_RX_VLAN;
  write_headers(packet, make_template(near_mac, far_mac, 4), addresses_v4(), sample_segment(0), 0, 0);
  EXPECT_EQ(packet.buffer()->ol_flags, 0U);
}

TEST(Build, WritesUdpOverIpv4AndIpv6) {
  for (const int version : {4, 6}) {
    for (const std::size_t size : {0U, 1U, 333U}) {
      Packet packet = payload_packet(size);
      write_udp_headers(packet, make_template(near_mac, far_mac, static_cast<std::uint8_t>(version)),
                        version == 4 ? addresses_v4() : addresses_v6(), 5);
      Parsed parsed;
      ASSERT_EQ(parse(packet, parsed), ParseResult::udp);
      EXPECT_EQ(parsed.src_port, version == 4 ? 40000 : 1);
      const auto datagram = packet.bytes().subspan(parsed.l4_offset);
      const std::uint16_t pseudo =
          pseudo_header_sum(parsed.src, parsed.dst, 17, static_cast<std::uint16_t>(datagram.size()));
      EXPECT_EQ(fold(std::uint64_t{pseudo} + ones_complement_sum(datagram)), 0xffff);
      EXPECT_EQ(load_be16(datagram.data() + 4), size + 8);
    }
  }
}

TEST(Build, AUdpChecksumOfZeroIsSentAsAllOnes) {
  // Search a payload whose checksum comes out as zero: it must not look like "none".
  bool seen = false;
  for (unsigned word = 0; word < 65536 && !seen; ++word) {
    Packet packet = packet_of(big16(word));
    write_udp_headers(packet, make_template(near_mac, far_mac, 4), addresses_v4(), 0);
    const std::uint16_t field = load16(packet.data() + 34 + 6);
    ASSERT_NE(field, 0) << word;
    seen = field == 0xffff;
  }
  EXPECT_TRUE(seen);
}

TEST(Build, WritesIcmpOverIpv4AndIpv6) {
  Packet v4 = payload_packet(28);
  write_icmp_headers(v4, make_template(near_mac, far_mac, 4), addresses_v4(), {3, 4, 1400}, 9);
  Parsed parsed;
  ASSERT_EQ(parse(v4, parsed), ParseResult::icmp);
  EXPECT_EQ(ones_complement_sum(v4.bytes().subspan(parsed.l4_offset)), 0xffff);
  EXPECT_EQ(load_be32(v4.data() + parsed.l4_offset + 4), 1400U);

  Packet v6 = payload_packet(48);
  write_icmp_headers(v6, make_template(near_mac, far_mac, 6), addresses_v6(), {2, 0, 1280}, 0);
  ASSERT_EQ(parse(v6, parsed), ParseResult::icmp);
  EXPECT_EQ(parsed.protocol, 58);
  const std::uint16_t pseudo = pseudo_header_sum(parsed.src, parsed.dst, 58, 56);
  EXPECT_EQ(fold(std::uint64_t{pseudo} + ones_complement_sum(v6.bytes().subspan(parsed.l4_offset))), 0xffff);
}

}  // namespace
}  // namespace sluice::packet
