// Tests of RLC in acknowledged and unacknowledged mode: retransmissions and lost packets.
#include "emulator/link/rlc.hpp"

#include <gtest/gtest.h>

namespace sluice::emulator::link {
namespace {

using namespace std::chrono_literals;

constexpr Instant at(Duration when) {
  return Instant(when);
}

TEST(Rlc, ReceivedBytesAreComplete) {
  Rlc rlc({});
  rlc.received({0, 400});
  rlc.received({400, 1000});
  EXPECT_EQ(rlc.completed_until(), 1000U);
  EXPECT_FALSE(rlc.damaged({0, 1000}));
  EXPECT_EQ(rlc.next_ready(), never);
}

TEST(Rlc, InUnacknowledgedModeAPacketThatMissesAByteIsLost) {
  Rlc rlc({.mode = RlcMode::unacknowledged});
  rlc.received({0, 400});
  rlc.lost({400, 800}, at(10ms));
  rlc.received({800, 1200});
  EXPECT_EQ(rlc.completed_until(), 1200U);
  EXPECT_FALSE(rlc.damaged({0, 400}));
  EXPECT_TRUE(rlc.damaged({400, 700}));
  EXPECT_TRUE(rlc.damaged({700, 900}));
  EXPECT_FALSE(rlc.damaged({900, 1200}));
  EXPECT_EQ(rlc.next_ready(), never);
}

TEST(Rlc, InAcknowledgedModeLostBytesAreRetransmittedAfterTheStatus) {
  Rlc rlc({.mode = RlcMode::acknowledged, .status_delay = 50ms});
  rlc.lost({0, 400}, at(10ms));
  rlc.received({400, 800});
  EXPECT_EQ(rlc.completed_until(), 0U);
  EXPECT_EQ(rlc.next_ready(), at(60ms));
  EXPECT_EQ(rlc.waiting(at(59ms)), Bytes(0));
  EXPECT_TRUE(rlc.take(Bytes(1000), at(59ms)).empty());
  EXPECT_EQ(rlc.waiting(at(60ms)), Bytes(400));
  EXPECT_EQ(rlc.take(Bytes(1000), at(60ms)), (RlcRange{0, 400}));
  EXPECT_EQ(rlc.next_ready(), never);
  rlc.received({0, 400});
  EXPECT_EQ(rlc.completed_until(), 800U);
  EXPECT_FALSE(rlc.damaged({0, 800}));
}

TEST(Rlc, ASmallerBlockCarriesAPartOfARetransmission) {
  Rlc rlc({.mode = RlcMode::acknowledged, .status_delay = 0ms});
  rlc.lost({0, 400}, at(0ms));
  rlc.received({400, 800});
  EXPECT_EQ(rlc.take(Bytes(120), at(0ms)), (RlcRange{0, 120}));
  EXPECT_EQ(rlc.take(Bytes(120), at(0ms)), (RlcRange{120, 240}));
  EXPECT_EQ(rlc.waiting(at(0ms)), Bytes(160));
  rlc.received({0, 120});
  EXPECT_EQ(rlc.completed_until(), 120U);
  rlc.lost({120, 240}, at(5ms));
  rlc.received({240, 400});
  EXPECT_EQ(rlc.completed_until(), 120U);
  EXPECT_EQ(rlc.take(Bytes(400), at(5ms)), (RlcRange{120, 240}));
  rlc.received({120, 240});
  EXPECT_EQ(rlc.completed_until(), 800U);
}

TEST(Rlc, BytesAreAbandonedAfterTheMaximumOfRetransmissions) {
  Rlc rlc({.mode = RlcMode::acknowledged, .status_delay = 0ms, .retransmissions = 2});
  rlc.lost({0, 400}, at(0ms));
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_EQ(rlc.completed_until(), 0U);
    EXPECT_EQ(rlc.take(Bytes(400), at(0ms)), (RlcRange{0, 400}));
    rlc.lost({0, 400}, at(0ms));
  }
  EXPECT_EQ(rlc.next_ready(), never);
  EXPECT_EQ(rlc.completed_until(), 400U);
  EXPECT_TRUE(rlc.damaged({0, 100}));
}

}  // namespace
}  // namespace sluice::emulator::link
