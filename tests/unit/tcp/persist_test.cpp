// Tests of closed and small windows: window probes and silly window avoidance (RFC 9293 section 3.8.6).
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;

TEST(Persist, AClosedWindowIsProbedWithBackoff) {
  Script s;
  s.handshake_rtt = 100ms;
  s.open(0);
  s.write_segments(2);
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now)) << "the timer must be armed";
  s.emit();
  s.expect_nothing();
  EXPECT_FALSE(s.endpoint.wants_to_send(s.now));
  s.pass(299ms);
  s.expect_nothing();
  s.pass(1ms);
  const SentSegment probe = s.expect_ack(0);
  EXPECT_EQ(probe.segment.seq, s.our_base - 1) << "below the window, so that it must be answered";
  s.pass(599ms);
  s.expect_nothing();
  s.pass(1ms);
  s.expect_ack(0);
}

TEST(Persist, TheWindowUpdateStartsTheFlow) {
  Script s;
  s.open(0);
  s.write_segments(2);
  s.emit();
  s.pass(3s);
  s.discard_sent();
  s.set_peer_window(10'000);
  s.receive_ack(0);
  s.emit();
  s.expect_data(0, mss);
  s.expect_data(mss, mss);
}

TEST(Persist, APeerThatAnswersIsProbedForever) {
  Script s;
  s.config.max_retransmissions = 3;
  s.config.max_rto = 2s;
  s.open(0);
  s.write(100);
  s.emit();
  for (int i = 0; i < 100; ++i) {
    s.pass(2s);
    s.receive_ack(0);
  }
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
  s.pass(60s);  // and now it does not
  EXPECT_EQ(s.endpoint.state(), tcp::State::closed);
  EXPECT_EQ(s.endpoint.close_reason(), tcp::CloseReason::timed_out);
}

TEST(Persist, AWindowThatClosesWithNothingInFlightIsProbed) {
  Script s;
  s.open(2 * mss);
  s.write_segments(4);
  s.emit();
  s.discard_sent();
  s.set_peer_window(0);
  s.receive_ack(2 * mss);
  s.emit();
  s.expect_nothing();
  EXPECT_NE(s.endpoint.next_deadline(), never);
  s.pass(5s);
  s.expect_ack(0);
}

TEST(SmallWindow, APacketIsCutIfThePeerNeverOffersMore) {
  Script s;
  s.open(400);
  s.write(mss);
  s.emit();
  s.expect_data(0, 400);
  s.expect_nothing();
  s.receive_ack(400);
  s.emit();
  s.expect_data(400, 400);
  s.receive_ack(800);
  s.emit();
  s.expect_data(800, 200);
  s.receive_ack(1000);
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
}

TEST(SmallWindow, IsUsedAfterAWait) {
  Script s;
  s.open(10 * mss);
  s.write_segments(10);
  s.emit();
  s.discard_sent();
  s.write_segments(1);
  s.set_peer_window(300);
  s.receive_ack(10 * mss);
  s.emit();
  s.expect_nothing();  // silly window avoidance: 300 of once 10 000 bytes
  s.pass(5s);
  s.expect_data(10 * mss, 300);  // the override timeout
}

TEST(SmallWindow, NothingIsCutWhileDataIsInFlight) {
  Script s;
  s.open(1500);
  s.write_segments(2);
  s.emit();
  s.expect_data(0, mss);
  s.expect_nothing();
}

TEST(SmallWindow, ALostPieceIsRetransmittedAlone) {
  Script s;
  s.open(400);
  s.write(mss);
  s.emit();
  s.expect_data(0, 400);
  s.pass(1s);
  s.expect_data(0, 400);
  s.expect_nothing();
}

}  // namespace
}  // namespace sluice::test
