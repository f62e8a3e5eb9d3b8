// Tests of the end of connections: FIN, RST and challenge ACKs (RFC 9293 section 3.6, RFC 5961), and aborts.
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

using tcp::CloseReason;
using tcp::Flags;
using tcp::State;

constexpr std::uint8_t fin_ack = Flags::fin_bit | Flags::ack_bit;

TEST(Close, OurFinFirstEndsInTimeWait) {
  Script s;
  s.open();
  s.write(100);
  s.endpoint.finish();
  s.emit();
  EXPECT_TRUE(s.expect_data(0, 100).segment.flags.fin());
  EXPECT_EQ(s.endpoint.state(), State::fin_wait_1);
  s.receive_ack(101);
  EXPECT_EQ(s.endpoint.state(), State::fin_wait_2);
  s.receive_data(0, 500);  // half-closed: the peer goes on
  EXPECT_EQ(s.read_all(), 500U);
  s.their_sent = 500;
  s.receive(s.segment(500, 101, fin_ack));
  EXPECT_EQ(s.endpoint.state(), State::time_wait);
  EXPECT_TRUE(s.endpoint.peer_finished());
  EXPECT_TRUE(s.endpoint.is_over());
  EXPECT_FALSE(s.endpoint.expects_data());
  EXPECT_FALSE(s.endpoint.nothing_to_emit(s.now)) << "an acknowledgement is due";
  s.emit();
  EXPECT_EQ(s.wire.next().segment.ack, s.their_base + 501);
  EXPECT_TRUE(s.endpoint.nothing_to_emit(s.now));
  s.receive(s.segment(500, 101, fin_ack));  // our acknowledgement was lost
  EXPECT_FALSE(s.endpoint.nothing_to_emit(s.now));
  s.emit();
  EXPECT_EQ(s.wire.next().segment.ack, s.their_base + 501);
  s.pass(1s);
  EXPECT_EQ(s.endpoint.state(), State::closed);
  EXPECT_EQ(s.endpoint.close_reason(), CloseReason::finished);
  EXPECT_EQ(s.endpoint.next_deadline(), never);
}

TEST(Close, APeerFinFirstEndsInLastAck) {
  Script s;
  s.open();
  s.receive_data(0, 500, fin_ack);
  EXPECT_EQ(s.endpoint.state(), State::close_wait);
  EXPECT_FALSE(s.endpoint.peer_finished()) << "something is left to read";
  EXPECT_FALSE(s.endpoint.expects_data());
  EXPECT_FALSE(s.endpoint.is_over()) << "we may go on";
  EXPECT_EQ(s.read_all(), 500U);
  EXPECT_TRUE(s.endpoint.peer_finished());
  s.emit();
  s.expect_ack(501);
  s.write(10);
  s.emit();
  s.expect_data(0, 10);
  s.endpoint.finish();
  s.emit();
  EXPECT_TRUE(s.wire.next().segment.flags.fin());
  EXPECT_EQ(s.endpoint.state(), State::last_ack);
  s.receive(s.segment(501, 11));
  EXPECT_EQ(s.endpoint.state(), State::closed);
  EXPECT_EQ(s.endpoint.close_reason(), CloseReason::finished);
}

TEST(Close, SimultaneousCloseEndsInTimeWait) {
  Script s;
  s.open();
  s.endpoint.finish();
  s.emit();
  EXPECT_EQ(s.wire.next().segment.flags.bits, fin_ack);
  s.receive(s.segment(0, 0, fin_ack));
  EXPECT_EQ(s.endpoint.state(), State::closing);
  s.receive(s.segment(1, 1));
  EXPECT_EQ(s.endpoint.state(), State::time_wait);
}

TEST(Close, AFinWithTheAckOfOursEntersTimeWait) {
  Script s;
  s.open();
  s.endpoint.finish();
  s.emit();
  s.receive(s.segment(0, 1, fin_ack));
  EXPECT_EQ(s.endpoint.state(), State::time_wait);
}

/// Brings the endpoint into a state in which the peer's FIN, the 501st byte of its stream, is received.
void receive_fin_in(Script& s, State state) {
  s.open();
  if (state == State::closing || state == State::time_wait) {
    s.endpoint.finish();
    s.emit();
  }
  s.receive_data(0, 500, fin_ack);
  s.read_all();
  if (state == State::last_ack) s.endpoint.finish();
  if (state == State::time_wait) s.receive(s.segment(501, 1));
  s.emit();
  s.discard_sent();
  ASSERT_EQ(s.endpoint.state(), state);
}

// Some hosts reset a connection that they have closed with the number of their FIN. Linux accepts it in these states.
TEST(Close, AResetWithTheNumberOfTheFinEndsTheConnection) {
  for (const State state : {State::close_wait, State::closing, State::last_ack}) {
    for (const std::uint32_t seq : {500U, 501U}) {
      Script s;
      receive_fin_in(s, state);
      s.receive(s.segment(seq, 0, Flags::rst_bit));
      EXPECT_EQ(s.endpoint.state(), State::closed);
      EXPECT_EQ(s.endpoint.close_reason(), CloseReason::reset_by_peer);
    }
    Script s;
    receive_fin_in(s, state);
    s.receive(s.segment(499, 0, Flags::rst_bit));
    s.receive(s.segment(502, 0, Flags::rst_bit));
    EXPECT_EQ(s.endpoint.state(), state) << "no other number";
  }
}

TEST(Close, AResetBelowRcvNxtIsIgnoredWithoutAFinBeforeIt) {
  Script s;
  s.open();
  s.receive_data(0, 500);
  s.read_all();
  s.receive(s.segment(499, 0, Flags::rst_bit));
  EXPECT_EQ(s.endpoint.state(), State::established);
  Script ended;
  receive_fin_in(ended, State::time_wait);
  ended.receive(ended.segment(500, 1, Flags::rst_bit));
  EXPECT_EQ(ended.endpoint.state(), State::time_wait);
}

TEST(Close, ALostFinIsRetransmitted) {
  Script s;
  s.open();
  s.write(100);
  s.emit();
  s.discard_sent();
  s.endpoint.finish();
  s.emit();
  EXPECT_EQ(s.wire.next().segment.seq, s.our_base + 100);
  s.receive_ack(100);
  s.pass(s.endpoint.rto());
  const tcp::Segment again = s.wire.next().segment;
  EXPECT_EQ(again.flags.bits, fin_ack);
  EXPECT_EQ(again.seq, s.our_base + 100);
  s.expect_nothing();
}

TEST(Close, ALostLastSegmentIsRetransmittedWithItsFin) {
  Script s;
  s.open();
  s.write(100);
  s.endpoint.finish();
  s.emit();
  s.discard_sent();
  s.pass(1s);
  EXPECT_TRUE(s.expect_data(0, 100).segment.flags.fin());
  s.expect_nothing();
}

TEST(Close, AnOutOfOrderFinWaitsForTheDataBeforeIt) {
  Script s;
  s.open();
  s.receive_data(1000, 500, fin_ack);
  EXPECT_EQ(s.endpoint.state(), State::established);
  s.receive_data(0, 1000);
  EXPECT_EQ(s.endpoint.state(), State::close_wait);
  EXPECT_EQ(s.read_all(), 1500U);
  s.emit();
  s.expect_ack(1501);
}

TEST(Close, TheFinWaitsForTheData) {
  Script s;
  s.open(1000);
  s.write_segments(2);
  s.endpoint.finish();
  s.emit();
  EXPECT_FALSE(s.expect_data(0, 1000).segment.flags.fin());
  s.expect_nothing();
  s.receive_ack(1000);
  s.emit();
  EXPECT_FALSE(s.expect_data(1000, 1000).segment.flags.fin()) << "the window has no room for it";
  s.receive_ack(2000);
  s.emit();
  EXPECT_EQ(s.wire.next().segment.flags.bits, fin_ack);
}

TEST(Close, AFinWaitsForAClosedWindow) {
  Script s;
  s.open(0);
  s.endpoint.finish();
  s.emit();
  s.expect_nothing();
  s.pass(1s);
  EXPECT_EQ(s.wire.next().segment.seq, s.our_base - 1) << "a probe";
  s.set_peer_window(10);
  s.receive_ack(0);
  s.emit();
  EXPECT_TRUE(s.wire.next().segment.flags.fin());
}

TEST(Close, AFinIsAcceptedWhileOurWindowIsClosed) {
  Script s;
  s.open(Script::peer_window, 1000);
  s.receive_data(0, 1000);
  s.receive(s.segment(1000, 0, fin_ack));
  EXPECT_EQ(s.endpoint.state(), State::close_wait);
  s.emit();
  EXPECT_EQ(s.expect_ack(1001).segment.window, 0);
}

TEST(Close, DataAfterThePeersFinIsDiscarded) {
  Script s;
  s.open();
  s.receive(s.segment(0, 0, fin_ack));
  s.receive_data(1, 100);
  EXPECT_EQ(s.read_all(), 0U);
  EXPECT_TRUE(s.endpoint.peer_finished());
}

TEST(Close, DataWrittenAfterFinishIsRefused) {
  Script s;
  s.open();
  s.endpoint.finish();
  s.write(100);
  s.emit();
  EXPECT_EQ(s.wire.next().segment.flags.bits, fin_ack);
  s.expect_nothing();
}

TEST(Reset, AtExactlyRcvNxtEndsTheConnection) {
  Script s;
  s.open();
  s.receive_data(0, 700);
  s.receive(s.segment(700, 0, Flags::rst_bit));
  EXPECT_EQ(s.endpoint.state(), State::closed);
  EXPECT_EQ(s.endpoint.close_reason(), CloseReason::reset_by_peer);
  EXPECT_EQ(s.read_all(), 700U) << "what was acknowledged is delivered";
  EXPECT_FALSE(s.endpoint.wants_to_send(s.now));
}

TEST(Reset, IsAcceptedAtAClosedWindow) {
  Script s;
  s.open(Script::peer_window, 0);
  s.receive(s.segment(0, 0, tcp::Flags::rst_bit));
  EXPECT_EQ(s.endpoint.close_reason(), tcp::CloseReason::reset_by_peer);
}

TEST(Reset, MayCarryData) {
  Script s;
  s.open();
  s.receive_data(0, 20, tcp::Flags::rst_bit);
  EXPECT_EQ(s.endpoint.close_reason(), tcp::CloseReason::reset_by_peer);
  EXPECT_EQ(s.read_all(), 0U) << "it is no part of the stream";
}

TEST(KeepAlive, AKeepAliveOfThePeerIsAnsweredWithALimit) {
  Script s;
  s.open();
  s.receive_data(0, 100);
  s.read_all();
  s.pass(1s);
  s.discard_sent();
  s.receive(s.segment(99, 0));
  s.emit();
  s.expect_ack(100);
  s.receive(s.segment(99, 0));
  s.emit();
  s.expect_nothing();
  s.pass(1s);
  s.receive_data(99, 1);  // with a byte of garbage
  s.emit();
  s.expect_ack(100);
  EXPECT_EQ(s.read_all(), 0U);
}

TEST(Reset, ElsewhereInTheWindowGetsAChallengeAck) {
  Script s;
  s.open();
  s.receive(s.segment(100, 0, Flags::rst_bit));
  EXPECT_EQ(s.endpoint.state(), State::established);
  s.emit();
  s.expect_ack(0);
  s.receive(s.segment(70'000, 0, Flags::rst_bit));
  s.receive(s.segment(static_cast<std::uint32_t>(-1), 0, Flags::rst_bit));
  s.emit();
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.state(), State::established);
}

TEST(Reset, ASynInTheWindowGetsAChallengeAck) {
  Script s;
  s.open();
  s.receive(s.segment(100, 0, Flags::syn_bit));
  EXPECT_EQ(s.endpoint.state(), State::established);
  s.emit();
  s.expect_ack(0);
}

TEST(Reset, ChallengeAcksAreRateLimited) {
  Script s;
  s.open();
  for (int i = 0; i < 1000; ++i) {
    s.receive(s.segment(100, 0, Flags::syn_bit));
    s.emit();
    s.now += 1ms;
  }
  EXPECT_GE(s.sent(), 9U);
  EXPECT_LE(s.sent(), 11U) << "one in 100 ms";
}

/// Exactly these resets are sent, counted from the first byte.
void expect_resets(Script& s, std::initializer_list<std::uint32_t> positions) {
  for (const std::uint32_t position : positions) {
    const tcp::Segment reset = s.wire.next().segment;
    EXPECT_TRUE(reset.flags.rst());
    EXPECT_EQ(reset.seq, s.our_base + position);
  }
  s.expect_nothing();
}

/// Aborts and expects these resets, whatever was sent before.
void abort_and_expect_resets(Script& s, std::initializer_list<std::uint32_t> positions) {
  s.discard_sent();
  s.endpoint.abort();
  s.emit();
  expect_resets(s, positions);
}

TEST(Abort, ResetsAtBothEndsOfTheFlightAfterATimeout) {
  Script s;
  s.open();
  s.write_segments(3);
  s.emit();
  s.pass(10s);
  abort_and_expect_resets(s, {0, 3000});
}

TEST(Abort, ResetsAtBothEndsOfTheFlightDuringRecovery) {
  Script s;
  s.open();
  s.write_segments(5);
  s.emit();
  for (int i = 0; i < 3; ++i) s.receive_ack(0);
  s.emit();
  abort_and_expect_resets(s, {0, 5000});
}

TEST(Abort, ResetsAfterTheFlightWithoutASignOfLoss) {
  Script s;
  s.open();
  s.write_segments(3);
  s.emit();
  s.receive_ack(1000);
  s.emit();
  abort_and_expect_resets(s, {3000});
}

TEST(Abort, SendsAReset) {
  Script s;
  s.open();
  s.write_segments(3);
  s.emit();
  s.discard_sent();
  s.endpoint.abort();
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now));
  s.receive_data(0, 100);
  s.wire.blocked = true;
  s.emit();
  EXPECT_NE(s.endpoint.state(), State::closed) << "the reset is still due";
  s.wire.blocked = false;
  s.emit();
  expect_resets(s, {3000});
  EXPECT_EQ(s.endpoint.state(), State::closed);
  EXPECT_EQ(s.endpoint.close_reason(), CloseReason::aborted);
  EXPECT_FALSE(s.endpoint.wants_to_send(s.now));
  EXPECT_EQ(s.endpoint.next_deadline(), never);
}

TEST(Abort, AClosedEndpointStaysClosed) {
  Script s;
  s.endpoint.abort();
  s.endpoint.finish();
  s.write(100);
  s.receive_data(0, 100);
  s.emit();
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.state(), State::closed);
}

TEST(Reuse, AClosedEndpointOpensAgain) {
  Script s;
  s.open();
  s.write_segments(3);
  s.receive_data(1000, 500);
  s.endpoint.abort();
  s.emit();
  s.discard_sent();
  s.open();
  s.receive_data(0, 100);
  EXPECT_EQ(s.read_all(), 100U);
  EXPECT_EQ(s.endpoint.unsent(), Bytes(0));
  EXPECT_EQ(s.endpoint.close_reason(), CloseReason::none);
}

}  // namespace
}  // namespace sluice::test
