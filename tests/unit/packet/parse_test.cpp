// Tests of the packet parser: every outcome, with valid, truncated and damaged frames.
#include "dataplane/packet/parse.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "dataplane/packet/vlan.hpp"
#include "tests/unit/packet/frame.hpp"

namespace sluice::packet {
namespace {

using namespace test;

ParseResult outcome(const Bytes& frame) {
  const Packet packet = packet_of(frame);
  Parsed parsed;
  return parse(packet, parsed);
}

TEST(ParseResults, TheTableNamesEveryOutcomeOnce) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < parse_result_count; ++i) {
    const auto result = static_cast<ParseResult>(i);
    EXPECT_TRUE(names.insert(std::string(to_string(result))).second) << to_string(result);
    EXPECT_FALSE(describe(result).empty());
  }
  EXPECT_EQ(to_string(ParseResult::ip_fragment), "ip_fragment");
  EXPECT_EQ(disposition(ParseResult::tcp), Disposition::optimise);
  EXPECT_EQ(disposition(ParseResult::mpls), Disposition::forward);
  EXPECT_EQ(disposition(ParseResult::bad_ip_checksum), Disposition::drop);
}

TEST(Parse, ReadsATcpSegmentOverIpv4) {
  const Packet packet = packet_of(tcp_over_v4(psh_ack, {}, {'h', 'e', 'l', 'l', 'o'}));
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  EXPECT_EQ(parsed.src, IpAddress::v4(10, 45, 0, 2));
  EXPECT_EQ(parsed.dst, IpAddress::v4(198, 51, 100, 7));
  EXPECT_EQ(parsed.src_port, 40000);
  EXPECT_EQ(parsed.dst_port, 443);
  EXPECT_EQ(parsed.ip_offset, 14);
  EXPECT_EQ(parsed.l4_offset, 34);
  EXPECT_EQ(parsed.payload_offset, 54);
  EXPECT_EQ(parsed.ip_length, 45);
  EXPECT_EQ(parsed.frame_length(), packet.size());
  EXPECT_EQ(parsed.ip_version, 4);
  EXPECT_EQ(parsed.ip_id, 0x1234);
  EXPECT_EQ(parsed.tos, 0xb8);
  EXPECT_EQ(parsed.ttl, 61);
  EXPECT_TRUE(parsed.dont_fragment);
  EXPECT_FALSE(parsed.networks[0].exists());
  EXPECT_EQ(parsed.segment.seq, tcp::SeqNum(0x01020304));
  EXPECT_EQ(parsed.segment.ack, tcp::SeqNum(0x0a0b0c0d));
  EXPECT_EQ(parsed.segment.flags.bits, psh_ack);
  EXPECT_EQ(parsed.segment.window, 0x2000);
  EXPECT_EQ(parsed.segment.payload_len, 5);
  EXPECT_FALSE(parsed.segment.has_timestamps);
  EXPECT_EQ(parsed.segment.ecn, 0);
}

TEST(Parse, ReadsATcpSegmentOverIpv6) {
  const Packet packet = packet_of(tcp_over_v6(ack_flag, {}, {1, 2, 3}));
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  EXPECT_EQ(parsed.src, *IpAddress::parse("2001:db8::2"));
  EXPECT_EQ(parsed.dst, *IpAddress::parse("2001:db8::1234"));
  EXPECT_EQ(parsed.ip_version, 6);
  EXPECT_EQ(parsed.tos, 0xb8);
  EXPECT_EQ(parsed.flow_label, 0xabcdeU);
  EXPECT_EQ(parsed.ttl, 61);
  EXPECT_EQ(parsed.ip_length, 63);
  EXPECT_EQ(parsed.l4_offset, 54);
  EXPECT_EQ(parsed.segment.payload_len, 3);
}

TEST(Parse, AnIpv4SegmentHasNoFlowLabelWhateverWasParsedBefore) {
  const Bytes timestamps = {1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2};
  const Packet labelled = packet_of(tcp_over_v6(ack_flag, {}, {1, 2, 3}));
  for (const Bytes& frame : {tcp_over_v4(ack_flag), tcp_over_v4(ack_flag, timestamps)}) {
    Parsed parsed;
    ASSERT_EQ(parse(labelled, parsed), ParseResult::tcp);
    ASSERT_NE(parsed.flow_label, 0U);
    ASSERT_EQ(parse(packet_of(frame), parsed), ParseResult::tcp);
    EXPECT_EQ(parsed.flow_label, 0U);
  }
}

TEST(Parse, KeepsOneAndTwoVlanTags) {
  const Packet one = packet_of(tagged(tcp_over_v4(ack_flag), 0x8100, 0xa064));
  Parsed parsed;
  ASSERT_EQ(parse(one, parsed), ParseResult::tcp);
  EXPECT_EQ(parsed.ip_offset, 18);
  EXPECT_EQ(VlanTag::id(parsed.networks[0]), 100);
  EXPECT_TRUE(parsed.networks[0].exists());
  EXPECT_FALSE(parsed.networks[1].exists());

  const Packet two = packet_of(tagged(tagged(tcp_over_v6(ack_flag), 0x8100, 7), 0x88a8, 200));
  ASSERT_EQ(parse(two, parsed), ParseResult::tcp);
  EXPECT_EQ(parsed.ip_offset, 22);
  EXPECT_EQ(parsed.networks[0].bits, 200 | VlanTag::present | VlanTag::service);
  EXPECT_EQ(parsed.networks[1].bits, 7 | VlanTag::present);
}

TEST(Parse, PriorityBitsAreNotPartOfTheTag) {
  Parsed low;
  Parsed high;
  ASSERT_EQ(parse(packet_of(tagged(tcp_over_v4(ack_flag), 0x8100, 5)), low), ParseResult::tcp);
  ASSERT_EQ(parse(packet_of(tagged(tcp_over_v4(ack_flag), 0x8100, 0xe005)), high), ParseResult::tcp);
  EXPECT_EQ(low.networks, high.networks);
}

TEST(Parse, APriorityTagNamesNoVlan) {
  Parsed parsed;
  const Packet alone = packet_of(tagged(tcp_over_v4(ack_flag), 0x8100, 0xc000));
  ASSERT_EQ(parse(alone, parsed), ParseResult::tcp);
  EXPECT_EQ(parsed.ip_offset, 18);
  EXPECT_FALSE(parsed.networks[0].exists());
  Parsed outer;
  ASSERT_EQ(parse(packet_of(tagged(tagged(tcp_over_v4(ack_flag), 0x8100, 5), 0x88a8, 0xe000)), outer),
            ParseResult::tcp);
  Parsed inner;
  ASSERT_EQ(parse(packet_of(tagged(tagged(tcp_over_v4(ack_flag), 0x8100, 0xe000), 0x8100, 5)), inner),
            ParseResult::tcp);
  EXPECT_EQ(outer.ip_offset, 22);
  EXPECT_EQ(inner.ip_offset, 22);
  EXPECT_EQ(outer.networks[0].bits, 5 | VlanTag::present);
  EXPECT_FALSE(outer.networks[1].exists());
  EXPECT_EQ(outer.networks, inner.networks);
}

TEST(Parse, LinkPaddingIsNotPayload) {
  const Bytes frame = tcp_over_v4(ack_flag) + Bytes(6, 0);
  const Packet packet = packet_of(frame);
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  EXPECT_EQ(parsed.segment.payload_len, 0);
  EXPECT_EQ(parsed.frame_length(), frame.size() - 6);
}

TEST(Parse, StripToPayloadLeavesExactlyThePayload) {
  Packet packet = packet_of(tcp_over_v4(ack_flag, {}, {'a', 'b', 'c'}) + Bytes(3, 0xee));
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  strip_to_payload(packet, parsed);
  EXPECT_THAT(packet.bytes(), testing::ElementsAre('a', 'b', 'c'));
}

TEST(Parse, CongestionExperiencedIsParsed) {
  Bytes ip = ipv4(6, tcp(ack_flag));
  ip[1] = 0x03;
  ip.resize(20);
  put_checksum(ip, 10);
  const Packet packet = packet_of(ethernet(0x0800, ip + tcp(ack_flag)));
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  EXPECT_EQ(parsed.segment.ecn, tcp::congestion_experienced);
}

TEST(Parse, NonIpFramesAreClassified) {
  EXPECT_EQ(outcome(ethernet(0x0806, Bytes(46, 0))), ParseResult::arp);
  EXPECT_EQ(outcome(ethernet(0x88cc, Bytes(46, 0))), ParseResult::not_ip);  // LLDP
  EXPECT_EQ(outcome(ethernet(0x0026, Bytes(46, 0))), ParseResult::not_ip);  // an 802.3 length
  EXPECT_EQ(outcome(ethernet(0x8847, Bytes(46, 0))), ParseResult::mpls);
  EXPECT_EQ(outcome(ethernet(0x8848, Bytes(46, 0))), ParseResult::mpls);
  EXPECT_EQ(outcome(tagged(ethernet(0x0806, Bytes(46, 0)), 0x8100, 3)), ParseResult::arp);
}

TEST(Parse, ThreeVlanTagsAreRefused) {
  const Bytes frame = tagged(tagged(tagged(tcp_over_v4(ack_flag), 0x8100, 1), 0x8100, 2), 0x88a8, 3);
  EXPECT_EQ(outcome(frame), ParseResult::vlan_depth);
}

TEST(Parse, OtherIpProtocolsAreClassifiedWithAddresses) {
  EXPECT_EQ(outcome(ethernet(0x0800, ipv4(1, Bytes(8, 0)))), ParseResult::icmp);
  EXPECT_EQ(outcome(ethernet(0x86dd, ipv6(58, Bytes(8, 0)))), ParseResult::icmp);
  EXPECT_EQ(outcome(ethernet(0x0800, ipv4(47, Bytes(8, 0)))), ParseResult::not_tcp);
  EXPECT_EQ(outcome(ethernet(0x86dd, ipv6(50, Bytes(8, 0)))), ParseResult::not_tcp);
  const Packet packet = packet_of(ethernet(0x0800, ipv4(17, {0, 53, 0x30, 0x39, 0, 8, 0, 0})));
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::udp);
  EXPECT_EQ(parsed.src, IpAddress::v4(10, 45, 0, 2));
  EXPECT_EQ(parsed.src_port, 53);
  EXPECT_EQ(parsed.dst_port, 12345);
}

TEST(Parse, FragmentsOfBothIpVersionsAreRecognised) {
  EXPECT_EQ(outcome(ethernet(0x0800, ipv4(6, tcp(ack_flag), {}, 0x2000))), ParseResult::ip_fragment);  // the first
  EXPECT_EQ(outcome(ethernet(0x0800, ipv4(6, tcp(ack_flag), {}, 0x0010))), ParseResult::ip_fragment);  // a later one
  EXPECT_EQ(outcome(ethernet(0x86dd, ipv6(44, Bytes(8, 0) + tcp(ack_flag)))), ParseResult::ip_fragment);
  Parsed parsed;
  ASSERT_EQ(parse(packet_of(ethernet(0x0800, ipv4(6, tcp(ack_flag), {}, 0x2000))), parsed), ParseResult::ip_fragment);
  EXPECT_EQ(parsed.dst, IpAddress::v4(198, 51, 100, 7));
  EXPECT_EQ(parsed.protocol, 6);
}

TEST(Parse, IpOptionsAndExtensionHeadersAreRecognised) {
  EXPECT_EQ(outcome(ethernet(0x0800, ipv4(6, tcp(ack_flag), {0x94, 4, 0, 0}))), ParseResult::ip_options);
  for (const std::uint8_t extension : std::initializer_list<std::uint8_t>{0, 43, 51, 60, 135, 139, 140}) {
    EXPECT_EQ(outcome(ethernet(0x86dd, ipv6(extension, Bytes(8, 0) + tcp(ack_flag)))), ParseResult::ipv6_extension)
        << int{extension};
  }
}

TEST(Parse, MappedAddressesInIpv6AreNotTakenForIpv4) {
  Bytes frame = tcp_over_v6(ack_flag);
  const Bytes mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  std::copy(mapped.begin(), mapped.end(), frame.begin() + 14 + 8);
  EXPECT_EQ(outcome(frame), ParseResult::ipv6_mapped);
}

TEST(Parse, RuntsAndTruncatedFramesAreRefused) {
  EXPECT_EQ(outcome({}), ParseResult::runt);
  EXPECT_EQ(outcome(Bytes(13, 0)), ParseResult::runt);
  EXPECT_EQ(outcome(ethernet(0x8100, {0, 1})), ParseResult::runt);
  for (const Bytes& whole : {tcp_over_v4(ack_flag, {}, Bytes(20, 9)), tcp_over_v6(ack_flag, {}, Bytes(20, 9))}) {
    for (std::size_t size = 14; size < whole.size(); ++size) {
      EXPECT_EQ(outcome(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))),
                ParseResult::truncated)
          << size;
    }
  }
}

TEST(Parse, DamagedIpHeadersAreRefused) {
  Bytes frame = tcp_over_v4(ack_flag);
  frame[14] = 0x55;  // version 5
  EXPECT_EQ(outcome(frame), ParseResult::bad_ip_header);
  frame[14] = 0x44;  // header of 16 bytes
  EXPECT_EQ(outcome(frame), ParseResult::bad_ip_header);
  frame = tcp_over_v4(ack_flag);
  frame[16] = frame[17] = 0;  // total length of a merged packet
  EXPECT_EQ(outcome(frame), ParseResult::bad_ip_header);
  frame = tcp_over_v6(ack_flag);
  frame[14] = 0x4b;
  EXPECT_EQ(outcome(frame), ParseResult::bad_ip_header);
}

TEST(Parse, TheIpv4ChecksumCoversEveryBitOfTheHeader) {
  const Bytes whole = tcp_over_v4(ack_flag, {}, Bytes(100, 1));
  for (std::size_t bit = 0; bit < 160; ++bit) {
    Bytes frame = whole;
    frame[14 + bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_EQ(disposition(outcome(frame)), Disposition::drop) << bit;
  }
  Bytes frame = whole;
  frame[14 + 8] ^= 1U;  // TTL
  EXPECT_EQ(outcome(frame), ParseResult::bad_ip_checksum);
}

TEST(Parse, TheChecksumCoversIpOptions) {
  Bytes frame = ethernet(0x0800, ipv4(6, tcp(ack_flag), {0x94, 4, 0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(outcome(frame), ParseResult::ip_options);
  frame[14 + 22] ^= 0x10U;
  EXPECT_EQ(outcome(frame), ParseResult::bad_ip_checksum);
}

TEST(Parse, DamagedTcpHeadersAreRefused) {
  EXPECT_EQ(outcome(ethernet(0x0800, ipv4(6, Bytes(19, 0)))), ParseResult::bad_tcp_header);
  EXPECT_EQ(outcome(ethernet(0x0800, ipv4(6, {}))), ParseResult::bad_tcp_header);
  Bytes frame = tcp_over_v4(ack_flag);
  frame[34 + 12] = 0x40;  // 16 bytes
  EXPECT_EQ(outcome(frame), ParseResult::bad_tcp_header);
  frame[34 + 12] = 0x60;  // 24 bytes where there are 20
  EXPECT_EQ(outcome(frame), ParseResult::bad_tcp_header);
  EXPECT_EQ(outcome(frame + Bytes(4, 1)), ParseResult::bad_tcp_header) << "padding is no header";
}

}  // namespace
}  // namespace sluice::packet
