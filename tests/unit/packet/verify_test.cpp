// Tests of the verification of TCP checksums, of partial checksums, and of their completion.
#include <gmock/gmock.h>

#include <random>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "tests/unit/packet/frame.hpp"

namespace sluice::packet {
namespace {

using namespace test;

std::uint16_t canonical(std::uint16_t sum) {
  return sum == 0xffff ? 0 : sum;
}

Bytes counting(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(3 * i + 1);
  return bytes;
}

/// Leaves what a kernel leaves in the field when a device finishes the checksum: the pseudo-header's sum, not
/// inverted.
void make_partial(Bytes& frame, std::size_t field, const Bytes& pseudo_header) {
  const std::uint16_t sum = ones_complement_sum(pseudo_header);
  frame[field] = static_cast<std::uint8_t>(sum);
  frame[field + 1] = static_cast<std::uint8_t>(sum >> 8);
}

TEST(Verify, AGoodChecksumYieldsTheSumOfThePayload) {
  for (const std::size_t size : {0U, 1U, 2U, 31U, 64U, 65U, 1447U, 1448U, 1900U}) {
    const Bytes payload = counting(size);
    for (const Bytes& frame : {tcp_over_v4(ack_flag, {}, payload), tcp_over_v6(ack_flag, {}, payload)}) {
      const Packet packet = packet_of(frame + Bytes(3, 0x77));  // padding is not under the checksum
      Parsed parsed;
      ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
      EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::good) << size;
      EXPECT_EQ(packet.note().payload_len, size);
      EXPECT_EQ(canonical(packet.note().payload_sum), canonical(ones_complement_sum(payload)));
    }
  }
}

TEST(Verify, AnyFlippedBitIsDetected) {
  const Bytes whole = tcp_over_v4(ack_flag, {1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2}, counting(97));
  for (std::size_t bit = 34U * 8; bit < whole.size() * 8; ++bit) {
    Bytes frame = whole;
    frame[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    const Packet packet = packet_of(frame);
    Parsed parsed;
    if (disposition(parse(packet, parsed)) != Disposition::optimise) continue;  // the data offset
    EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::bad) << bit;
  }
}

TEST(Verify, PartialChecksumsAreRecognised) {
  const Bytes payload = counting(100);
  Bytes v4 = tcp_over_v4(ack_flag, {}, payload);
  make_partial(v4, 34 + 16, pseudo_v4(6, 120));
  Bytes v6 = tcp_over_v6(ack_flag, {}, payload);
  make_partial(v6, 54 + 16, pseudo_v6(6, 120));
  for (const Bytes& frame : {v4, v6}) {
    const Packet packet = packet_of(frame);
    Parsed parsed;
    ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
    EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::partial);
    EXPECT_EQ(canonical(packet.note().payload_sum), canonical(ones_complement_sum(payload)));
  }
}

TEST(Verify, AVerdictOfTheDeviceAvoidsReadingThePayload) {
  const Bytes payload = counting(1001);
  const Packet packet = packet_of(tcp_over_v4(ack_flag, {}, payload));
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  packet.buffer()->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
  EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::good);
  EXPECT_EQ(canonical(packet.note().payload_sum), canonical(ones_complement_sum(payload)));
}

TEST(Verify, AVerdictAboutTheDataAloneIsReported) {
  Bytes frame = tcp_over_v4(ack_flag, {}, counting(10));
  frame[34 + 16] ^= 0x55U;
  const Packet packet = packet_of(frame);
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  packet.buffer()->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
  EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::partial_verified);
  EXPECT_EQ(canonical(packet.note().payload_sum), canonical(ones_complement_sum(counting(10))));
}

TEST(Verify, ABadVerdictOfTheDeviceIsCheckedInSoftware) {
  const Packet packet = packet_of(tcp_over_v4(ack_flag, {}, counting(10)));
  Parsed parsed;
  ASSERT_EQ(parse(packet, parsed), ParseResult::tcp);
  packet.buffer()->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
  EXPECT_EQ(verify_tcp_checksum(packet, parsed), ChecksumState::good);
}

/// Makes the frame's checksum partial, completes it, and expects the frame as it was.
void expect_completed(const Bytes& whole, std::size_t field, const Bytes& pseudo_header) {
  Bytes frame = whole;
  make_partial(frame, field, pseudo_header);
  Packet packet = packet_of(frame);
  Parsed parsed;
  const ParseResult result = parse(packet, parsed);
  EXPECT_TRUE(complete_partial_checksum(packet, parsed, result));
  EXPECT_THAT(packet.bytes(), testing::ElementsAreArray(whole));
  EXPECT_FALSE(complete_partial_checksum(packet, parsed, result)) << "complete now";
}

TEST(ChecksumCompletion, TcpAndUdpChecksumsAreCompletedForIpv4AndIpv6) {
  const Bytes payload = counting(33);
  expect_completed(tcp_over_v4(ack_flag, {}, payload), 34 + 16, pseudo_v4(6, 53));
  expect_completed(tcp_over_v6(ack_flag, {}, payload), 54 + 16, pseudo_v6(6, 53));
  Bytes udp = Bytes{0, 53, 0x30, 0x39, 0, 41, 0, 0} + payload;
  put_checksum(udp, 6, pseudo_v4(17, udp.size()));
  expect_completed(ethernet(0x0800, ipv4(17, udp)), 34 + 6, pseudo_v4(17, udp.size()));
  expect_completed(ethernet(0x0800, ipv4(17, udp, {1, 1, 1, 0})), 38 + 6, pseudo_v4(17, udp.size()));
  put_checksum(udp, 6, pseudo_v6(17, udp.size()));
  expect_completed(ethernet(0x86dd, ipv6(17, udp)), 54 + 6, pseudo_v6(17, udp.size()));
}

void expect_untouched(const Bytes& frame) {
  Packet packet = packet_of(frame);
  Parsed parsed;
  const ParseResult result = parse(packet, parsed);
  EXPECT_FALSE(complete_partial_checksum(packet, parsed, result));
  EXPECT_THAT(packet.bytes(), testing::ElementsAreArray(frame));
}

TEST(ChecksumCompletion, OtherFramesAreNotChanged) {
  Bytes damaged = tcp_over_v4(ack_flag, {}, counting(9));
  damaged.back() ^= 1U;
  expect_untouched(damaged);
  expect_untouched(tcp_over_v4(ack_flag, {}, counting(9)));
  expect_untouched(ethernet(0x0800, ipv4(17, {0, 53, 0x30, 0x39, 0, 9, 0, 0, 1})));  // UDP without a checksum
  expect_untouched(ethernet(0x0800, ipv4(17, {0, 53, 0x30})));
  expect_untouched(ethernet(0x0800, ipv4(1, counting(16))));
  expect_untouched(ethernet(0x0800, ipv4(6, tcp(ack_flag), {}, 0x2000)));
  expect_untouched(ethernet(0x0806, counting(40)));
  expect_untouched(Bytes(3, 1));
}

}  // namespace
}  // namespace sluice::packet
