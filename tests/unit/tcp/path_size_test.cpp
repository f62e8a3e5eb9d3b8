#include "tests/unit/tcp/script.hpp"

// Paths that carry less than the handshake agreed on (RFC 1191, 8201, 4821).

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;

void send(Script& s, int segments) {
  s.config.tail_loss_probes = false;
  s.handshake_rtt = 100ms;
  s.open();
  s.write_segments(segments);
  s.emit();
  s.discard_sent();
}

TEST(PathSize, ARoutersWordCutsWhatIsOutstandingAndWhatFollows) {
  Script s;
  s.use_sack();
  send(s, 2);
  const Bytes window = s.endpoint.cwnd();
  EXPECT_TRUE(s.endpoint.path_carries(s.our_base, Bytes(600)));
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

TEST(PathSize, AQuoteOfWhatIsNotOutstandingIsNotBelieved) {
  Script s;
  send(s, 2);
  EXPECT_FALSE(s.endpoint.path_carries(s.our_base - 1, Bytes(600)));
  EXPECT_FALSE(s.endpoint.path_carries(s.our_base + 2 * mss, Bytes(600)));
  EXPECT_EQ(s.endpoint.effective_mss(), mss);
}

TEST(PathSize, NeitherMoreNorTooLittleIsTaken) {
  Script s;
  send(s, 2);
  EXPECT_FALSE(s.endpoint.path_carries(s.our_base, Bytes(mss)));
  EXPECT_FALSE(s.endpoint.path_carries(s.our_base, Bytes(9000)));
  EXPECT_TRUE(s.endpoint.path_carries(s.our_base, Bytes(8)));
  EXPECT_EQ(s.endpoint.effective_mss(), 512U);
}

TEST(PathSize, WhatThePeerHoldsIsNotSentAgain) {
  Script s;
  s.use_sack();
  send(s, 3);
  s.receive_sack(0, {{1 * mss, 2 * mss}});
  EXPECT_TRUE(s.endpoint.path_carries(s.our_base, Bytes(600)));
  s.emit();
  s.expect_data(0, 600);
  s.expect_data(600, 400);
  s.expect_data(2000, 600);
  s.expect_data(2600, 400);
  s.expect_nothing();
}

TEST(PathSize, ABlackHoleIsFoundWhereThePeerIsHeard) {
  Script s;
  send(s, 2);
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

TEST(PathSize, AnOutageIsNoBlackHole) {
  Script s;
  send(s, 2);
  s.pass(300ms + 600ms + 1200ms + 2400ms + 100ms);
  EXPECT_EQ(s.endpoint.counters().timeouts, 4);
  EXPECT_EQ(s.endpoint.effective_mss(), mss);
}

}  // namespace
}  // namespace sluice::test
