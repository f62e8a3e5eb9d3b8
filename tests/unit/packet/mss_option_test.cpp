// Tests of the rewriting of the MSS option of a SYN: which frames change, and that the checksum stays right.
#include "dataplane/packet/mss_option.hpp"

#include <gtest/gtest.h>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/link_limit.hpp"
#include "tests/unit/packet/frame.hpp"

namespace sluice::packet {
namespace {

using namespace test;

/// A SYN with these options. Options end with zeros up to a multiple of four bytes.
struct Syn {
  explicit Syn(const Bytes& options, bool ipv6 = false)
      : before(ipv6 ? tcp_over_v6(syn_flag, options) : tcp_over_v4(syn_flag, options)), packet(packet_of(before)) {
    result = parse(packet, parsed);
  }
  [[nodiscard]] Bytes now() const { return {packet.data(), packet.data() + packet.size()}; }
  /// The MSS that a reader of the frame finds.
  [[nodiscard]] std::uint16_t mss() const {
    Parsed again;
    EXPECT_NE(parse(packet, again), ParseResult::not_ip);
    return again.segment.syn.mss;
  }

  Bytes before;
  Packet packet;
  Parsed parsed;
  ParseResult result{};
};

TEST(MssOption, AnMssAboveTheLimitIsLowered) {
  for (const bool ipv6 : {false, true}) {
    Syn syn({2, 4, 0x23, 0x00, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7}, ipv6);
    ASSERT_EQ(verify_tcp_checksum(syn.packet, syn.parsed), ChecksumState::good);
    EXPECT_TRUE(lower_mss(syn.packet, syn.parsed, 1360));
    EXPECT_EQ(syn.mss(), 1360);
    EXPECT_EQ(syn.parsed.segment.syn.mss, 1360);
    EXPECT_EQ(verify_tcp_checksum(syn.packet, syn.parsed), ChecksumState::good);
    EXPECT_EQ(syn.now().size(), syn.before.size());
  }
}

TEST(MssOption, AValueAtAnOddOffsetHasARightChecksum) {
  for (const unsigned value : {0x23ffU, 0xff01U, 0x0551U, 0xffffU}) {
    Syn syn(Bytes{1, 2, 4} + big16(value) + Bytes{1, 1, 0});
    ASSERT_EQ(verify_tcp_checksum(syn.packet, syn.parsed), ChecksumState::good);
    EXPECT_TRUE(lower_mss(syn.packet, syn.parsed, 1360));
    EXPECT_EQ(syn.mss(), 1360);
    EXPECT_EQ(verify_tcp_checksum(syn.packet, syn.parsed), ChecksumState::good) << value;
  }
}

TEST(MssOption, ASmallerMssAndFramesWithoutTheOptionStay) {
  for (const Bytes& options : {Bytes{2, 4, 0x05, 0x50}, Bytes{2, 4, 0, 0}, Bytes{}, Bytes{4, 2, 1, 1}}) {
    Syn syn(options);
    EXPECT_FALSE(lower_mss(syn.packet, syn.parsed, 1360));
    EXPECT_EQ(syn.now(), syn.before);
  }
}

TEST(MssOption, ARepeatedOptionIsLoweredEachTime) {
  Syn syn({2, 4, 0x05, 0x50, 2, 4, 0x23, 0x00, 2, 4, 0xff, 0xff});
  EXPECT_TRUE(lower_mss(syn.packet, syn.parsed, 1360));
  const Bytes now = syn.now();
  EXPECT_EQ(Bytes(now.end() - 12, now.end()), (Bytes{2, 4, 0x05, 0x50, 2, 4, 0x05, 0x50, 2, 4, 0x05, 0x50}));
  EXPECT_EQ(verify_tcp_checksum(syn.packet, syn.parsed), ChecksumState::good);
}

TEST(MssOption, OptionsWithInvalidLengthsEndTheSearch) {
  for (const Bytes& options : {Bytes{2, 0, 0x23, 0x00}, Bytes{2, 1, 0x23, 0x00}, Bytes{8, 40, 2, 4, 0x23, 0, 0, 0},
                               Bytes{1, 1, 1, 2}, Bytes{0, 0, 0, 0, 2, 4, 0x23, 0x00}, Bytes{2, 3, 0x23, 2}}) {
    Syn syn(options);
    EXPECT_FALSE(lower_mss(syn.packet, syn.parsed, 1360));
    EXPECT_EQ(syn.now(), syn.before);
  }
}

TEST(MssOption, ADamagedFrameStays) {
  Syn syn({2, 4, 0x23, 0x00});
  syn.packet.data()[syn.packet.size() - 1] ^= 1;
  const Bytes damaged = syn.now();
  EXPECT_FALSE(lower_mss(syn.packet, syn.parsed, 1360));
  EXPECT_EQ(syn.now(), damaged);
}

TEST(MssOption, AnUnfinishedChecksumStaysUnfinished) {
  Bytes frame = tcp_over_v4(syn_flag, {2, 4, 0x23, 0x00});
  constexpr std::size_t at = 34 + 16;
  Bytes pseudo_header = pseudo_v4(6, 24) + Bytes{0, 0};
  put_checksum(pseudo_header, 12);
  frame[at] = static_cast<std::uint8_t>(~pseudo_header[12]);
  frame[at + 1] = static_cast<std::uint8_t>(~pseudo_header[13]);
  Packet packet = packet_of(frame);
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  ASSERT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::partial);
  EXPECT_TRUE(lower_mss(packet, parsed, 1360));
  EXPECT_EQ(parsed.segment.syn.mss, 1360);
  EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::partial);
}

TEST(LinkLimit, TheMssOfAFrameIsThatOfItsHeaders) {
  const Syn v4({2, 4, 0x23, 0x00}), v6({2, 4, 0x23, 0x00}, true);
  const auto mss = [](const Syn& syn, const LinkLimit& limit) {
    return limit.mss(syn.packet.bytes(), syn.parsed.l4_offset + tcp_length);
  };
  EXPECT_EQ(mss(v4, {.mtu = 1400}), 1360);
  EXPECT_EQ(mss(v6, {.mtu = 1400}), 1340);
  EXPECT_EQ(mss(v4, {.mtu = 40}), 1);
  EXPECT_EQ(mss(v4, {}), LinkLimit::none - 40);
}

}  // namespace
}  // namespace sluice::packet
