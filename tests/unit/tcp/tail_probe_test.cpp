// Tests of tail loss probes (RFC 8985 section 7).
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;
constexpr Duration probe = 202ms;  ///< two round trips, and what the timer rounds up

/// `sent` of `written` segments are in flight over a path of 100 ms.
void send(Script& s, int sent, int written) {
  s.config.initial_window_segments = static_cast<std::uint32_t>(sent);
  s.handshake_rtt = 100ms;
  s.use_sack();
  s.open();
  s.write_segments(written);
  s.emit();
  EXPECT_EQ(s.sent(), static_cast<std::size_t>(sent));
  s.discard_sent();
}

TEST(TailProbe, RetransmitsTheLastSegmentAfterTwoRtts) {
  Script s;
  send(s, 4, 4);
  s.pass(199ms);
  s.expect_nothing();
  s.pass(3ms);
  s.expect_data(3 * mss, mss);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.counters().tail_probes, 1);
  EXPECT_EQ(s.endpoint.counters().timeouts, 0);
  EXPECT_GT(s.endpoint.next_deadline(), s.now + s.endpoint.rto() - 3ms);
}

TEST(TailProbe, PrefersNewDataBeyondTheCongestionWindow) {
  Script s;
  send(s, 4, 8);
  s.pass(probe);
  s.expect_data(4 * mss, mss);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.counters().retransmitted, 0U);
}

TEST(TailProbe, NewDataIsLimitedByThePeerWindow) {
  Script s;
  s.config.initial_window_segments = 4;
  s.handshake_rtt = 100ms;
  s.use_sack();
  s.open(4 * mss);
  s.write_segments(8);
  s.emit();
  s.discard_sent();
  s.pass(probe);
  s.expect_data(3 * mss, mss);
}

TEST(TailProbe, ItsAckRevealsTheLosses) {
  Script s;
  send(s, 4, 4);
  s.now += 100ms;
  s.receive_ack(1 * mss);  // two and three are lost
  s.discard_sent();
  s.pass(s.endpoint.next_deadline() - s.now);
  s.expect_data(3 * mss, mss);
  s.now += 100ms;
  s.receive_sack(1 * mss, {{3 * mss, 4 * mss}});
  s.emit();
  s.expect_data(1 * mss, mss);
  s.now += 100ms;
  s.receive_sack(2 * mss, {{3 * mss, 4 * mss}});
  s.emit();
  s.expect_data(2 * mss, mss);
  EXPECT_EQ(s.endpoint.counters().timeouts, 0);
}

// An outage at a full buffer loses that much. What the probe is answered by is behind all of it.
TEST(TailProbe, ItsAckIsFoundBehindAThousandLostSegments) {
  constexpr int segments = 1200;
  Script s;
  s.config.initial_window_segments = segments;
  s.handshake_rtt = 100ms;
  s.use_sack();
  s.ours.has_window_scale = s.theirs.has_window_scale = true;
  s.theirs.window_scale = 7;
  s.open(2 * segments * mss);
  s.write_segments(segments);
  s.emit();
  EXPECT_EQ(s.sent(), std::size_t{segments});
  s.discard_sent();
  s.pass(probe);
  s.expect_data((segments - 1) * mss, mss);
  s.now += 100ms;
  s.receive_sack(0, {{(segments - 1) * mss, segments * mss}});
  s.emit();
  s.expect_data(0, mss);
  EXPECT_EQ(s.endpoint.counters().timeouts, 0);
}

TEST(TailProbe, ASingleSegmentWaitsForTheTimeout) {
  Script s;
  send(s, 1, 1);
  s.pass(250ms);
  s.expect_nothing();
  s.pass(50ms);
  s.expect_data(0, mss);
  EXPECT_EQ(s.endpoint.counters().tail_probes, 0);
  EXPECT_EQ(s.endpoint.counters().timeouts, 1);
}

TEST(TailProbe, ATimeoutFollowsAnUnansweredProbe) {
  Script s;
  send(s, 4, 4);
  s.pass(probe);
  s.discard_sent();
  s.pass(s.endpoint.rto() - 3ms);
  s.expect_nothing();
  s.pass(3ms);
  s.expect_data(0, mss);
  EXPECT_EQ(s.endpoint.counters().tail_probes, 1);
  EXPECT_EQ(s.endpoint.counters().timeouts, 1);
}

TEST(TailProbe, TheLastSegmentHasTwoRttsBeforeTheProbe) {
  Script s;
  s.handshake_rtt = 100ms;
  s.use_sack();
  s.open();
  s.write_segments(2);
  s.emit();
  s.pass(150ms);
  s.write(mss);
  s.emit();
  s.discard_sent();
  s.pass(145ms);  // the first ones are overdue, the last one is not
  s.expect_nothing();
  s.pass(5ms);
  EXPECT_EQ(s.sent(), 1U) << "the retransmission timeout is not put off by later segments";
}

TEST(TailProbe, ARepairedLossHalvesTheWindow) {
  Script s;
  send(s, 4, 4);
  s.pass(probe);
  s.discard_sent();
  s.now += 100ms;
  s.receive_ack(4 * mss);  // no DSACK reports that the last one arrived twice
  const Bytes before = s.endpoint.cwnd();
  s.write_segments(1);
  s.emit();
  s.now += 100ms;
  s.receive_ack(5 * mss);
  EXPECT_LT(s.endpoint.cwnd(), before) << "RFC 8985 section 7.4.2";
  EXPECT_EQ(s.endpoint.ssthresh(), s.endpoint.cwnd());
}

TEST(TailProbe, ADsackClearsIt) {
  Script s;
  send(s, 4, 4);
  s.pass(probe);
  s.discard_sent();
  s.receive_ack(4 * mss);
  s.receive_sack(4 * mss, {{3 * mss, 4 * mss}});
  const Bytes before = s.endpoint.cwnd();
  s.write_segments(1);
  s.emit();
  s.now += 100ms;
  s.receive_ack(5 * mss);
  EXPECT_GE(s.endpoint.cwnd(), before);
  EXPECT_TRUE(s.endpoint.on_fast_path());
}

TEST(TailProbe, IsNotSentWithoutSack) {
  Script s;
  s.handshake_rtt = 100ms;
  s.open();
  s.write_segments(4);
  s.emit();
  s.discard_sent();
  s.pass(299ms);
  s.expect_nothing();
}

TEST(TailProbe, RetransmitsTheFin) {
  Script s;
  s.handshake_rtt = 100ms;
  s.use_sack();
  s.open();
  s.write_segments(3);
  s.endpoint.finish();
  s.emit();
  s.discard_sent();
  s.pass(probe);
  const SentSegment last = s.expect_data(2 * mss, mss);
  EXPECT_TRUE(last.segment.flags.fin());
  EXPECT_EQ(s.endpoint.counters().timeouts, 0);
}

/// Four of `written` segments are in flight, and a probe waits for an allowance.
void let_probe_wait(Script& s, int written) {
  send(s, 4, written);
  s.endpoint.set_window_source(tcp::WindowSource::allowance, Bytes());
  s.now += probe;
  s.endpoint.on_timer(s.now);
  s.emit(Bytes());
  s.expect_nothing();
}

TEST(TailProbe, WaitsForAnAllowance) {
  Script s;
  let_probe_wait(s, 4);
  s.emit(Bytes(mss));
  s.expect_nothing();
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now));
  s.emit(Bytes(2 * mss));
  s.expect_data(3 * mss, mss);
}

TEST(TailProbe, IsCancelledByNewData) {
  Script s;
  let_probe_wait(s, 8);
  s.receive_ack(2 * mss);
  s.emit(Bytes(3 * mss / 2));
  s.expect_data(4 * mss, mss);
  EXPECT_TRUE(s.endpoint.on_fast_path()) << "that asks as well as a probe would";
  s.emit(Bytes(10 * mss));
  EXPECT_EQ(s.endpoint.counters().tail_probes, 0);
}

// The probe waits for an allowance. Meanwhile the UE gets the last segment, and its ACK gives the answer that the
// probe would get.
TEST(TailProbe, IsCancelledByTheAckOfTheLastSegment) {
  Script s;
  let_probe_wait(s, 4);
  s.receive_sack(0, {{3 * mss, 4 * mss}});
  s.emit(Bytes(10 * mss));
  s.expect_nothing();
  s.pass(50ms);  // the run of what is sacked is passed over: where a part of it had been sent again that took for ever
  for (const std::uint32_t missing : {0U, 1U, 2U}) s.expect_data(missing * mss, mss);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.counters().tail_probes, 0);
}

// A timeout has asked by the time that there is an allowance.
TEST(TailProbe, IsCancelledByATimeout) {
  Script s;
  let_probe_wait(s, 4);
  s.now += 2s;
  s.endpoint.on_timer(s.now);
  EXPECT_EQ(s.endpoint.counters().timeouts, 1);
  s.emit(Bytes(10 * mss));
  s.expect_data(0, mss);
  s.expect_nothing();
  s.now += 100ms;
  s.receive_ack(mss);
  s.emit(Bytes(10 * mss));
  s.discard_sent();
  EXPECT_EQ(s.endpoint.counters().tail_probes, 0);
}

}  // namespace
}  // namespace sluice::test
