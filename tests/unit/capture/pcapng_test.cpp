// Tests of the pcapng blocks that a capture writes, and of the client that reads them.
#include "proxy/ops/capture/pcapng.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "proxy/ops/sluicectl/blocks.hpp"

namespace sluice::capture {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::uint32_t word(const std::string& text, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, text.data() + at, sizeof value);
  return value;
}

const std::array<std::string, 2> devices{"net_null0", "net_null1"};

/// One of everything.
std::string capture() {
  std::string text;
  pcapng::begin(text, "sluice 1", devices, 0);
  const std::array<std::uint8_t, 5> bytes{1, 2, 3, 4, 5};
  pcapng::add_frame(text, {0, 1500, 5, 3, sent_own}, 0x1122334455667788, bytes, "action=forwarded reason=handshake");
  pcapng::add_statistics(text, 3, {10, 7, 2}, 1, 2);
  return text;
}

/// Returns where each block begins, by the length at both of its ends.
std::vector<std::size_t> blocks_of(const std::string& text) {
  std::vector<std::size_t> begins;
  for (std::size_t at = 0; at < text.size(); at += word(text, at + 4)) {
    begins.push_back(at);
    const std::size_t length = word(text, at + 4);
    EXPECT_EQ(length % 4, 0U);
    EXPECT_GE(length, 12U);
    EXPECT_LE(at + length, text.size());
    if (length < 12 || at + length > text.size()) break;
    EXPECT_EQ(word(text, at + length - 4), length);
  }
  return begins;
}

TEST(Pcapng, EveryBlockHasItsLengthAtBothEnds) {
  const std::string text = capture();
  const auto blocks = blocks_of(text);
  ASSERT_EQ(blocks.size(), 1U + wire_count + 2);
  EXPECT_EQ(word(text, 0), 0x0A0D0D0AU);
  EXPECT_EQ(word(text, 8), 0x1A2B3C4DU);
  for (const std::string_view name : wire_names) EXPECT_THAT(text, HasSubstr(std::string(name)));
}

TEST(Pcapng, AFrameHasItsWireTimeLengthsDirectionAndComment) {
  const std::string text = capture();
  const std::string frame = text.substr(blocks_of(text)[1 + wire_count]);
  EXPECT_EQ(word(frame, 0), 6U);
  EXPECT_EQ(word(frame, 8), 3U) << "core-sent";
  EXPECT_EQ(word(frame, 12), 0x11223344U) << "the upper half first";
  EXPECT_EQ(word(frame, 16), 0x55667788U);
  EXPECT_EQ(word(frame, 20), 5U);
  EXPECT_EQ(word(frame, 24), 1500U);
  EXPECT_EQ(frame.substr(28, 8), std::string("\1\2\3\4\5\0\0\0", 8));
  EXPECT_THAT(frame, HasSubstr("action=forwarded reason=handshake"));
}

TEST(Pcapng, TheClientReadsItInPartsOfAnySize) {
  const std::string text = capture();
  for (const std::size_t part : {std::size_t{1}, std::size_t{7}, text.size()}) {
    sluicectl::Blocks blocks;
    std::string written;
    for (std::size_t at = 0; at < text.size(); at += part) {
      const auto whole = blocks.take(std::string_view(text).substr(at, part));
      ASSERT_TRUE(whole);
      written += *whole;
      ASSERT_THAT(text, StartsWith(written));
      if (!written.empty()) blocks_of(written);
    }
    EXPECT_EQ(written, text);
    EXPECT_EQ(blocks.totals().frames, 1U);
    EXPECT_TRUE(blocks.totals().complete);
    EXPECT_EQ(blocks.totals().lost, 2U);
    EXPECT_EQ(blocks.totals().selected, 7U);
  }
}

TEST(Pcapng, TheClientRefusesInvalidBlocks) {
  for (const std::uint32_t length : {0U, 8U, 13U, 1U << 31U}) {
    std::string block(32, '\0');
    std::memcpy(block.data() + 4, &length, sizeof length);
    sluicectl::Blocks blocks;
    EXPECT_FALSE(blocks.take(block)) << length;
  }
}

}  // namespace
}  // namespace sluice::capture
