// Tests of the window field that the proxy writes: rounding to the scale, and a right edge that never moves left (RFC
// 9293 section 3.8.6, RFC 7323 section 2.4).
#include "control/window_laws/advertised_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "control/window_laws/stream_position.hpp"

namespace sluice::control {
namespace {

TEST(AdvertisedWindow, IsTheControllersWindowRoundedDownAndAtMostTheReceivers) {
  AdvertisedWindow window(7);
  EXPECT_EQ(window.field(0_B, 500, 20'000_B), 156) << "20000/128 = 156.25";
  EXPECT_EQ(window.in_bytes(156), 19'968_B);
  EXPECT_EQ(window.edge(), 19'968_B);
  EXPECT_EQ(window.field(1448_B, 500, 100'000_B), 500);
  AdvertisedWindow unscaled(0);
  EXPECT_EQ(unscaled.field(0_B, 65'535, 1'000'000_B), 65'535) << "no field holds more";
}

// Two segments of 1460 bytes: 2816 is one of 1448, and nothing is none.
TEST(AdvertisedWindow, RoundingUpKeepsTheBytesThroughTheField) {
  for (const std::uint8_t scale : {std::uint8_t{0}, std::uint8_t{7}, std::uint8_t{8}, std::uint8_t{12}}) {
    AdvertisedWindow window(scale);
    const Bytes least = window.rounded_up(2920_B);
    EXPECT_LT(least, 2920_B + Bytes(1 << scale));
    EXPECT_GE(window.in_bytes(window.field(0_B, 60'000, least)), 2920_B);
  }
}

TEST(AdvertisedWindow, ASmallerWindowKeepsTheRightEdge) {
  AdvertisedWindow window(0);
  EXPECT_EQ(window.field(0_B, 65'535, 20'000_B), 20'000);
  EXPECT_EQ(window.field(1448_B, 65'535, 10'000_B), 18'552) << "20000 − 1448";
  EXPECT_EQ(window.edge(), 20'000_B);
  EXPECT_EQ(window.field(11'448_B, 65'535, 10'000_B), 10'000) << "the edge was waited for";
  EXPECT_EQ(window.edge(), 21'448_B);
}

// RFC 7323 section 2.4: 19968 − 1448 = 18520 is no multiple of 128. What is written lies beyond the edge that is kept,
// and the next time by another part of a unit.
TEST(AdvertisedWindow, RoundingMovesTheEdgeBackByLessThanAUnit) {
  AdvertisedWindow window(7);
  EXPECT_EQ(window.field(0_B, 500, 20'000_B), 156) << "up to 19968";
  EXPECT_EQ(window.field(1448_B, 500, 0_B), 145) << "40 bytes further";
  EXPECT_EQ(window.field(2000_B, 500, 0_B), 141) << "80 bytes further";
  EXPECT_EQ(window.edge(), 20'048_B);
  EXPECT_EQ(window.field(2432_B, 500, 0_B), 137) << "none, where the unit fits";
  EXPECT_EQ(window.edge(), 20'048_B) << "the furthest that was written";
}

// Ten packets of 948 bytes in units of 256: were what is rounded up kept, each ACK would move the edge on.
TEST(AdvertisedWindow, AKeptEdgeDoesNotAdvanceByRounding) {
  for (const std::uint8_t scale : {std::uint8_t{8}, std::uint8_t{10}}) {
    AdvertisedWindow window(scale);
    const Bytes unit{1 << scale};
    static_cast<void>(window.field(0_B, 1000, 94'800_B));
    const Bytes kept = window.edge();
    for (int i = 1; i <= 99; ++i) {
      const Bytes ack(948 * i);
      const std::uint16_t field = window.field(ack, 1000, 0_B);
      EXPECT_GE(ack + window.in_bytes(field), kept) << "ACK " << i;
      EXPECT_LT(ack + window.in_bytes(field), kept + unit) << "ACK " << i;
    }
  }
}

TEST(AdvertisedWindow, AUnitLargerThanWhatAnAckCoversLetsTheWindowShrink) {
  AdvertisedWindow window(11);
  EXPECT_EQ(window.field(0_B, 100, 20'480_B), 10);
  for (int i = 1; i < 15; ++i) EXPECT_EQ(window.field(Bytes(1448 * i), 100, 0_B), (20'480 - 1448 * i + 2047) / 2048);
}

TEST(AdvertisedWindow, ADuplicateAckStaysADuplicate) {
  AdvertisedWindow window(0);
  EXPECT_EQ(window.field(1000_B, 65'535, 5000_B), 5000);
  EXPECT_EQ(window.field(1000_B, 65'535, 9000_B), 5000);
  EXPECT_EQ(window.field(1000_B, 65'535, 100_B), 5000);
  EXPECT_EQ(window.field(1000_B, 60'000, 9000_B), 9000) << "the receiver's own update is not a duplicate";
}

TEST(AdvertisedWindow, ADuplicateAckMayCarryANewWindowToASenderWithSack) {
  constexpr auto update = AdvertisedWindow::Duplicates::update;
  AdvertisedWindow window(0);
  EXPECT_EQ(window.field(1000_B, 65'535, 5000_B, update), 5000);
  EXPECT_EQ(window.field(1000_B, 65'535, 6448_B, update), 6448);
  EXPECT_EQ(window.field(1000_B, 65'535, 100_B, update), 6448) << "the right edge stays";
}

// The receiver has announced its own window between the two ACKs, in a segment that was not read.
TEST(AdvertisedWindow, ADuplicateAckRepeatsNoWindowBehindAnAnnouncedEdge) {
  AdvertisedWindow window(0);
  EXPECT_EQ(window.field(1000_B, 65'535, 5000_B), 5000);
  window.advertise(21'000_B);
  EXPECT_EQ(window.field(1000_B, 65'535, 5000_B), 20'000);
  EXPECT_EQ(window.field(1000_B, 65'535, 30'000_B), 20'000) << "a duplicate again";
}

TEST(AdvertisedWindow, AClosedWindowOpens) {
  AdvertisedWindow window(0);
  EXPECT_EQ(window.field(1000_B, 65'535, 0_B), 0);
  EXPECT_EQ(window.field(1000_B, 65'535, 3000_B), 3000) << "the answer to a window probe";
}

TEST(AdvertisedWindow, AWindowThatTheReceiverShrinksIsFollowed) {
  AdvertisedWindow window(0);
  EXPECT_EQ(window.field(0_B, 20'000, 20'000_B), 20'000);
  EXPECT_EQ(window.field(1000_B, 2000, 20'000_B), 2000);
}

TEST(AdvertisedWindow, TheWindowOfTheHandshakeIsNotTakenBack) {
  AdvertisedWindow window(0);
  window.advertise(65'535_B);
  EXPECT_EQ(window.field(1000_B, 65'535, 5000_B), 64'535);
  EXPECT_EQ(window.field(64'000_B, 65'535, 5000_B), 5000);
}

/// Random ACKs of a receiver whose own right edge never moves left: some repeat, overtake each other or jump. The
/// controller requests any window.
struct RandomAcks {
  std::mt19937_64 random;
  std::int64_t unit;
  std::int64_t ack = 0;
  std::int64_t receiver_edge = 0;

  std::int64_t upto(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random); }
  std::uint16_t next() {
    if (upto(3) > 0) ack += upto(3) == 0 ? upto(60'000) : 1448 * upto(3);
    const std::int64_t least = std::max(std::int64_t{0}, receiver_edge - ack);
    const std::int64_t offered = std::min((least + unit - 1) / unit + upto(2000), std::int64_t{65'535});
    receiver_edge = std::max(receiver_edge, ack + offered * unit);
    return static_cast<std::uint16_t>(offered);
  }
};

TEST(AdvertisedWindow, TheEdgeStaysWithinAUnitOfTheFurthestRequested) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto scale = static_cast<std::uint8_t>(seed % 15);
    RandomAcks acks{std::mt19937_64(seed), std::int64_t{1} << scale};
    AdvertisedWindow window(scale);
    std::int64_t edge = 0, wanted_edge = 0, last_ack = -1;
    std::uint16_t last_offered = 0, last_field = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::uint16_t offered = acks.next();
      const std::int64_t wanted = acks.upto(5) == 0 ? acks.upto(1 << 30) : acks.upto(100'000);
      const std::uint16_t field = window.field(Bytes(acks.ack), offered, Bytes(wanted));
      const std::int64_t now_edge = acks.ack + field * acks.unit;
      wanted_edge = std::max(wanted_edge, acks.ack + wanted);
      ASSERT_LE(field, offered) << "seed " << seed << " ACK " << i;
      ASSERT_GT(now_edge, edge - acks.unit) << "seed " << seed << " ACK " << i;
      ASSERT_LT(now_edge, wanted_edge + acks.unit) << "seed " << seed << " ACK " << i;
      if (acks.ack == last_ack && offered == last_offered && last_field > 0) {
        ASSERT_EQ(field, last_field) << "seed " << seed << " ACK " << i;
      }
      edge = std::max(edge, now_edge);
      ASSERT_EQ(window.edge(), Bytes(edge)) << "seed " << seed << " ACK " << i;
      last_ack = acks.ack;
      last_offered = offered;
      last_field = field;
    }
  }
}

TEST(AdvertisedWindow, AReorderedAckDoesNotMoveTheEdgeBack) {
  AdvertisedWindow window(7);
  EXPECT_EQ(window.field(14'480_B, 1000, 12'800_B), 100);
  const Bytes edge = window.edge();
  const std::uint16_t field = window.field(1448_B, 1000, 1280_B);
  EXPECT_GE(1448_B + window.in_bytes(field), edge);
  EXPECT_LT(window.edge(), edge + 128_B);
}

TEST(StreamPosition, DoesNotWrap) {
  StreamPosition position(0xffff'ff00U);
  EXPECT_EQ(position.of(0xffff'ff00U), 0_B);
  EXPECT_EQ(position.of(0x100U), 512_B);
  EXPECT_EQ(position.of(0xffff'ff80U), 128_B) << "a retransmission";
  EXPECT_EQ(position.of(0xffff'fe00U), -256_B) << "older than the first";
}

TEST(StreamPosition, AgreesWithACountOfManyTimesTheSequenceSpace) {
  constexpr std::uint64_t seed = 11;
  std::mt19937_64 random(seed);
  StreamPosition position(0x1234'5678U);
  std::int64_t furthest = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t at = furthest + std::uniform_int_distribution<std::int64_t>(-(1 << 30), 1 << 30)(random);
    const auto raw = static_cast<std::uint32_t>(0x1234'5678 + at);
    ASSERT_EQ(position.of(raw), Bytes(at)) << "seed " << seed << " step " << i;
    furthest = std::max(furthest, at);
  }
  EXPECT_GT(furthest, std::int64_t{1} << 36);
}

}  // namespace
}  // namespace sluice::control
