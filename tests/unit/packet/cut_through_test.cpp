// Tests of the header rewrite of cut-through: a data segment leaves in the frame in which it arrived.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "tests/support/eal.hpp"

namespace sluice::packet {
namespace {

/// A frame as a host sends it.
struct Sent {
  std::uint8_t ip_version = 4;
  bool timestamps = true;
  int tags = 0;
  bool dont_fragment = true;
  tcp::Segment segment;
  std::size_t padding = 0;

  Sent() {
    segment.seq = tcp::SeqNum(0xfffffe00);
    segment.ack = tcp::SeqNum(77);
    segment.window = 500;
    segment.flags.bits = tcp::Flags::ack_bit | tcp::Flags::psh_bit;
    segment.payload_len = 1000;
    segment.ts_value = 123456;
    segment.ts_echo = 654321;
  }
  [[nodiscard]] Packet frame() const {
    constexpr std::array<std::uint8_t, 6> here{2, 0, 0, 0, 0, 1}, there{2, 0, 0, 0, 0, 2};
    HeaderTemplate header = make_template(here, there, ip_version);
    for (int i = 0; i < tags; ++i) add_vlan_tag(header, 0x8100, static_cast<std::uint16_t>(100 + i));
    header.dont_fragment = dont_fragment;
    Packet packet = sluice::test::pool().allocate();
    std::uint8_t* const data = packet.append(segment.payload_len);
    for (std::size_t i = 0; i < segment.payload_len; ++i) data[i] = static_cast<std::uint8_t>(i * 7);
    const std::uint16_t sum = ones_complement_sum(packet.bytes());
    const Addresses v4{IpAddress::v4(198, 51, 100, 7), IpAddress::v4(10, 45, 0, 2), 80, 40000};
    const Addresses v6{*IpAddress::parse("2001:db8::7"), *IpAddress::parse("2001:db8::2"), 80, 40000};
    tcp::Segment content = segment;
    content.has_timestamps = timestamps;
    static_cast<void>(write_headers(packet, header, ip_version == 4 ? v4 : v6, content, sum, 99));
    std::fill_n(packet.append(static_cast<std::uint16_t>(padding)), padding, std::uint8_t{0xee});
    return packet;
  }
};

[[nodiscard]] bool passes(const Sent& sent) {
  const Packet packet = sent.frame();
  Parsed parsed;
  EXPECT_EQ(parse(packet, parsed), ParseResult::tcp);
  return can_cut_through(packet, parsed);
}

TEST(CutThroughHeaders, OnlyTheFieldsOfTheLegChange) {
  std::mt19937 random(1);
  for (int run = 0; run < 200; ++run) {
    Sent sent;
    sent.ip_version = run % 2 == 0 ? 4 : 6;
    sent.timestamps = run % 3 != 0;
    sent.tags = run % 5 % 3;
    Packet packet = sent.frame();
    const std::vector<std::uint8_t> before(packet.bytes().begin(), packet.bytes().end());
    Parsed parsed;
    ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
    ASSERT_TRUE(can_cut_through(packet, parsed));
    const auto number = [&] { return run == 0 ? 0U : static_cast<std::uint32_t>(random()); };
    const tcp::CutThroughHeader header{
        .ack = tcp::SeqNum(number()), .window = static_cast<std::uint16_t>(number()), .ts_echo = number()};
    write_cut_through(packet, parsed, header);

    Parsed after;
    ASSERT_EQ(parse(packet, after), ParseResult::tcp);
    EXPECT_EQ(verify_tcp_checksum(packet, after), ChecksumState::good);
    EXPECT_EQ(after.segment.ack, header.ack);
    EXPECT_EQ(after.segment.window, header.window);
    EXPECT_EQ(after.segment.ts_echo, sent.timestamps ? header.ts_echo : after.segment.ts_echo);
    // With its former values it equals the received frame bit by bit.
    write_cut_through(packet, after, {.ack = sent.segment.ack, .window = 500, .ts_echo = sent.segment.ts_echo});
    EXPECT_TRUE(std::ranges::equal(packet.bytes(), before));
  }
}

TEST(CutThroughHeaders, ReservedBitsAreCleared) {
  Packet packet = Sent().frame();
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  std::uint8_t* const tcp = packet.data() + parsed.l4_offset;
  tcp[12] |= 0x0e;
  const std::uint16_t checksum = load16(tcp + 16);
  store16(tcp + 16, update_checksum(checksum, 0x0080, 0x008e));
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  ASSERT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::good);
  write_cut_through(packet, parsed, {});
  EXPECT_EQ(tcp[12] & 0x0fU, 0U);
  EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::good);
}

TEST(CutThroughHeaders, UncommonSegmentsAreRebuilt) {
  using Change = std::function<void(Sent&)>;
  EXPECT_TRUE(passes(Sent()));
  const std::vector<std::pair<const char*, Change>> changes{
      {"link padding", [](Sent& s) { s.padding = 4; }},
      {"an urgent pointer without the flag", [](Sent& s) { s.segment.urgent = 9; }},
      {"ECN-capable transport", [](Sent& s) { s.segment.ecn = tcp::ecn_capable; }},
      {"it may be fragmented, so its identification means something", [](Sent& s) { s.dont_fragment = false; }},
      {"blocks", [](Sent& s) { s.segment.sack_count = 1; }},
  };
  for (const auto& [what, change] : changes) {
    Sent sent;
    change(sent);
    EXPECT_FALSE(passes(sent)) << what;
  }
}

TEST(CutThroughHeaders, SegmentsWithTimestampsElsewhereAreRebuilt) {
  Packet packet = Sent().frame();
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  std::uint8_t* const options = packet.data() + parsed.l4_offset + tcp_length;
  std::rotate(options, options + 2, options + 12);  // the two NOPs come last
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  ASSERT_TRUE(parsed.segment.has_timestamps);
  EXPECT_FALSE(can_cut_through(packet, parsed));
}

}  // namespace
}  // namespace sluice::packet
