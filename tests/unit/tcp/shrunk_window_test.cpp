// Tests of a peer that shrinks a window it had offered (RFC 9293 section 3.8.6), like a receiver without free buffers.
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;

/// With and without SACK.
class ShrunkWindow : public testing::TestWithParam<bool> {
 protected:
  ShrunkWindow() {
    if (GetParam()) s.use_sack();
    s.handshake_rtt = 100ms;
  }
  /// Puts `segments` segments in flight and then closes the window at the same numbers.
  void refuse(int segments) {
    s.open();
    s.write_segments(segments);
    s.emit();
    s.pass(10ms);
    s.discard_sent();
    s.set_peer_window(0);
    s.receive_ack(0);
    s.emit();
  }
  /// Lets time pass with a peer that answers every probe. Nothing but probes may leave.
  void expect_probes_for(Duration time) {
    for (const Instant end = s.now + time; s.now < end;) {
      s.pass(100ms);
      bool asked = false;
      for (; s.sent() != 0; asked = true) {
        EXPECT_EQ(s.wire.next().segment.payload_len, 0) << "data into a closed window";
      }
      if (asked) s.receive_ack(0);
    }
  }
  /// Lets time pass until the retransmission timer has expired. Tail loss probes are discarded.
  void time_out() {
    const auto before = s.endpoint.counters().timeouts;
    while (s.endpoint.counters().timeouts == before) {
      s.discard_sent();
      s.pass(10ms);
    }
  }
  void open_again() {
    s.set_peer_window(Script::peer_window);
    s.receive_ack(0);
    s.emit();
  }

 public:
  Script s;
};
INSTANTIATE_TEST_SUITE_P(WithAndWithoutSack, ShrunkWindow, testing::Bool());

TEST_P(ShrunkWindow, ClosesByASegmentWithEqualNumbers) {
  refuse(2);
  s.write_segments(2);
  s.emit();
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.snd_window(), Bytes(0));
}

TEST_P(ShrunkWindow, ShrinksByASegmentWithEqualNumbers) {
  s.open(10 * mss);
  s.write_segments(2);
  s.emit();
  s.discard_sent();
  s.set_peer_window(3 * mss);
  s.receive_ack(0);
  s.write_segments(2);
  s.emit();
  s.expect_data(2 * mss, mss);
  s.expect_nothing();
}

TEST_P(ShrunkWindow, ARetransmissionIsCutToIt) {
  s.open();
  s.write_segments(1);
  s.emit();
  s.discard_sent();
  s.set_peer_window(600);
  s.receive_ack(0);
  time_out();
  s.expect_data(0, 512);
  s.expect_nothing();
  s.receive_ack(512);
  s.emit();
  s.expect_data(512, mss - 512);
  s.expect_nothing();
  s.receive_ack(mss);
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
}

TEST_P(ShrunkWindow, ARetransmissionBeyondASmallWindowStaysWhole) {
  s.open();
  s.write_segments(1);
  s.emit();
  s.discard_sent();
  s.set_peer_window(200);
  s.receive_ack(0);
  time_out();
  s.expect_data(0, mss);
}

// Each change of the window could otherwise cost another buffer, until a packet is many buffers of a byte.
TEST_P(ShrunkWindow, AWindowThatShrinksByteByByteCutsFewPieces) {
  s.open();
  s.write_segments(1);
  s.emit();
  s.discard_sent();
  for (std::uint32_t window = mss - 1; window > 0; --window) {
    s.set_peer_window(0);
    s.receive_ack(0);
    s.emit();
    s.set_peer_window(window);
    s.receive_ack(0);
    s.emit();
    s.discard_sent();
  }
  s.set_peer_window(Script::peer_window);
  s.receive_ack(0);
  time_out();
  std::uint32_t bytes = 0;
  for (int pieces = 0; s.sent() != 0; ++pieces) {
    ASSERT_LT(pieces, 4);
    bytes += s.wire.next().segment.payload_len;
    s.receive_ack(bytes);
    s.emit();
  }
  EXPECT_EQ(bytes, mss);
}

TEST_P(ShrunkWindow, AnOlderAcknowledgementDoesNotCloseIt) {
  s.open();
  s.write_segments(2);
  s.emit();
  s.receive_ack(mss);
  s.set_peer_window(0);
  s.receive_ack(0);  // overtaken
  EXPECT_EQ(s.endpoint.snd_window(), Bytes(Script::peer_window));
}

TEST_P(ShrunkWindow, AnOlderSegmentDoesNotCloseIt) {
  s.open();
  s.their_sent = 100;
  s.receive_data(0, 100);
  s.set_peer_window(5000);
  s.receive_ack(0);
  s.set_peer_window(0);
  s.receive(s.segment(50, 0));
  EXPECT_EQ(s.endpoint.snd_window(), Bytes(5000));
}

TEST_P(ShrunkWindow, IsProbedLikeAnyClosedWindow) {
  refuse(4);
  s.pass(280ms);
  s.expect_nothing();
  s.pass(20ms);
  const SentSegment probe = s.expect_ack(0);
  EXPECT_EQ(probe.segment.seq, s.our_base - 1);
  s.expect_nothing();
  s.receive_ack(0);
  s.pass(570ms);
  s.expect_nothing();
  s.pass(40ms);
  s.expect_ack(0);
}

TEST_P(ShrunkWindow, APeerThatAnswersDoesNotTimeOut) {
  s.config.max_retransmissions = 3;
  s.config.max_rto = 2s;
  refuse(4);
  expect_probes_for(300s);
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
}

TEST_P(ShrunkWindow, ASilentPeerTimesOut) {
  s.config.max_retransmissions = 3;
  refuse(4);
  s.pass(60s);
  EXPECT_EQ(s.endpoint.state(), tcp::State::closed);
  EXPECT_EQ(s.endpoint.close_reason(), tcp::CloseReason::timed_out);
}

TEST_P(ShrunkWindow, IsNoSignOfCongestionOrABlackHole) {
  s.open();
  const Bytes window = s.endpoint.cwnd();
  refuse(4);
  expect_probes_for(120s);
  EXPECT_EQ(s.endpoint.effective_mss(), mss) << "no black hole";
  EXPECT_EQ(s.endpoint.cwnd(), window) << "no congestion";
}

TEST_P(ShrunkWindow, SendingResumesAtOnceWhenItOpens) {
  refuse(4);
  s.write_segments(1);
  expect_probes_for(100s);
  open_again();
  for (std::uint32_t i = 0; i < 5; ++i) s.expect_data(i * mss, mss);
  s.expect_nothing();
  s.now += 100ms;
  s.receive_ack(5 * mss);
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(0));
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_TRUE(s.endpoint.on_fast_path());
  EXPECT_EQ(s.endpoint.rto(), s.endpoint.srtt() + std::max<Duration>(s.config.min_rto, 4 * 50ms))
      << "no backoff is left";
}

TEST_P(ShrunkWindow, MayOpenByLittle) {
  refuse(4);
  expect_probes_for(20s);
  s.set_peer_window(2 * mss);
  s.receive_ack(0);
  s.emit();
  s.expect_data(0, mss);
  s.expect_data(mss, mss);
  s.expect_nothing();
  s.receive_ack(2 * mss);
  s.emit();
  s.expect_data(2 * mss, mss);
  s.expect_data(3 * mss, mss);
}

TEST_P(ShrunkWindow, AcksOfRefusedSegmentsAreNoSignOfLoss) {
  s.open();
  const Bytes window = s.endpoint.cwnd();
  refuse(4);
  for (int i = 0; i < 4; ++i) s.receive_ack(0);
  s.emit();
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.cwnd(), window);
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 0);
}

TEST_P(ShrunkWindow, DataBeyondItIsAcknowledgedIfThePeerReadIt) {
  refuse(4);
  s.receive_data(0, 1000);
  s.receive_data(1000, 1000);
  s.emit();
  const SentSegment ack = s.expect_ack(2000);
  EXPECT_EQ(ack.segment.seq, s.our_base) << "SND.NXT lies beyond its window: it would not look at it";
}

TEST_P(ShrunkWindow, AResetHasTheNextNumberOfThePeer) {
  refuse(4);
  s.endpoint.abort();
  s.emit();
  const SentSegment reset = s.wire.next();
  EXPECT_TRUE(reset.segment.flags.rst());
  EXPECT_EQ(reset.segment.seq, s.our_base);
}

TEST_P(ShrunkWindow, AFinIsProbedFor) {
  s.config.max_retransmissions = 6;
  s.open();
  s.endpoint.finish();
  s.emit();
  EXPECT_TRUE(s.wire.next().segment.flags.fin());
  s.set_peer_window(0);
  s.receive_ack(0);
  int fins = 0;
  for (int i = 0; i < 100; ++i) {
    s.pass(10s);
    while (s.sent() != 0) fins += s.wire.next().segment.flags.fin() ? 1 : 0;
    s.receive_ack(0);
  }
  EXPECT_GT(fins, 5);
  EXPECT_EQ(s.endpoint.state(), tcp::State::fin_wait_1);
  s.set_peer_window(1000);
  s.receive_ack(1);
  EXPECT_EQ(s.endpoint.state(), tcp::State::fin_wait_2);
}

TEST_P(ShrunkWindow, BytesHiddenByRoundingAreRetransmitted) {
  s.ours.has_window_scale = s.theirs.has_window_scale = true;
  s.theirs.window_scale = 10;
  s.config.max_retransmissions = 6;
  s.open();
  s.write(200);
  s.emit();
  s.discard_sent();
  s.set_peer_window(0);  // the field cannot express less than 1024 bytes
  s.receive_ack(0);
  for (int i = 0; i < 10; ++i) {
    s.pass(10s);
    s.receive_ack(0);
  }
  int repetitions = 0;
  while (s.sent() != 0) repetitions += s.wire.next().segment.payload_len == 200 ? 1 : 0;
  EXPECT_GT(repetitions, 3);
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
  s.receive_ack(200);
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
}

TEST_P(ShrunkWindow, NoTailLossProbeIsSentIntoIt) {
  s.open();
  s.write_segments(4);
  s.emit();
  s.receive_ack(mss);  // a connection on the fast path, whose timer is that of the probe
  s.discard_sent();
  s.set_peer_window(0);
  s.receive_ack(2 * mss);
  s.emit();
  for (const Instant end = s.now + 5s; s.now < end;) {
    s.pass(100ms);
    while (s.sent() != 0) EXPECT_EQ(s.wire.next().segment.payload_len, 0);
    s.receive_ack(2 * mss);
  }
}

TEST_P(ShrunkWindow, IsProbedAfterTheTimerHasExpired) {
  s.open();
  s.write_segments(2);
  s.emit();
  s.discard_sent();
  s.now += 10s;
  s.endpoint.on_timer(s.now);
  s.endpoint.on_timer(s.endpoint.next_deadline());
  s.set_peer_window(0);  // before anything could be repeated
  s.receive_ack(0);
  s.emit();
  EXPECT_NE(s.endpoint.next_deadline(), never);
}

}  // namespace
}  // namespace sluice::test
