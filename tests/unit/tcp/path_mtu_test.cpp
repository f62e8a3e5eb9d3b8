// Tests of paths with a smaller MTU than the handshake agreed on (RFC 1191, 8201, 4821).
#include <algorithm>
#include <vector>

#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;

/// A peer behind a path with a given MTU, which reports what it lacks.
class NarrowPath {
 public:
  NarrowPath(Script& script, std::uint32_t most) : carries(most), s_(script) {}

  /// Everything that is sent arrives, or does not fit; the peer's answer comes after 50 ms. A peer without SACK answers
  /// each segment.
  void round() {
    s_.emit();
    std::vector<std::uint32_t> acks;
    while (s_.sent() != 0) {
      const SentSegment sent = s_.wire.next();
      const auto at = static_cast<std::uint32_t>(sent.segment.seq - s_.our_base);
      if (sent.segment.payload_len > carries) continue;
      for (std::uint32_t i = at; i < at + sent.segment.payload_len; ++i) {
        if (i >= held_.size()) held_.resize(i + 1);
        held_[i] = true;
      }
      while (acked_ < held_.size() && held_[acked_]) ++acked_;
      if (sent.segment.payload_len != 0) acks.push_back(acked_);
    }
    s_.pass(50ms);
    if (!s_.endpoint.uses_sack()) {
      for (const std::uint32_t ack : acks) s_.receive_ack(ack);
      return;
    }
    auto left = acked_;
    while (left < held_.size() && !held_[left]) ++left;
    const auto end = static_cast<std::uint32_t>(held_.size());
    if (left < end) {
      s_.receive_sack(acked_, {{left, end}});
    } else {
      s_.receive_ack(acked_);
    }
  }

  std::uint32_t carries;

 private:
  Script& s_;
  std::vector<bool> held_;
  std::uint32_t acked_ = 0;
};

class PathMtu : public testing::Test {
 protected:
  /// Puts `segments` segments in flight.
  void send(int segments) {
    s.config.tail_loss_probes = false;
    s.handshake_rtt = 100ms;
    s.open();
    s.write_segments(segments);
    s.emit();
    s.discard_sent();
  }
  /// Sends after an ICMP error that allows at most 600 bytes.
  NarrowPath send_smaller(bool sack = true) {
    if (sack) s.use_sack();
    send(2);
    EXPECT_TRUE(s.endpoint.path_carries(s.our_base, Bytes(600), s.now));
    NarrowPath path(s, 600);
    for (int i = 0; i < 4; ++i) path.round();
    EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
    return path;
  }

  void expect_full_segments_after_outage() {
    NarrowPath path(s, mss);
    send(2);
    s.pass(300ms + 600ms + 1200ms + 2400ms + 100ms);
    ASSERT_EQ(s.endpoint.effective_mss(), 512U);
    s.discard_sent();
    s.write_segments(60);
    for (int i = 0; i < 200; ++i) path.round();
    EXPECT_EQ(s.endpoint.effective_mss(), mss);
  }

 public:
  Script s;
};

TEST_F(PathMtu, AnIcmpErrorResegmentsOutstandingAndLaterData) {
  s.use_sack();
  send(2);
  const Bytes window = s.endpoint.cwnd();
  EXPECT_TRUE(s.endpoint.path_carries(s.our_base, Bytes(600), s.now));
  EXPECT_EQ(s.endpoint.effective_mss(), 600U);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(0));
  s.emit();
  s.expect_data(0, 600);
  s.expect_data(600, 400);
  s.expect_data(1000, 600);
  s.expect_data(1600, 400);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.cwnd(), window) << "no congestion";
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(2 * mss));
  s.write(mss);
  s.emit();
  s.expect_data(2000, 600);
  s.expect_data(2600, 400);
  s.now += 100ms;
  s.receive_ack(3 * mss);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(0));
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
}

TEST_F(PathMtu, AnErrorAboutDataNotInFlightIsIgnored) {
  send(2);
  EXPECT_FALSE(s.endpoint.path_carries(s.our_base - 1, Bytes(600), s.now));
  EXPECT_FALSE(s.endpoint.path_carries(s.our_base + 2 * mss, Bytes(600), s.now));
  EXPECT_EQ(s.endpoint.effective_mss(), mss);
}

TEST_F(PathMtu, ALargerSizeIsRefusedAndATinyOneIsBounded) {
  send(2);
  EXPECT_FALSE(s.endpoint.path_carries(s.our_base, Bytes(mss), s.now));
  EXPECT_FALSE(s.endpoint.path_carries(s.our_base, Bytes(9000), s.now));
  EXPECT_TRUE(s.endpoint.path_carries(s.our_base, Bytes(8), s.now));
  EXPECT_EQ(s.endpoint.effective_mss(), 512U);
}

TEST_F(PathMtu, SackedDataIsNotRetransmitted) {
  s.use_sack();
  send(3);
  s.receive_sack(0, {{1 * mss, 2 * mss}});
  EXPECT_TRUE(s.endpoint.path_carries(s.our_base, Bytes(600), s.now));
  s.emit();
  s.expect_data(0, 600);
  s.expect_data(600, 400);
  s.expect_data(2000, 600);
  s.expect_data(2600, 400);
  s.expect_nothing();
}

TEST_F(PathMtu, ABlackHoleIsDetectedWhileThePeerSends) {
  send(2);
  std::uint32_t position = 0;
  for (int i = 0; i < 40 && s.endpoint.effective_mss() == mss; ++i) {
    s.pass(100ms);
    s.receive_data(position, 10);  // the other direction works
    position += 10;
    s.their_sent = position;
  }
  EXPECT_EQ(s.endpoint.effective_mss(), 512U);
  EXPECT_EQ(s.endpoint.counters().timeouts, 3);
  while (s.sent() != 0 && s.wire.segments.front().segment.payload_len != 512) s.wire.next();
  s.expect_data(0, 512);
  s.receive_ack(512);
  s.emit();
  while (s.sent() != 0 && s.wire.segments.front().segment.payload_len == 0) s.wire.next();
  s.expect_data(512, 488);
}

TEST_F(PathMtu, ABlackHoleIsDetectedWhileThePeerIsSilent) {
  s.use_sack();
  send(2);
  s.pass(300ms + 600ms + 1200ms + 2400ms + 100ms);
  EXPECT_GE(s.endpoint.counters().timeouts, 3);
  EXPECT_EQ(s.endpoint.effective_mss(), 512U);
}

TEST_F(PathMtu, AnOutageCostsNoMoreThanAFewRoundTripsOfSmallSegments) {
  s.use_sack();
  expect_full_segments_after_outage();
}

TEST_F(PathMtu, WithoutSackAnOutageCostsNoMoreThanAFewRoundTripsOfSmallSegments) {
  expect_full_segments_after_outage();
}

TEST_F(PathMtu, WithoutSackThreeTimeoutsAreNoBlackHole) {
  send(2);
  s.pass(300ms + 600ms + 1200ms + 100ms);
  EXPECT_EQ(s.endpoint.counters().timeouts, 3);
  EXPECT_EQ(s.endpoint.effective_mss(), mss);
  s.pass(2400ms);
  EXPECT_EQ(s.endpoint.effective_mss(), 512U);
}

TEST_F(PathMtu, ASmallerMtuOfThePortLimitsSegments) {
  send(2);
  s.write_segments(2);
  s.endpoint.port_carries(mss, 700, s.now);
  EXPECT_EQ(s.endpoint.effective_mss(), 700U);
  s.emit();
  s.pass(300ms + 600ms + 100ms);
  while (s.sent() != 0) EXPECT_LE(s.wire.next().segment.payload_len, 700);
}

TEST_F(PathMtu, ALargerMtuOfThePortRestoresTheMssOfThePeer) {
  send(1);
  s.receive_ack(mss);
  s.endpoint.port_carries(mss, 700, s.now);
  s.endpoint.port_carries(mss, 8960, s.now);
  EXPECT_EQ(s.endpoint.effective_mss(), mss);
  s.write_segments(1);
  s.emit();
  s.expect_data(mss, mss);
  EXPECT_TRUE(s.endpoint.on_fast_path());
}

TEST_F(PathMtu, NoLargerSizeIsProbedForTenMinutes) {
  send_smaller();
  s.now += 600s;
  s.write_segments(12);
  s.emit();
  while (s.sent() != 0) EXPECT_LE(s.wire.next().segment.payload_len, 600);
}

TEST_F(PathMtu, ALargerPathMtuIsDetected) {
  send_smaller();
  s.now += 900s;
  s.write_segments(12);
  s.emit();
  s.expect_data(2000, 1000);
  s.expect_data(3000, 600);
  EXPECT_EQ(s.endpoint.effective_mss(), 600U) << "nothing is known yet";
  s.receive_ack(3600);
  EXPECT_EQ(s.endpoint.effective_mss(), mss);
  EXPECT_TRUE(s.endpoint.on_fast_path());
}

TEST_F(PathMtu, ASearchFindsThePathMtuWithoutReducingTheWindow) {
  NarrowPath path = send_smaller();
  const Bytes window = s.endpoint.cwnd();
  path.carries = 830;
  s.now += 900s;
  s.write_segments(60);
  for (int i = 0; i < 60; ++i) path.round();
  EXPECT_GT(s.endpoint.effective_mss(), 750U);
  EXPECT_LE(s.endpoint.effective_mss(), 830U);
  EXPECT_EQ(s.endpoint.counters().timeouts, 0);
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 0);
  EXPECT_GE(s.endpoint.cwnd(), window);
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
}

TEST_F(PathMtu, WithoutSackASearchFindsThePathMtuAndKeepsTheWindow) {
  NarrowPath path = send_smaller(false);
  Bytes window = s.endpoint.cwnd() / 2;  // the pause reduces it once
  path.carries = 830;
  s.now += 900s;
  for (int i = 0; i < 60; ++i) {
    s.write_segments(12);
    path.round();
    EXPECT_GE(s.endpoint.cwnd(), window);
    window = s.endpoint.cwnd();
  }
  for (int i = 0; i < 60; ++i) path.round();
  EXPECT_GT(s.endpoint.effective_mss(), 750U);
  EXPECT_LE(s.endpoint.effective_mss(), 830U);
  EXPECT_EQ(s.endpoint.counters().timeouts, 0);
  EXPECT_GE(s.endpoint.counters().fast_recoveries, 1) << "duplicate ACKs report the lost probe";
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX)) << "no congestion";
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
}

// Two segments behind the probe are lost, too.
TEST_F(PathMtu, WithoutSackALossBesideTheProbeReducesTheWindow) {
  send_smaller(false);
  s.now += 900s;
  s.write_segments(12);
  s.emit();
  s.expect_data(2000, 1000);
  for (int i = 0; i < 4; ++i) s.receive_ack(2000);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
  s.emit();
  s.receive_ack(2600);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX)) << "the rest of the probe";
  s.receive_ack(3000);
  EXPECT_LT(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
}

TEST_F(PathMtu, AnIcmpErrorEndsTheSearch) {
  send_smaller();
  s.now += 900s;
  s.write_segments(12);
  s.emit();
  s.discard_sent();
  EXPECT_TRUE(s.endpoint.path_carries(s.our_base + 2000, Bytes(800), s.now));
  EXPECT_EQ(s.endpoint.effective_mss(), 800U);
  s.emit();
  s.expect_data(2000, 800);
  s.expect_data(2800, 200);
}

TEST_F(PathMtu, TooLittleDataStartsNoProbe) {
  send_smaller();
  s.now += 900s;
  s.write_segments(2);
  s.emit();
  s.expect_data(2000, 600);
}

}  // namespace
}  // namespace sluice::test
