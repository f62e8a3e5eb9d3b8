// Buffers in proportion to bytes: payloads that wait are joined, small segments in flight are few, and what there is no
// memory for counts as lost.

#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;

/// A connection that relays: what waits is joined.
class Relaying : public Script {
 public:
  Relaying() { config.joins_payloads = true; }
};

/// Buffers taken while this lives.
class Buffers {
 public:
  [[nodiscard]] std::uint32_t taken() const { return pool().in_use() - before_; }

 private:
  std::uint32_t before_ = pool().in_use();
};

TEST(SmallSegments, WaitingDataIsJoinedUpToASegment) {
  Relaying s;
  s.open(0);  // the window is closed
  const Buffers buffers;
  for (int i = 0; i < 500; ++i) s.write(7);
  EXPECT_EQ(buffers.taken(), 4U) << "3500 bytes";
  s.set_peer_window(60'000);
  s.receive_ack(0);
  s.emit();
  s.expect_data(0, 994);
  s.expect_data(994, 994);
  s.expect_data(1988, 994);
  s.expect_data(2982, 518);
  s.expect_nothing();
}

TEST(SmallSegments, DataSentAtOnceIsNotJoined) {
  Relaying s;
  s.open();
  for (std::uint32_t i = 0; i < 3; ++i) {
    s.write(100);
    s.emit();
    s.expect_data(i * 100, 100);
  }
}

TEST(SmallSegments, TheNumberInFlightIsBounded) {
  Relaying s;
  s.open();
  for (std::uint32_t i = 0; i < 300; ++i) {
    s.write(1);
    s.emit();
  }
  EXPECT_EQ(s.sent(), 128U);
  EXPECT_EQ(s.endpoint.unsent(), Bytes(172));
  s.discard_sent();
  s.receive_ack(1);
  s.emit();
  s.expect_data(128, 172);
  s.expect_nothing();
}

TEST(SmallSegments, AFullSegmentIsNotDelayed) {
  Relaying s;
  s.open();
  for (std::uint32_t i = 0; i < 129; ++i) {
    s.write(1);
    s.emit();
  }
  s.discard_sent();
  s.write(mss - 1);
  s.emit();
  s.expect_data(128, mss);
}

TEST(SmallSegments, TheCountIsRightAfterPartsAreAcknowledged) {
  Relaying s;
  s.open();
  s.write(mss);
  s.emit();
  s.receive_ack(900);  // what is left of it is small
  s.receive_ack(mss);
  s.discard_sent();
  for (std::uint32_t i = 0; i < 200; ++i) {
    s.write(1);
    s.emit();
  }
  EXPECT_EQ(s.sent(), 128U);
}

TEST(SmallSegments, AConnectionOfSmallSegmentsKeepsThemJoinedUntilTheyAreSent) {
  Relaying s;
  s.theirs.mss = 88;
  s.open(0);
  const Buffers buffers;
  for (int i = 0; i < 120; ++i) s.write(88);
  EXPECT_LE(buffers.taken(), 11U) << "10 560 bytes";
  s.set_peer_window(440);
  s.receive_ack(0);
  s.emit();
  for (std::uint32_t i = 0; i < 5; ++i) s.expect_data(i * 88, 88);
  s.expect_nothing();
  EXPECT_LE(buffers.taken(), 16U);
}

TEST(SmallSegments, WithoutBuffersOnlyTheSingleSegmentIsCut) {
  Relaying s;
  s.theirs.mss = 88;
  s.open(0);
  for (int i = 0; i < 20; ++i) s.write(88);
  s.set_peer_window(60'000);
  s.wire.cuts = 0;
  s.receive_ack(0);
  s.emit();
  s.expect_data(0, 88);
  s.expect_nothing();
  s.wire.cuts = 2;
  s.receive_ack(88);
  s.emit();
  s.expect_data(88, 88);
  s.expect_data(176, 88);
}

TEST(PayloadRefused, CountsAsLostAndItsAckIsProcessed) {
  Script s;
  s.open();
  s.write(100);
  s.emit();
  s.discard_sent();
  tcp::Segment data = s.segment(0, 100);
  data.payload_len = 500;
  s.endpoint.receive_without_payload(data, s.now);
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes()) << "the acknowledgement was heard";
  s.emit();
  s.expect_ack(0);
  s.receive_data(500, 500);
  s.receive_data(0, 500);
  s.emit();
  EXPECT_EQ(s.read_all(), 1000U);
}

TEST(PayloadRefused, ItsFinWaitsForTheBytesBeforeIt) {
  Script s;
  s.open();
  tcp::Segment last = s.segment(0, 0, tcp::Flags::ack_bit | tcp::Flags::fin_bit);
  last.payload_len = 500;
  s.endpoint.receive_without_payload(last, s.now);
  EXPECT_FALSE(s.endpoint.peer_finished());
  s.receive_data(0, 500, tcp::Flags::ack_bit | tcp::Flags::fin_bit);
  EXPECT_EQ(s.read_all(), 500U);
  EXPECT_TRUE(s.endpoint.peer_finished());
}

}  // namespace
}  // namespace sluice::test
