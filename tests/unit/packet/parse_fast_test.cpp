// The short way of parse() against the long one: what it takes, it must read alike, and it must take what is usual.
#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/parse.hpp"
#include "tests/support/same_segment.hpp"
#include "tests/unit/packet/frame.hpp"

namespace sluice::packet {
namespace {

using namespace test;
using sluice::test::same_segment;

constexpr std::size_t ip_at = 14, headers = 66, syn_headers = 74;
const Bytes timestamps = {1, 1, 8, 10, 0xf1, 0xf2, 0xf3, 0xf4, 0x11, 0x12, 0x13, 0x14};
const Bytes syn_options = {2, 4, 5, 0xb4, 4, 2, 8, 10, 0xf1, 0xf2, 0xf3, 0xf4, 0x11, 0x12, 0x13, 0x14, 1, 3, 3, 7};

/// Makes the checksum of an IPv4 header of 20 bytes right again.
void repair(Bytes& frame) {
  if (frame.size() < ip_at + 20) return;
  Bytes ip(frame.begin() + ip_at, frame.begin() + ip_at + 20);
  put_checksum(ip, 10);
  std::ranges::copy(ip, frame.begin() + ip_at);
}

/// Returns a Parsed whose bytes all have one value, so that every field must be written.
Parsed filled(unsigned char with) {
  Parsed parsed;
  std::memset(static_cast<void*>(&parsed), with, sizeof parsed);
  return parsed;
}

/// Returns whether the fast parser accepts the frame. If it does, both parsers must agree on all fields. It never
/// accepts a SYN.
bool taken(const Bytes& frame) {
  Parsed quick = filled(0x5a);
  if (!parse_fast(frame, quick)) return false;
  EXPECT_TRUE(quick.common && !quick.segment.flags.syn()) << testing::PrintToString(frame);
  Parsed thorough = filled(0xa5);
  EXPECT_EQ(parse_any(frame, thorough), ParseResult::tcp) << testing::PrintToString(frame);
  EXPECT_TRUE(same_segment(quick, thorough)) << testing::PrintToString(frame);
  return true;
}

Bytes usual(std::size_t payload, std::uint8_t flags = ack_flag) {
  return tcp_over_v4(flags, timestamps, Bytes(payload, 0x77));
}

TEST(CommonFrames, AreAcceptedWithAnyFreeFields) {
  std::mt19937 random(1);
  // DSCP and ECN, identification, TTL, addresses; ports, numbers, flags but SYN, window, checksum, urgent pointer.
  for (int round = 0; round < 20'000; ++round) {
    Bytes frame = usual(random() % 1500);
    for (const std::size_t at : {15U, 18U, 19U, 22U}) frame[at] = static_cast<std::uint8_t>(random());
    for (std::size_t at = 26; at < 46; ++at) frame[at] = static_cast<std::uint8_t>(random());
    for (std::size_t at = 47; at < 54; ++at) frame[at] = static_cast<std::uint8_t>(random());
    for (std::size_t at = 58; at < headers; ++at) frame[at] = static_cast<std::uint8_t>(random());
    frame[47] = static_cast<std::uint8_t>(frame[47] & ~syn_flag);
    repair(frame);
    frame.resize(frame.size() + random() % 8);  // padding
    ASSERT_TRUE(taken(frame)) << testing::PrintToString(frame);
  }
}

TEST(CommonFrames, AreNotAcceptedWithoutDf) {
  Bytes frame = usual(100);
  frame[20] = 0;
  repair(frame);
  EXPECT_FALSE(taken(frame));
}

TEST(CommonFrames, AreParsedAlikeOrRefusedWithOneFlippedBit) {
  for (const std::size_t payload : {0U, 1U, 100U}) {
    int refused = 0;
    for (std::size_t bit = 0; bit < headers * 8; ++bit) {
      for (const bool repaired : {false, true}) {
        Bytes frame = usual(payload, psh_ack);
        frame[bit / 8] = static_cast<std::uint8_t>(frame[bit / 8] ^ (1U << (bit % 8)));
        if (repaired) repair(frame);
        refused += taken(frame) ? 0 : 1;
      }
    }
    EXPECT_GT(refused, 100);
    EXPECT_LT(refused, 800);
  }
}

TEST(CommonFrames, AreParsedAlikeOrRefusedIfTruncated) {
  const Bytes whole = usual(20) + Bytes(6, 0);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const Bytes frame(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(taken(frame), length >= headers + 20) << length;
  }
}

TEST(CommonFrames, AreAcceptedOnlyWithAPlausibleLength) {
  Bytes frame = usual(40);
  for (unsigned total = 0; total <= 0xffff; ++total) {
    frame[16] = static_cast<std::uint8_t>(total >> 8);
    frame[17] = static_cast<std::uint8_t>(total);
    repair(frame);
    ASSERT_EQ(taken(frame), total >= headers - ip_at && total <= frame.size() - ip_at) << total;
  }
}

TEST(CommonFrames, AreParsedAlikeOrRefusedIfMutated) {
  std::mt19937 random(2);
  const std::vector<Bytes> bases = {usual(0),
                                    usual(9, psh_ack),
                                    usual(3, syn_flag),
                                    tcp_over_v4(ack_flag),
                                    tcp_over_v4(ack_flag, {1, 1, 1, 0}),
                                    tcp_over_v4(ack_flag, Bytes(12, 1)),
                                    tcp_over_v4(ack_flag, timestamps + Bytes{1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2}),
                                    tcp_over_v6(ack_flag, timestamps),
                                    tagged(usual(0), 0x8100, 5),
                                    ethernet(0x0800, ipv4(6, tcp(ack_flag, timestamps), {1, 1, 1, 1})),
                                    ethernet(0x0800, ipv4(6, tcp(ack_flag, timestamps), {}, 0x2001)),
                                    ethernet(0x0800, ipv4(17, Bytes(60, 3)))};
  int took = 0;
  for (int round = 0; round < 200'000; ++round) {
    Bytes frame = bases[random() % bases.size()];
    for (unsigned changes = random() % 4; changes > 0; --changes)
      frame[random() % std::min(frame.size(), headers)] = static_cast<std::uint8_t>(random());
    if (random() % 8 == 0) frame.resize(random() % (frame.size() + 4));
    if (random() % 2 == 0) repair(frame);
    took += taken(frame) ? 1 : 0;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(took, 10'000);
}

/// Returns whether the fast parser accepts a SYN, and checks that it parses like the general one.
bool syn_taken(const Bytes& frame) {
  Parsed quick = filled(0x5a);
  if (!parse_fast_syn(frame, quick)) return false;
  EXPECT_TRUE(!quick.common && quick.segment.flags.syn()) << testing::PrintToString(frame);
  Parsed thorough = filled(0xa5);
  EXPECT_EQ(parse_any(frame, thorough), ParseResult::tcp) << testing::PrintToString(frame);
  EXPECT_TRUE(same_segment(quick, thorough)) << testing::PrintToString(frame);
  return true;
}

Bytes usual_syn(std::size_t payload = 0, std::uint8_t flags = syn_flag) {
  return tcp_over_v4(flags, syn_options, Bytes(payload, 0x77));
}

TEST(CommonSyns, AreAcceptedWithAnyFreeFields) {
  std::mt19937 random(3);
  // As above, but for flags of ECN; MSS, timestamps, and how far windows are shifted, too far as well.
  for (int round = 0; round < 20'000; ++round) {
    Bytes frame = usual_syn(random() % 100);
    for (const std::size_t at : {15U, 18U, 19U, 22U, 56U, 57U, 73U}) frame[at] = static_cast<std::uint8_t>(random());
    for (std::size_t at = 26; at < 46; ++at) frame[at] = static_cast<std::uint8_t>(random());
    frame[47] = static_cast<std::uint8_t>((random() & 0x3dU) | syn_flag);
    for (std::size_t at = 48; at < 54; ++at) frame[at] = static_cast<std::uint8_t>(random());
    for (std::size_t at = 62; at < 70; ++at) frame[at] = static_cast<std::uint8_t>(random());
    repair(frame);
    frame.resize(frame.size() + random() % 8);  // padding
    ASSERT_TRUE(syn_taken(frame)) << testing::PrintToString(frame);
  }
}

TEST(CommonSyns, AreNotAcceptedWithEcnFlags) {
  EXPECT_FALSE(syn_taken(usual_syn(0, syn_flag | 0xc0)));
  EXPECT_FALSE(syn_taken(usual_syn(0, syn_flag | ack_flag | 0x40)));
  EXPECT_TRUE(syn_taken(usual_syn(0, syn_flag | ack_flag)));
}

TEST(CommonSyns, AreParsedAlikeOrRefusedWithOneFlippedBit) {
  int refused = 0;
  for (std::size_t bit = 0; bit < syn_headers * 8; ++bit) {
    for (const bool repaired : {false, true}) {
      Bytes frame = usual_syn();
      frame[bit / 8] = static_cast<std::uint8_t>(frame[bit / 8] ^ (1U << (bit % 8)));
      if (repaired) repair(frame);
      refused += syn_taken(frame) ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 200);
  EXPECT_LT(refused, 900);
}

TEST(CommonSyns, AreParsedAlikeOrRefusedIfTruncated) {
  const Bytes whole = usual_syn() + Bytes(6, 0);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const Bytes frame(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(syn_taken(frame), length >= syn_headers) << length;
  }
}

TEST(CommonSyns, AreAcceptedOnlyWithAPlausibleLength) {
  Bytes frame = usual_syn(40);
  for (unsigned total = 0; total <= 0xffff; ++total) {
    frame[16] = static_cast<std::uint8_t>(total >> 8);
    frame[17] = static_cast<std::uint8_t>(total);
    repair(frame);
    ASSERT_EQ(syn_taken(frame), total >= syn_headers - ip_at && total <= frame.size() - ip_at) << total;
  }
}

TEST(CommonSyns, AreParsedAlikeOrRefusedIfMutated) {
  std::mt19937 random(4);
  const std::vector<Bytes> bases = {usual_syn(),
                                    usual_syn(9, syn_flag | ack_flag),
                                    usual_syn(0, ack_flag),
                                    tcp_over_v4(syn_flag),
                                    tcp_over_v4(syn_flag, Bytes(20, 1)),
                                    tcp_over_v6(syn_flag, syn_options),
                                    tagged(usual_syn(), 0x8100, 5)};
  int took = 0;
  for (int round = 0; round < 100'000; ++round) {
    Bytes frame = bases[random() % bases.size()];
    for (unsigned changes = random() % 4; changes > 0; --changes)
      frame[random() % std::min(frame.size(), syn_headers)] = static_cast<std::uint8_t>(random());
    if (random() % 8 == 0) frame.resize(random() % (frame.size() + 4));
    if (random() % 2 == 0) repair(frame);
    took += syn_taken(frame) ? 1 : 0;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(took, 5'000);
}

}  // namespace
}  // namespace sluice::packet
