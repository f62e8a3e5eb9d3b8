// Tests of the sender: windows, ACK processing, the fast path of pure ACKs, and allowances.
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

using tcp::WindowSource;

constexpr std::uint32_t mss = Script::mss;

TEST(Sender, SlowStartBeginsWithTheInitialWindow) {
  Script s;
  s.open();
  s.write_segments(50);
  s.emit();
  EXPECT_EQ(s.sent(), 10U);
  s.discard_sent();
  s.now += 50ms;
  s.receive_ack(2 * mss);
  s.emit();
  EXPECT_EQ(s.sent(), 4U) << "two left, and the window grew by two";
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(12 * mss));
  EXPECT_EQ(s.endpoint.srtt(), 50ms);
}

TEST(Sender, TheWindowOfThePeerIsObeyed) {
  Script s;
  s.open(3500);
  s.write_segments(10);
  s.emit();
  EXPECT_EQ(s.sent(), 3U);
  EXPECT_FALSE(s.endpoint.can_send_now());
  EXPECT_EQ(s.endpoint.unsent(), Bytes(7 * mss));
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(3 * mss));
  s.discard_sent();
  s.set_peer_window(4500);
  s.receive_ack(0);
  EXPECT_TRUE(s.endpoint.can_send_now());
  s.emit();
  s.expect_data(3 * mss, mss);
  s.expect_nothing();
}

TEST(Sender, TheFastPathOfAPureAckEqualsTheSlowPath) {
  Script fast, slow;
  for (Script* const s : {&fast, &slow}) {
    s->use_timestamps();
    s->open();
    s->write_segments(6);
    s->emit();
    s->now += 30ms;
    s->set_peer_window(50'000);
  }
  for (const std::uint32_t ack : {1U, 3U, 6U}) {
    tcp::AckSample ack_sample, other;
    EXPECT_TRUE(fast.endpoint.receive_pure_ack(fast.segment(0, ack * mss), fast.now, &ack_sample));
    slow.endpoint.receive(slow.segment(0, ack * mss), {}, slow.now, &other);
    EXPECT_EQ(ack_sample.delivered, other.delivered);
    EXPECT_EQ(ack_sample.rtt, other.rtt);
    EXPECT_EQ(fast.endpoint.snd_una(), slow.endpoint.snd_una());
    EXPECT_EQ(fast.endpoint.snd_window(), slow.endpoint.snd_window());
    EXPECT_EQ(fast.endpoint.cwnd(), slow.endpoint.cwnd());
    EXPECT_EQ(fast.endpoint.srtt(), slow.endpoint.srtt());
    EXPECT_EQ(fast.endpoint.next_deadline(), slow.endpoint.next_deadline());
  }
}

TEST(Sender, TheFastPathAcceptsOnlyPureAcks) {
  Script s;
  s.use_sack();
  s.open();
  s.write_segments(6);
  s.emit();
  tcp::Segment selective = s.segment(0, 2 * mss);
  selective.sack_blocks[0] = {s.our_base + 3 * mss, s.our_base + 4 * mss};
  selective.sack_count = 1;
  const std::vector<tcp::Segment> others = {
      s.segment(0, 0),                                               // a duplicate
      s.segment(0, 7 * mss),                                         // never sent
      s.segment(5, mss),                                             // behind a hole
      s.segment(0, mss, tcp::Flags::ack_bit | tcp::Flags::fin_bit),  // the peer's end
      selective};
  for (const tcp::Segment& other : others) {
    EXPECT_FALSE(s.endpoint.receive_pure_ack(other, s.now));
    EXPECT_EQ(s.endpoint.snd_una(), s.our_base);
    EXPECT_TRUE(s.endpoint.on_fast_path());
  }
  EXPECT_TRUE(s.endpoint.receive_pure_ack(s.segment(0, mss), s.now));
}

TEST(Sender, AnOldSegmentDoesNotChangeTheWindow) {
  Script s;
  s.open(4000);
  s.receive_data(0, 100);
  s.their_sent = 100;
  s.set_peer_window(5000);
  s.receive_ack(0);
  EXPECT_EQ(s.endpoint.snd_window(), Bytes(5000));
  s.set_peer_window(2000);
  tcp::Segment old = s.segment(50, 0);
  s.receive(old);
  EXPECT_EQ(s.endpoint.snd_window(), Bytes(5000));
}

TEST(Sender, AWindowThatDoesNotLimitDoesNotGrow) {
  Script s;
  s.open();
  for (std::uint32_t i = 1; i <= 20; ++i) {
    s.write(mss);
    s.emit();
    s.now += 10ms;
    s.receive_ack(i * mss);
  }
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(10 * mss)) << "one segment at a time proves nothing about ten";
}

TEST(Sender, ALongPauseRestartsFromTheInitialWindow) {
  Script s;
  s.config.initial_window_segments = 4;
  s.open();
  std::uint32_t acked = 0;
  for (int round = 0; round < 4; ++round) {
    s.write_segments(64);
    s.emit();
    s.now += 10ms;
    acked += static_cast<std::uint32_t>(s.endpoint.unacknowledged().count());
    s.receive_ack(acked);
    s.discard_sent();
  }
  EXPECT_GT(s.endpoint.cwnd(), Bytes(20 * mss));
  while (s.endpoint.unsent() != Bytes()) {
    s.emit();
    acked += static_cast<std::uint32_t>(s.endpoint.unacknowledged().count());
    s.receive_ack(acked);
  }
  s.discard_sent();
  s.now += 10s;
  s.write_segments(30);
  s.emit();
  EXPECT_EQ(s.sent(), 4U) << "RFC 5681 section 4.1";
}

TEST(Sender, ARefusedSegmentStaysPending) {
  Script s;
  s.open();
  s.write_segments(5);
  s.wire.full_after = 2;
  s.emit();
  EXPECT_EQ(s.sent(), 2U);
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now));
  s.wire.full_after = UINT64_MAX;
  s.emit();
  ASSERT_EQ(s.sent(), 5U);
  for (std::uint32_t i = 0; i < 5; ++i) s.expect_data(i * mss, mss);
}

TEST(Sender, ARefusedAckStaysPending) {
  Script s;
  s.open();
  s.receive_data(0, 1000);
  s.receive_data(1000, 1000);
  s.wire.blocked = true;
  s.emit();
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now));
  s.wire.blocked = false;
  s.emit();
  s.expect_ack(2000);
}

TEST(Sender, TheLastSegmentIsPushed) {
  Script s;
  s.open();
  s.write_segments(2);
  s.emit();
  EXPECT_FALSE(s.expect_data(0, mss).segment.flags.psh());
  EXPECT_TRUE(s.expect_data(mss, mss).segment.flags.psh());
}

TEST(Sender, SackBlocksAreAddedToDataOnlyIfTheyFit) {
  Script s;
  s.use_sack();
  s.open();
  s.receive_data(2000, 500);
  s.write(mss);
  s.write(mss - 12);
  s.emit();
  EXPECT_EQ(s.expect_ack(0).segment.sack_count, 1) << "told at once, ahead of full segments";
  EXPECT_EQ(s.expect_data(0, mss).segment.sack_count, 0);
  EXPECT_EQ(s.expect_data(mss, mss - 12).segment.sack_count, 1);
}

/// Opens a connection whose sending is limited by an allowance, and sends ten of 20 segments.
void send_half_of_20_segments(Script& s) {
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.open();
  s.write_segments(20);
  s.emit(Bytes(1040 * 10));
  s.discard_sent();
}

TEST(Allowance, LimitsByWireSize) {
  Script s;
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.open();
  s.write_segments(30);
  EXPECT_EQ(s.emit(Bytes(0)), Bytes(0));
  s.expect_nothing();
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now));
  EXPECT_EQ(s.emit(Bytes(1040 * 3 + 1039)), Bytes(1040 * 3));
  EXPECT_EQ(s.sent(), 3U);
  EXPECT_EQ(s.emit(Bytes(1040 * 20)), Bytes(1040 * 20)) << "cwnd is not consulted";
}

TEST(Allowance, AcknowledgementsAreNotCounted) {
  Script s;
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.open();
  s.write_segments(1);
  s.receive_data(0, 100);
  s.receive_data(100, 100);
  EXPECT_EQ(s.emit(Bytes(0)), Bytes(0));
  s.expect_ack(200);
  s.expect_nothing();
}

TEST(Allowance, RetransmissionsAreCounted) {
  Script s;
  s.use_sack();
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.open();
  s.write_segments(10);
  s.emit();
  s.discard_sent();
  s.receive_sack(0, {{2 * mss, 10 * mss}});
  EXPECT_EQ(s.emit(Bytes(1040)), Bytes(1040));
  s.expect_data(0, mss);
  s.expect_nothing();
  EXPECT_EQ(s.emit(Bytes(1039)), Bytes(0));
  EXPECT_EQ(s.emit(Bytes(1040)), Bytes(1040));
  s.expect_data(mss, mss);
}

// After a timeout the sender does not know which later segments have arrived. They are retransmitted at the rate of
// slow start, before any new data. Only the F-RTO test sends two new segments.
TEST(Allowance, WithoutSackATimeoutRetransmitsAtTheRateOfSlowStart) {
  Script s;
  s.handshake_rtt = 100ms;
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.open();
  s.write_segments(60);
  s.emit(Bytes(1040 * 20));
  s.discard_sent();
  s.pass(300ms);
  s.expect_data(0, mss);
  // 0, 2 and 4 are lost; a duplicate ACK shows that the timeout was not spurious.
  s.receive_ack(2 * mss);
  s.emit(Bytes(1040 * 10));
  for (std::uint32_t i = 20; i < 22; ++i) s.expect_data(i * mss, mss);
  s.expect_nothing();
  EXPECT_FALSE(s.endpoint.can_send_now());
  s.receive_ack(2 * mss);
  s.emit(Bytes(1040 * 10));
  s.expect_data(2 * mss, mss);
  s.expect_data(3 * mss, mss);
  s.expect_nothing();
  EXPECT_FALSE(s.endpoint.can_send_now());
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(3 * mss)) << "the duplicate ACK shows that one new segment has arrived";
  EXPECT_TRUE(s.endpoint.in_recovery());
  s.receive_ack(4 * mss);
  s.emit(Bytes(1040 * 4));
  for (std::uint32_t i = 4; i < 7; ++i) s.expect_data(i * mss, mss);
  s.expect_nothing();
  s.receive_ack(22 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.counters().retransmitted, 6U);
  s.emit(Bytes(1040));
  s.expect_data(22 * mss, mss);
}

// Each duplicate ACK stands for a segment that has arrived. When the first retransmission is acknowledged, the other
// segments are missing and that many are retransmitted at once. Each later ACK reduces the number by one.
TEST(Allowance, WithoutSackAsManySegmentsAreRetransmittedAsAreMissing) {
  Script s;
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.open();
  s.write_segments(60);
  s.emit(Bytes(1040 * 20));
  s.discard_sent();
  // 0, 1, 2 and 5 are lost.
  for (int i = 0; i < 16; ++i) s.receive_ack(0);
  s.emit(Bytes(1040 * 3));
  s.expect_data(0, mss);
  for (std::uint32_t i = 20; i < 22; ++i) s.expect_data(i * mss, mss);
  s.receive_ack(1 * mss);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(2 * mss)) << "the others have arrived or are lost";
  s.emit(Bytes(1040 * 4));
  for (std::uint32_t i = 1; i < 4; ++i) s.expect_data(i * mss, mss);
  s.expect_data(22 * mss, mss);
  s.receive_ack(2 * mss);
  s.receive_ack(5 * mss);
  s.emit(Bytes(1040 * 2));
  s.expect_data(5 * mss, mss);
  s.expect_data(23 * mss, mss);
  s.receive_ack(24 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.counters().retransmitted, 5U) << "four were lost";
}

/// Sends `segments` segments under an allowance, and a FIN after them if `with_fin`. The peer has the first segment,
/// and acknowledges it `duplicates` more times, so that a recovery begins.
void lose_all_but_the_first(Script& s, int segments, int duplicates, bool with_fin = false) {
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.config.initial_window_segments = 100;
  s.open();
  s.write_segments(segments);
  if (with_fin) s.endpoint.finish();
  s.emit();
  s.discard_sent();
  for (int i = 0; i <= duplicates; ++i) s.receive_ack(1 * mss);
}

// A buffer overflow has lost 30 neighbours. Too few duplicate ACKs arrive to estimate their number.
TEST(Allowance, WithoutSackManyNeighboursAreRetransmittedInFewRoundTrips) {
  Script s;
  lose_all_but_the_first(s, 60, 4);  // in fact only 1 to 30 and 55 are lost
  s.write_segments(40);
  std::uint32_t held = 1;
  int rounds = 0;
  for (; held < 55 && rounds < 30; ++rounds) {
    s.emit(Bytes(1040 * 60));
    std::size_t resent = 0;
    while (s.sent() != 0) resent += s.wire.next().segment.seq - s.our_base < static_cast<std::int32_t>(60 * mss);
    for (; resent != 0 && held < 55; --resent) {
      held = held == 30 ? 55 : held + 1;
      s.receive_ack(held * mss);
    }
  }
  EXPECT_LE(rounds, 6) << "nine if each round trip repairs three";
  s.emit(Bytes(1040 * 60));
  s.expect_data(55 * mss, mss);
  std::size_t unneeded = 0;
  while (s.sent() != 0) unneeded += s.wire.next().segment.seq - s.our_base < static_cast<std::int32_t>(60 * mss);
  EXPECT_LE(unneeded, 2U) << "the neighbours have arrived";
  EXPECT_EQ(s.endpoint.take_losses(), 31 * mss);
}

// RecoveryPoint includes the FIN, so the last partial ACK may leave no data, but only the FIN.
TEST(Allowance, WithoutSackARecoveryMayEndWithALostFin) {
  Script s;
  lose_all_but_the_first(s, 50, 3, true);
  for (std::uint32_t held = 2; held <= 50; ++held) {
    s.emit(Bytes(1040 * 60));
    s.discard_sent();
    s.receive_ack(held * mss);
  }
  s.receive_ack(50 * mss + 1);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(0));
  EXPECT_LE(s.endpoint.take_losses(), 50 * mss);
}

// An ACK inside a segment leaves the rest of it, which counts as lost only once.
TEST(Allowance, WithoutSackAcksInsideASegmentCountNoLosses) {
  Script s;
  lose_all_but_the_first(s, 60, 3);
  for (std::uint32_t held = 2; held <= 12; ++held) {
    s.emit(Bytes(1040 * 60));
    s.discard_sent();
    s.receive_ack(held * mss);
  }
  for (std::uint32_t byte = 1; byte < 500; ++byte) s.receive_ack(12 * mss + byte);
  EXPECT_LE(s.endpoint.take_losses(), 14 * mss);
}

TEST(Allowance, ALongOutageDoesNotTimeOutTheConnection) {
  Script s;
  s.config.max_retransmissions = 3;
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.open();
  s.write_segments(2);
  s.emit();
  s.discard_sent();
  for (int i = 0; i < 10'000; ++i) {
    s.now += 100ms;
    s.endpoint.on_timer(s.now);
    s.emit(Bytes(0));
  }
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
  s.emit();
  s.expect_data(0, mss);
}

// What is in flight uses up the window that the connections of a UE share. A timeout frees all of it, because no ACK
// would, if the first retransmission has to wait for that window.
TEST(Allowance, WithoutSackNothingIsInFlightAfterATimeout) {
  Script s;
  send_half_of_20_segments(s);
  s.now += 2s;
  s.endpoint.on_timer(s.now);
  s.emit(Bytes(0));
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(0));
  EXPECT_TRUE(s.endpoint.can_send_now());
  s.emit(Bytes(1040));
  s.expect_data(0, mss);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(mss));
}

// Without SACK lost segments may count as in flight and use up the allowance. After a partial acknowledgement,
// retransmits_first() is true, so that the owner of the endpoint can permit the next missing segment.
TEST(Allowance, APartialAckMakesTheNextHoleDue) {
  Script s;
  send_half_of_20_segments(s);
  EXPECT_FALSE(s.endpoint.retransmits_first());
  for (int i = 0; i < 4; ++i) s.receive_ack(0);
  EXPECT_TRUE(s.endpoint.retransmits_first());
  s.emit(Bytes(1040));
  s.expect_data(0, mss);
  EXPECT_FALSE(s.endpoint.retransmits_first()) << "it was sent";
  s.receive_ack(3 * mss);
  EXPECT_TRUE(s.endpoint.retransmits_first()) << "a partial acknowledgement";
  s.emit(Bytes(0));
  s.expect_nothing();
  s.emit(Bytes(1040));
  s.expect_data(3 * mss, mss);
}

// With SACK a timeout leaves segments in flight that were sent less than a round trip before. They are lost as well if
// no ACK comes while the first retransmission waits.
TEST(Allowance, WithSackNothingStaysInFlightWhileARetransmissionWaits) {
  Script s;
  s.use_sack();
  s.config.max_retransmissions = 3;
  s.handshake_rtt = 100ms;
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.open();
  s.write_segments(20);
  s.emit(Bytes(1040 * 5));
  s.now += 250ms;
  s.emit(Bytes(1040 * 5));
  s.discard_sent();
  s.now += 60ms;
  s.endpoint.on_timer(s.now);  // the tail loss probe is late, so that the retransmission timeout is due
  s.endpoint.on_timer(s.now);
  s.emit(Bytes(0));
  ASSERT_EQ(s.endpoint.in_flight(), Bytes(5 * mss)) << "sent 60 ms ago";
  for (int i = 0; i < 100; ++i) {
    s.now += 100ms;
    s.endpoint.on_timer(s.now);
    s.emit(Bytes(0));
  }
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(0));
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
}

TEST(Allowance, CongestionControlResumesFromTheSeed) {
  Script s;
  s.open();
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.write_segments(100);
  s.emit(Bytes(1040 * 25));
  s.endpoint.set_window_source(WindowSource::congestion_control, Bytes(30 * mss));
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(30 * mss));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(30 * mss));
  s.discard_sent();
  s.emit();
  EXPECT_EQ(s.sent(), 5U);
  s.endpoint.set_window_source(WindowSource::allowance, Bytes());
  s.endpoint.set_window_source(WindowSource::congestion_control, Bytes(0));
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(2 * mss));
}

}  // namespace
}  // namespace sluice::test
