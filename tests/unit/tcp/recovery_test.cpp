// Tests of loss recovery with SACK (RFC 6675), without it (RFC 6582), and after timeouts (RFC 6298).
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;

/// An open connection of 100 ms round-trip time with `count` segments in flight.
void open_and_send(Script& s, int count) {
  s.config.initial_window_segments = static_cast<std::uint32_t>(count);
  s.handshake_rtt = 100ms;
  s.open();
  s.write_segments(count);
  s.emit();
  EXPECT_EQ(s.sent(), static_cast<std::size_t>(count));
  s.discard_sent();
  s.now += 100ms;
}

TEST(SackRecovery, ThreeSackedSegmentsAboveRetransmitOneLoss) {
  Script s;
  s.use_sack();
  open_and_send(s, 10);
  s.receive_sack(0, {{1 * mss, 2 * mss}});
  s.receive_sack(0, {{1 * mss, 3 * mss}});
  s.emit();
  s.expect_nothing();
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(8 * mss));

  s.receive_sack(0, {{1 * mss, 4 * mss}});
  EXPECT_TRUE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(6 * mss)) << "three sacked, one lost";
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  EXPECT_LT(s.endpoint.cwnd(), Bytes(7 * mss)) << "what is in flight, and half of what arrives";
  s.emit();
  s.expect_data(0, mss);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(7 * mss));

  s.now += 100ms;
  s.receive_ack(10 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(5 * mss));
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(0));
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 1);
  EXPECT_EQ(s.endpoint.counters().retransmitted, 1U);
  EXPECT_EQ(s.endpoint.counters().timeouts, 0);
  EXPECT_EQ(s.endpoint.next_deadline(), never);
}

TEST(SackRecovery, SeveralLossesAreRetransmittedInOneRtt) {
  Script s;
  s.use_sack();
  open_and_send(s, 20);
  // 0, 4 and 8 are lost.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks;
  s.receive_sack(0, {{1 * mss, 4 * mss}});
  s.emit();
  s.expect_data(0, mss);
  s.receive_sack(0, {{5 * mss, 8 * mss}, {1 * mss, 4 * mss}});
  s.receive_sack(0, {{9 * mss, 20 * mss}, {5 * mss, 8 * mss}, {1 * mss, 4 * mss}});
  s.emit();
  s.expect_data(4 * mss, mss);
  s.expect_data(8 * mss, mss);
  s.expect_nothing();
  s.now += 100ms;
  s.receive_sack(4 * mss, {{9 * mss, 20 * mss}, {5 * mss, 8 * mss}});
  EXPECT_TRUE(s.endpoint.in_recovery());
  s.receive_ack(20 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.counters().retransmitted, 3U);
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 1) << "one reduction for one window of data";
}

TEST(SackRecovery, NewDataIsSentAsDataIsDelivered) {
  Script s;
  s.use_sack();
  open_and_send(s, 10);
  s.write_segments(10);
  s.receive_sack(0, {{1 * mss, 4 * mss}});
  s.emit();
  s.expect_data(0, mss);  // regardless of the window
  s.expect_nothing();     // pipe 7, cwnd 5
  s.receive_sack(0, {{1 * mss, 6 * mss}});
  s.emit();
  s.expect_nothing();  // pipe 5
  s.receive_sack(0, {{1 * mss, 8 * mss}});
  s.emit();
  s.expect_data(10 * mss, mss);  // pipe 3: two may go
  s.expect_data(11 * mss, mss);
  s.expect_nothing();
}

TEST(SackRecovery, LimitedTransmitSendsNewData) {
  Script s;
  s.use_sack();
  open_and_send(s, 4);
  s.write_segments(4);
  s.receive_sack(0, {{1 * mss, 2 * mss}});
  s.emit();
  s.expect_data(4 * mss, mss);
  s.receive_sack(0, {{1 * mss, 3 * mss}});
  s.emit();
  s.expect_data(5 * mss, mss);
  s.expect_nothing();
}

TEST(SackRecovery, NonsenseBlocksAreIgnored) {
  Script s;
  s.use_sack();
  open_and_send(s, 10);
  s.receive_sack(0, {{50 * mss, 60 * mss}, {4 * mss, 2 * mss}, {3 * mss, 3 * mss}, {9 * mss, 11 * mss}});
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(10 * mss));
  s.receive_sack(2 * mss, {{0, 1 * mss}});  // a duplicate's report (RFC 2883)
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(8 * mss));
  EXPECT_FALSE(s.endpoint.in_recovery());
}

TEST(SackRecovery, AReorderedAckChangesNothing) {
  Script s;
  s.use_sack();
  open_and_send(s, 10);
  s.receive_sack(4 * mss, {{5 * mss, 6 * mss}});
  s.receive_sack(1 * mss, {{2 * mss, 3 * mss}});
  EXPECT_EQ(s.endpoint.snd_una(), s.our_base + 4 * mss);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(5 * mss));
}

TEST(SackRecovery, TheAckOfARetransmissionRevealsALostTail) {
  Script s;
  s.use_sack();
  open_and_send(s, 8);
  // 0 and the last two are lost; nothing new to send.
  s.receive_sack(0, {{1 * mss, 6 * mss}});
  s.emit();
  s.expect_data(0, mss);
  s.now += 101ms;
  s.receive_sack(6 * mss, {});
  s.emit();
  s.expect_data(6 * mss, mss);  // sent before the copy that has arrived
  s.expect_data(7 * mss, mss);
  EXPECT_EQ(s.endpoint.counters().timeouts, 0);
}

TEST(SackRecovery, DataThatThePeerRenegedIsRetransmitted) {
  Script s;
  s.use_sack();
  open_and_send(s, 5);
  s.receive_sack(0, {{1 * mss, 5 * mss}});
  s.emit();
  s.expect_data(0, mss);
  s.receive_ack(1 * mss);  // and forgot the rest
  s.pass(5s);
  s.discard_sent();
  for (std::uint32_t i = 1; i < 5; ++i) {
    s.receive_ack((i + 1) * mss);
    s.pass(5s);
  }
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
  EXPECT_GE(s.endpoint.counters().timeouts, 1);
}

// The receiver has dropped what lay behind the hole, for want of memory.
TEST(SackRecovery, RenegedDataIsRetransmittedAfterHalfARoundTrip) {
  Script s;
  s.use_sack();
  open_and_send(s, 8);
  s.endpoint.set_window_source(tcp::WindowSource::allowance, Bytes());
  s.receive_sack(0, {{1 * mss, 8 * mss}});
  s.emit();
  s.expect_data(0, mss);
  s.now += 100ms;
  const Duration rto = s.endpoint.rto();
  s.receive_ack(1 * mss);
  s.emit();
  s.expect_nothing();
  s.receive_sack(1 * mss, {{7 * mss, 8 * mss}});
  s.emit();
  s.pass(s.endpoint.srtt() / 2);
  for (std::uint32_t i = 1; i < 8; ++i) s.expect_data(i * mss, mss);
  s.expect_nothing();
  EXPECT_LE(s.endpoint.rto(), rto) << "the peer has answered";
}

TEST(SackRecovery, APeerThatOnlyReorderedItsAcksHasNotReneged) {
  Script s;
  s.use_sack();
  open_and_send(s, 5);
  s.receive_sack(0, {{1 * mss, 5 * mss}});
  s.emit();
  s.expect_data(0, mss);
  s.receive_ack(1 * mss);
  s.pass(40ms);
  s.expect_nothing();
  s.receive_ack(5 * mss);
  s.pass(5s);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.counters().timeouts, 0);
}

TEST(NewRenoRecovery, ThreeDuplicateAcksRetransmitOneLoss) {
  Script s;
  open_and_send(s, 10);
  s.receive_ack(0);
  s.receive_ack(0);
  s.emit();
  s.expect_nothing();
  s.receive_ack(0);
  EXPECT_TRUE(s.endpoint.in_recovery());
  s.emit();
  s.expect_data(0, mss);
  s.expect_nothing();
  s.now += 100ms;
  s.receive_ack(10 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.counters().duplicate_acks, 3U);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(0));
}

TEST(NewRenoRecovery, APartialAcknowledgementShowsTheNextHole) {
  Script s;
  open_and_send(s, 10);
  for (int i = 0; i < 7; ++i) s.receive_ack(0);  // 0, 3 and 6 are lost
  s.emit();
  s.expect_data(0, mss);
  s.receive_ack(3 * mss);
  s.emit();
  s.expect_data(3 * mss, mss);
  s.receive_ack(6 * mss);
  s.emit();
  s.expect_data(6 * mss, mss);
  EXPECT_TRUE(s.endpoint.in_recovery());
  s.receive_ack(10 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 1);
}

TEST(NewRenoRecovery, OnlyTheFirstPartialAcknowledgementRestartsTheTimer) {
  Script s;
  open_and_send(s, 10);
  const Duration rto = s.endpoint.rto();
  for (int i = 0; i < 5; ++i) s.receive_ack(0);  // every second one is lost
  s.emit();
  EXPECT_EQ(s.endpoint.next_deadline(), s.now + rto);
  s.pass(100ms);
  s.receive_ack(2 * mss);
  s.emit();
  const Instant deadline = s.now + rto;
  EXPECT_EQ(s.endpoint.next_deadline(), deadline);
  for (std::uint32_t hole = 4; hole <= 6; hole += 2) {
    s.pass(100ms);
    s.receive_ack(hole * mss);
    s.emit();
    EXPECT_EQ(s.endpoint.next_deadline(), deadline) << "RFC 6582 section 3.2 step 3";
  }
  s.discard_sent();
  s.pass(100ms);
  EXPECT_EQ(s.endpoint.counters().timeouts, 1);
  s.expect_data(6 * mss, mss);
  s.receive_ack(8 * mss);
  s.emit();
  s.expect_data(8 * mss, mss);
  EXPECT_EQ(s.endpoint.next_deadline(), s.now + s.endpoint.rto()) << "after the timeout every one restarts it";
}

TEST(NewRenoRecovery, ATimeoutHalvesTheBytesInFlight) {
  Script s;
  open_and_send(s, 10);
  s.write_segments(20);
  for (int i = 0; i < 9; ++i) s.receive_ack(0);
  s.emit();  // the repetition, which is lost again, and four new ones
  for (int i = 0; i < 4; ++i) s.receive_ack(0);
  s.emit();  // four more
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(18 * mss));
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(5 * mss));
  s.pass(s.endpoint.rto());
  EXPECT_EQ(s.endpoint.counters().timeouts, 1);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss / 2)) << "thirteen have arrived behind the hole";
}

TEST(NewRenoRecovery, NoRttIsMeasuredBehindAHole) {
  Script s;
  open_and_send(s, 10);
  for (int i = 0; i < 8; ++i) s.receive_ack(0);  // 0 and 5 are lost
  s.emit();
  s.pass(100ms);
  s.receive_ack(5 * mss);
  EXPECT_EQ(s.endpoint.srtt(), 100ms);
  s.emit();
  s.pass(100ms);
  s.receive_ack(10 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.srtt(), 100ms) << "the last ones came 200 ms ago";
  s.write(mss);
  s.emit();
  s.pass(180ms);
  s.receive_ack(11 * mss);
  EXPECT_EQ(s.endpoint.srtt(), 110ms);
}

TEST(NewRenoRecovery, DuplicateAcksInflateTheWindow) {
  Script s;
  open_and_send(s, 10);
  s.write_segments(10);
  for (int i = 0; i < 9; ++i) s.receive_ack(0);
  s.emit();
  s.expect_data(0, mss);
  // ssthresh 5: the retransmission and four new ones.
  for (std::uint32_t i = 10; i < 14; ++i) s.expect_data(i * mss, mss);
  s.expect_nothing();
}

TEST(NewRenoRecovery, WindowUpdatesAndDataAreNoDuplicateAcks) {
  Script s;
  open_and_send(s, 10);
  for (std::uint32_t i = 0; i < 5; ++i) {
    s.set_peer_window(30'000 + i);
    s.receive_ack(0);
    s.receive_data(i * 100, 100);
    s.their_sent = (i + 1) * 100;
  }
  EXPECT_EQ(s.endpoint.counters().duplicate_acks, 0U);
  EXPECT_FALSE(s.endpoint.in_recovery());
}

TEST(NewRenoRecovery, DuplicateAcksOfATimeoutsRetransmissionsAreNoNewLoss) {
  Script s;
  open_and_send(s, 6);
  s.pass(2s);  // everything is taken for lost
  s.discard_sent();
  s.receive_ack(6 * mss);
  s.write_segments(1);
  s.emit();
  s.discard_sent();
  for (int i = 0; i < 5; ++i) s.receive_ack(6 * mss);  // of the needless repetitions
  s.emit();
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 0) << "RFC 6582 section 3.2 step 1";
  s.expect_nothing();
}

// RFC 2001: the first acknowledgement of something new ends the recovery, and a second hole waits for the timer.
TEST(ClassicReno, APartialAcknowledgementEndsTheRecovery) {
  Script s;
  s.config.classic_reno = true;
  open_and_send(s, 10);
  s.write_segments(10);
  for (int i = 0; i < 2; ++i) s.receive_ack(0);
  s.emit();
  s.expect_nothing();
  s.receive_ack(0);
  s.emit();
  s.expect_data(0, mss);
  EXPECT_TRUE(s.endpoint.in_recovery());
  s.now += 100ms;
  s.receive_ack(2 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(5 * mss));
  s.discard_sent();
  for (int i = 0; i < 5; ++i) s.receive_ack(2 * mss);
  s.emit();
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 1);
  s.pass(1s);
  EXPECT_GE(s.endpoint.counters().timeouts, 1);
}

// … and the original that arrives after all changes nothing about that.
TEST(ClassicReno, ATimeoutIsNeverUndone) {
  Script s;
  s.config.classic_reno = true;
  open_and_send(s, 4);
  s.pass(300ms);
  s.discard_sent();
  s.receive_ack(mss);
  s.emit();
  s.expect_data(mss, mss);
  s.expect_data(2 * mss, mss);
}

TEST(Timeout, RetransmitsFromTheOldestWithAWindowOfOne) {
  Script s;
  open_and_send(s, 10);
  const Duration rto = s.endpoint.rto();
  EXPECT_EQ(rto, 300ms) << "SRTT + max(200 ms, 4 * 50 ms)";
  s.now -= 100ms;
  s.pass(rto - 1ns);
  s.expect_nothing();
  s.pass(1ns);
  s.expect_data(0, mss);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(mss));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  EXPECT_EQ(s.endpoint.rto(), 600ms);
  s.receive_ack(1 * mss);
  s.emit();
  s.expect_data(1 * mss, mss);
  s.expect_data(2 * mss, mss);
  s.expect_nothing();
}

// The congestion window held nothing back before the timeout. Now it does.
TEST(Timeout, TheWindowGrowsEvenIfItDidNotLimitBefore) {
  Script s;
  s.config.initial_window_segments = 40;
  s.handshake_rtt = 100ms;
  s.use_sack();
  s.open();
  s.write_segments(16);
  s.emit();
  EXPECT_EQ(s.sent(), 16U);
  s.pass(s.endpoint.rto() + 250ms);  // the tail probe is lost, too
  s.discard_sent();
  ASSERT_EQ(s.endpoint.counters().timeouts, 1);
  for (std::uint32_t answers = 1; answers <= 6; ++answers) {
    s.now += 100ms;
    s.receive_ack(answers * mss);
    s.emit();
    EXPECT_EQ(s.endpoint.cwnd(), Bytes((1 + answers) * mss));
  }
  s.discard_sent();
}

TEST(Timeout, SackedSegmentsAreNotRetransmitted) {
  Script s;
  s.use_sack();
  open_and_send(s, 4);
  s.receive_sack(0, {{2 * mss, 3 * mss}});
  s.pass(1s);
  s.discard_sent();
  s.receive_sack(1 * mss, {{2 * mss, 3 * mss}});
  s.emit();
  s.expect_data(1 * mss, mss);
  s.expect_data(3 * mss, mss);
  s.expect_nothing();
}

TEST(Timeout, BacksOffUntilAFreshSegmentIsMeasured) {
  Script s;
  open_and_send(s, 1);
  s.now -= 100ms;
  const Duration rto = s.endpoint.rto();
  s.pass(rto * 7);  // 1 + 2 + 4
  EXPECT_EQ(s.endpoint.counters().timeouts, 3);
  EXPECT_EQ(s.endpoint.rto(), rto * 8);
  s.receive_ack(mss);
  EXPECT_EQ(s.endpoint.srtt(), 100ms) << "Karn's rule";
  EXPECT_EQ(s.endpoint.rto(), rto * 8);
  s.write(100);
  s.emit();
  s.now += 100ms;
  s.receive_ack(mss + 100);
  EXPECT_LT(s.endpoint.rto(), rto * 2);
}

// The sample of a segment that was sent once counts, although the segment lies behind a hole.
TEST(Timeout, ASackOfASegmentThatWasSentOnceEndsTheBackoff) {
  Script s;
  s.use_sack();
  open_and_send(s, 2);
  s.endpoint.set_window_source(tcp::WindowSource::allowance, Bytes());
  s.now -= 100ms;
  s.pass(50ms);
  const Duration rto = s.endpoint.rto();
  s.pass(rto * 7);  // 1 + 2 + 4
  EXPECT_EQ(s.endpoint.rto(), rto * 8);
  s.receive_ack(1 * mss);
  EXPECT_EQ(s.endpoint.rto(), rto * 8);
  s.write_segments(2);
  s.emit();
  s.now += 100ms;
  s.receive_sack(1 * mss, {{3 * mss, 4 * mss}});
  s.emit();
  EXPECT_LT(s.endpoint.rto(), rto * 2);
  const std::uint32_t before = s.endpoint.counters().timeouts;
  s.pass(rto * 2);
  EXPECT_GT(s.endpoint.counters().timeouts, before) << "the timer does not wait for the longer timeout";
}

// It was sent before the timeout, and acknowledged when the retransmission had filled the hole before it.
TEST(Timeout, WithoutSackASegmentThatWasSentOnceEndsTheBackoffInARecovery) {
  for (const bool has_allowance : {true, false}) {
    SCOPED_TRACE(has_allowance ? "allowance" : "congestion control");
    Script s;
    s.config.ends_backoff_in_recovery = !has_allowance;
    open_and_send(s, 8);
    if (has_allowance) s.endpoint.set_window_source(tcp::WindowSource::allowance, Bytes());
    s.now -= 100ms;
    const Duration rto = s.endpoint.rto();
    s.pass(rto * 3);  // 1 + 2
    EXPECT_EQ(s.endpoint.rto(), rto * 4);
    s.receive_ack(3 * mss);
    EXPECT_TRUE(s.endpoint.in_recovery());
    EXPECT_EQ(s.endpoint.srtt(), 100ms) << "the segment has waited for the one before it";
    EXPECT_EQ(s.endpoint.rto(), rto);
  }
}

TEST(Timeout, TheThresholdFallsOncePerLoss) {
  Script s;
  open_and_send(s, 16);
  s.pass(10s);
  EXPECT_GE(s.endpoint.counters().timeouts, 3);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(8 * mss));
}

// The recovery has answered the loss, and shaped a window that is no measure of the path.
TEST(Timeout, TheThresholdOfAnEndedRecoveryIsKept) {
  Script s;
  s.config.congestion = tcp::CongestionAlgorithm::cubic;
  s.use_sack();
  open_and_send(s, 20);
  s.receive_sack(0, {{1 * mss, 4 * mss}});  // nothing else arrives
  s.emit();
  s.discard_sent();
  EXPECT_TRUE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(14 * mss));
  s.pass(s.endpoint.rto() + 1s);
  s.discard_sent();
  ASSERT_GE(s.endpoint.counters().timeouts, 1);
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(mss));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(14 * mss));
}

TEST(Timeout, TooManyTimeoutsEndTheConnection) {
  Script s;
  s.config.max_retransmissions = 4;
  s.config.max_rto = 1s;
  open_and_send(s, 2);
  s.pass(60s);
  EXPECT_EQ(s.endpoint.state(), tcp::State::closed);
  EXPECT_EQ(s.endpoint.close_reason(), tcp::CloseReason::timed_out);
  ASSERT_EQ(s.sent(), 6U);
  EXPECT_TRUE(s.wire.segments.back().segment.flags.rst()) << "the peer is told, should it be there";
}

TEST(Timeout, ALackOfBuffersDoesNotCountAsATimeout) {
  Script s;
  s.config.max_retransmissions = 2;
  open_and_send(s, 1);
  s.wire.blocked = true;
  s.pass(600s);
  EXPECT_EQ(s.endpoint.counters().timeouts, 1);
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now));
  s.wire.blocked = false;
  s.emit();
  s.expect_data(0, mss);
}

TEST(Timeout, AnAckWithinAPacketLeavesTheRest) {
  Script s;
  open_and_send(s, 2);
  s.receive_ack(333);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(2 * mss - 333));
  s.pass(5s);
  s.expect_data(333, mss - 333);
}

TEST(Acknowledgement, AnAckOfUnsentDataIsChallenged) {
  Script s;
  open_and_send(s, 2);
  s.receive(s.segment(0, 3 * mss));
  EXPECT_EQ(s.endpoint.snd_una(), s.our_base);
  s.emit();
  s.expect_ack(0);
  s.receive(s.segment(0, static_cast<std::uint32_t>(-70'000)));  // RFC 5961: older than any window
  s.now += 1s;
  s.receive_data(0, 10);
  s.their_sent = 10;
  s.receive(s.segment(10, static_cast<std::uint32_t>(-500)));  // merely old
  EXPECT_EQ(s.endpoint.rcv_nxt(), s.their_base + 10) << "the bytes before were taken";
}

TEST(Acknowledgement, SequenceNumbersWrap) {
  Script s;
  s.use_sack();
  s.our_base = tcp::SeqNum(0xfffff000U);
  open_and_send(s, 10);
  s.receive_sack(2 * mss, {{3 * mss, 6 * mss}});
  s.emit();
  s.expect_data(2 * mss, mss);
  s.receive_ack(10 * mss);
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(0));
}

}  // namespace
}  // namespace sluice::test
