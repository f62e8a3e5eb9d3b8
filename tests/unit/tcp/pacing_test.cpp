// Tests of the pacer and of paced endpoints: bursts, timers and exceptions.
#include <gtest/gtest.h>

#include "dataplane/tcp/pacer.hpp"
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

using tcp::Pacer;

constexpr Instant start(1h);
constexpr Bytes segment{1500};

Pacer pacer_at(double bytes_per_second) {
  Pacer pacer;
  pacer.set_rate(Rate::bytes_per_second(bytes_per_second));
  return pacer;
}

TEST(Pacer, AllowsEverythingWithoutARate) {
  Pacer pacer;
  EXPECT_EQ(pacer.allowance(start, segment), Bytes::max());
  pacer.spend(start, Bytes(100'000));
  EXPECT_EQ(pacer.allowance(start, segment), Bytes::max());
}

TEST(Pacer, ABurstIsTwoSegmentsOrAMillisecond) {
  EXPECT_EQ(pacer_at(1e6).allowance(start, segment), Bytes(3000));
  EXPECT_EQ(pacer_at(10e6).allowance(start, segment), Bytes(10'000));
}

TEST(Pacer, TheNextBurstWaitsForItsTimeAtTheRate) {
  Pacer pacer = pacer_at(1e6);
  pacer.spend(start, Bytes(3000));
  pacer.wait(true);
  EXPECT_EQ(pacer.deadline(), start + 3ms);
  EXPECT_EQ(pacer.allowance(start + 2999us, segment), Bytes());
  EXPECT_EQ(pacer.allowance(start + 3ms, segment), Bytes(3000));
  pacer.wait(false);
  EXPECT_EQ(pacer.deadline(), never);
}

TEST(Pacer, ALateTimerIsCompensatedWithinABound) {
  Pacer pacer = pacer_at(1e6);
  pacer.spend(start, Bytes(3000));
  pacer.wait(true);
  EXPECT_EQ(pacer.allowance(start + 3400us, segment), Bytes(3400));
  EXPECT_EQ(pacer.allowance(start + 9ms, segment), Bytes(4000));
  pacer.spend(start + 3400us, Bytes(3400));
  EXPECT_EQ(pacer.deadline(), start + 6400us) << "as if it had been in time";
}

TEST(Pacer, APauseEarnsNoCredit) {
  Pacer pacer = pacer_at(1e6);
  pacer.spend(start, Bytes(3000));
  pacer.wait(false);
  EXPECT_EQ(pacer.allowance(start + 9ms, segment), Bytes(3000));
}

TEST(Pacer, UrgentBytesAreDeductedLater) {
  Pacer pacer = pacer_at(1e6);
  pacer.spend(start, Bytes(3000));
  pacer.spend(start + 1ms, Bytes(1500));
  pacer.wait(true);
  EXPECT_EQ(pacer.deadline(), start + 4500us);
}

/// A connection with a handshake RTT of 100 ms. A window of 10 segments is 200 000 bytes per second with the
/// slow-start gain. So two segments with headers (2080 bytes) leave every 10.4 ms.
class Paced : public testing::Test {
 protected:
  Paced() {
    s.config.pacing = true;
    s.handshake_rtt = 100ms;
    s.use_sack();
  }
  Script s;
};

TEST_F(Paced, TheInitialWindowIsPaced) {
  s.open();
  s.write_segments(10);
  EXPECT_EQ(s.emit(), Bytes(2080));
  EXPECT_EQ(s.endpoint.next_deadline(), s.now + 10400us);
  EXPECT_FALSE(s.endpoint.wants_to_send(s.now));
  EXPECT_EQ(s.emit(), Bytes()) << "not before its time";
  const Instant begin = s.now;
  s.discard_sent();
  s.pass(42ms);
  ASSERT_EQ(s.sent(), 8U);
  for (int i = 1; i <= 4; ++i) {
    for (int j = 0; j < 2; ++j) EXPECT_EQ(s.wire.next().at, begin + i * 10400us);
  }
}

TEST_F(Paced, AcknowledgementsDoNotWait) {
  s.open();
  s.write_segments(10);
  s.emit();
  s.discard_sent();
  s.receive_data(0, 1000);
  s.receive_data(1000, 1000);
  s.emit();
  s.expect_ack(2000);
  s.expect_nothing();
}

TEST_F(Paced, TheWindowStillLimits) {
  s.open(3000);
  s.write_segments(10);
  s.emit();
  s.pass(50ms);
  EXPECT_EQ(s.sent(), 3U);
  EXPECT_FALSE(s.endpoint.wants_to_send(s.now));
}

TEST_F(Paced, AnAllowanceIsNotPaced) {
  s.open();
  s.write_segments(10);
  EXPECT_EQ(s.emit(Bytes(5 * 1040)), Bytes(5 * 1040)) << "a law's grant";
  s.endpoint.set_window_source(tcp::WindowSource::allowance, Bytes());
  EXPECT_EQ(s.emit(Bytes(5 * 1040)), Bytes(5 * 1040));
}

TEST_F(Paced, RetransmissionsByTimerAreNotPaced) {
  s.config.tail_loss_probes = false;
  s.open();
  s.write_segments(2);
  s.emit();
  s.discard_sent();
  s.write_segments(4);
  const Instant deadline = s.now + s.endpoint.rto();
  while (s.endpoint.counters().timeouts == 0) {
    s.now = s.endpoint.next_deadline();
    s.endpoint.on_timer(s.now);
    s.discard_sent();
    s.emit();
  }
  EXPECT_LE(s.now, deadline + 100ms);
  s.expect_data(0, 1000);
}

TEST_F(Paced, TheRateFollowsTheWindow) {
  s.open();
  s.write_segments(4);
  s.emit();
  s.pass(100ms);
  s.receive_ack(2000);
  const auto window = static_cast<double>(s.endpoint.cwnd().count());
  EXPECT_NEAR(s.paced.sender.pacer.rate().bytes_per_second(), 2 * window / to_seconds(s.endpoint.srtt()), 1);
  s.endpoint.set_window_source(tcp::WindowSource::allowance, Bytes());
  s.endpoint.set_window_source(tcp::WindowSource::congestion_control, Bytes(20'000));
  s.receive_ack(4000);
  EXPECT_NEAR(s.paced.sender.pacer.rate().bytes_per_second(),
              1.2 * static_cast<double>(s.endpoint.cwnd().count()) / to_seconds(s.endpoint.srtt()), 1)
      << "in congestion avoidance";
}

TEST_F(Paced, AClosedConnectionHasNoPacingTimer) {
  s.open();
  s.write_segments(10);
  s.emit();
  EXPECT_NE(s.endpoint.next_deadline(), never);
  s.receive(s.segment(0, 0, tcp::Flags::rst_bit));
  EXPECT_EQ(s.endpoint.state(), tcp::State::closed);
  EXPECT_EQ(s.endpoint.next_deadline(), never);
}

// In TIME-WAIT emit() does nothing, so a pacing deadline would never move, and virtual time would stop at it.
TEST_F(Paced, ARetransmissionThatWaitsHasNoDeadlineInTimeWait) {
  s.open();
  s.write_segments(10);
  s.endpoint.finish();
  s.emit();
  s.pass(60ms);
  s.receive_sack(0, {{5000, 10'000}});
  s.emit();
  ASSERT_EQ(s.endpoint.next_deadline(), s.paced.sender.pacer.deadline()) << "a retransmission waits";
  s.receive(s.segment(0, 0, tcp::Flags::fin_bit | tcp::Flags::ack_bit));
  s.emit();
  s.their_sent = 1;
  s.receive_ack(10'001);
  ASSERT_EQ(s.endpoint.state(), tcp::State::time_wait);
  s.emit();
  EXPECT_EQ(s.endpoint.next_deadline(), s.now + s.config.time_wait);
}

TEST(Unpaced, ConnectionsSendTheirWindowAtOnce) {
  Script s;
  s.handshake_rtt = 100ms;
  s.open();
  s.write_segments(10);
  s.emit();
  EXPECT_EQ(s.sent(), 10U);
}

}  // namespace
}  // namespace sluice::test
