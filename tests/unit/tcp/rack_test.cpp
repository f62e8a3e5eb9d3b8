// Tests of loss detection by time (RFC 8985 section 6), its reordering window, and proportional rate reduction (RFC
// 6937).
#include "dataplane/tcp/rack.hpp"

#include "dataplane/tcp/rate_reduction.hpp"
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;

/// `count` segments in flight over a path of 100 ms; the first answers come now.
void send_window(Script& s, int count) {
  s.config.initial_window_segments = static_cast<std::uint32_t>(count);
  s.config.tail_loss_probes = false;
  s.handshake_rtt = 100ms;
  s.use_sack();
  s.open();
  s.write_segments(count);
  s.emit();
  s.discard_sent();
  s.now += 100ms;
}

TEST(Rack, OneSackedSegmentProvesALossAfterAQuarterRtt) {
  Script s;
  send_window(s, 4);
  s.receive_sack(0, {{1 * mss, 2 * mss}});
  // The timer, for which nothing has to come by, is two milliseconds later.
  EXPECT_GE(s.endpoint.next_deadline() - s.now, 26990us);
  EXPECT_LE(s.endpoint.next_deadline() - s.now, 27010us);
}

TEST(Rack, AnAckAfterTheReorderingWindowDetectsTheLossWithoutTheTimer) {
  Script s;
  s.use_sack();
  s.handshake_rtt = 100ms;
  s.open();
  s.write_segments(2);
  s.emit();
  s.pass(26ms);
  s.write_segments(1);
  s.emit();
  s.discard_sent();
  s.pass(74ms);
  s.receive_sack(0, {{1 * mss, 2 * mss}});
  s.pass(26ms);
  s.expect_nothing();
  s.receive_sack(0, {{1 * mss, 3 * mss}});
  s.emit();
  s.expect_data(0, mss);
}

TEST(Rack, ASegmentWithinTheReorderingWindowIsNotLost) {
  Script s;
  send_window(s, 4);
  s.receive_sack(0, {{1 * mss, 2 * mss}});
  s.pass(20ms);
  s.receive_ack(2 * mss);
  s.pass(50ms);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 0);
}

TEST(Rack, ASegmentBeyondTheReorderingWindowIsLost) {
  Script s;
  send_window(s, 4);
  s.receive_sack(0, {{1 * mss, 2 * mss}});
  s.pass(26ms);
  s.expect_nothing();
  s.pass(2ms);
  s.expect_data(0, mss);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 1);
}

TEST(Rack, ThreeSackedSegmentsProveNoLossAfterReordering) {
  Script s;
  send_window(s, 8);
  s.receive_sack(0, {{1 * mss, 2 * mss}});
  s.receive_ack(2 * mss);  // the first one came second: reordering is known now
  s.receive_sack(2 * mss, {{3 * mss, 7 * mss}});
  s.emit();
  s.expect_nothing();
  s.pass(28ms);
  s.expect_data(2 * mss, mss);
}

TEST(Rack, SackedDataWithinTheReorderingWindowGrowsTheCongestionWindow) {
  Script s;
  send_window(s, 20);
  s.receive_sack(0, {{1 * mss, 2 * mss}});
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(20 * mss)) << "nothing yet says that it is no loss";
  s.receive_ack(2 * mss);
  const Bytes before = s.endpoint.cwnd();
  s.receive_sack(2 * mss, {{3 * mss, 7 * mss}});
  EXPECT_EQ(s.endpoint.cwnd(), before + Bytes(4 * mss)) << "slow start";
  s.receive_ack(8 * mss);
  EXPECT_EQ(s.endpoint.cwnd(), before + Bytes(6 * mss)) << "none of them twice";
  s.receive_sack(8 * mss, {{9 * mss, 13 * mss}});
  s.pass(28ms);
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 1);
  const Bytes reduced = s.endpoint.cwnd();
  s.receive_sack(8 * mss, {{9 * mss, 14 * mss}});
  EXPECT_LE(s.endpoint.cwnd(), reduced) << "a repair shapes the window its own way";
}

TEST(ReorderingWindow, ADsackWidensTheWindowOncePerRecovery) {
  tcp::ReorderingWindow window;
  window.record_reordering();
  EXPECT_EQ(window.ticks(1000, 5000, 3, true), 250U);
  window.on_recovery();
  window.on_duplicate();
  window.on_duplicate();
  EXPECT_EQ(window.ticks(1000, 5000, 3, true), 500U);
  for (int i = 0; i < 30; ++i) {
    window.on_recovery();
    window.on_duplicate();
  }
  EXPECT_EQ(window.ticks(1000, 5000, 3, true), 5000U) << "never more than the smoothed round-trip time";
}

/// What was repeated too early is passed over by the look at the order of arrivals (step 3).
TEST(ReorderingWindow, ADsackCountsAsReordering) {
  tcp::ReorderingWindow window;
  ASSERT_EQ(window.ticks(20'000, 30'000, 3, true), 0U);
  window.on_duplicate();
  EXPECT_EQ(window.ticks(20'000, 30'000, 3, true), 10'000U);
}

TEST(ReorderingWindow, SixteenRecoveriesWithoutADsackResetIt) {
  tcp::ReorderingWindow window;
  window.record_reordering();
  window.on_recovery();
  window.on_duplicate();
  for (int i = 0; i < 15; ++i) window.on_recovered();
  EXPECT_EQ(window.ticks(1000, 5000, 3, true), 500U);
  window.on_recovered();
  EXPECT_EQ(window.ticks(1000, 5000, 3, true), 250U);
}

TEST(ReorderingWindow, IsZeroInRecoveryOrWithThreeSackedSegmentsWithoutReordering) {
  const tcp::ReorderingWindow window;
  EXPECT_EQ(window.ticks(1000, 5000, 2, false), 250U);
  EXPECT_EQ(window.ticks(1000, 5000, 3, false), 0U);
  EXPECT_EQ(window.ticks(1000, 5000, 0, true), 0U);
}

TEST(Rack, SegmentsOfOneInstantAreOrderedByTheirEnd) {
  const tcp::SeqNum low(0xfffffff0U);
  EXPECT_LT((tcp::Transmission{5, low}), (tcp::Transmission{5, low + 100}));
  EXPECT_LT((tcp::Transmission{5, low + 100}), (tcp::Transmission{6, low}));
  EXPECT_LT((tcp::Transmission{0xfffffff0U, low}), (tcp::Transmission{6, low})) << "ticks wrap";
}

// A host answers every acknowledgement of a burst at one instant: a copy leaves after new data with the same time.
TEST(Rack, ARetransmissionIsNotLostBySegmentsSentInItsTick) {
  const tcp::SeqNum low(0xfffffff0U);
  EXPECT_FALSE((tcp::Transmission{5, low, 1} < tcp::Transmission{5, low + 100}));
  EXPECT_LT((tcp::Transmission{5, low}), (tcp::Transmission{5, low + 100, 1})) << "it lies before it in the queue";
  EXPECT_LT((tcp::Transmission{5, low, 1}), (tcp::Transmission{6, low + 100}));
}

TEST(Rack, RetransmissionsOfOneTickKeepTheirOrder) {
  const tcp::SeqNum low(0xfffffff0U);
  EXPECT_LT((tcp::Transmission{5, low + 100, 1}), (tcp::Transmission{5, low, 2}));
  EXPECT_FALSE((tcp::Transmission{5, low, 2} < tcp::Transmission{5, low + 100, 1}));
}

TEST(Rack, ALostRetransmissionIsRetransmittedWithoutATimeout) {
  Script s;
  send_window(s, 20);
  s.write_segments(20);
  s.receive_sack(0, {{1 * mss, 4 * mss}});
  s.emit();
  s.expect_data(0, mss);  // and is lost again
  s.discard_sent();
  s.pass(10ms);
  s.receive_sack(0, {{1 * mss, 20 * mss}});
  s.emit();
  const std::size_t fresh = s.sent();
  ASSERT_GT(fresh, 0U);
  s.expect_data(20 * mss, mss);
  s.discard_sent();
  s.pass(100ms);
  s.receive_sack(0, {{1 * mss, 21 * mss}});  // sent after the copy, and here
  s.emit();
  s.expect_data(0, mss);
  EXPECT_EQ(s.endpoint.counters().timeouts, 0);
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 1) << "still the same one";
}

TEST(Rack, AnAckTooSoonForTheRetransmissionIsOfTheOriginal) {
  Script s;
  send_window(s, 10);
  s.receive_sack(0, {{1 * mss, 4 * mss}});
  s.emit();
  s.expect_data(0, mss);
  s.pass(10ms);
  s.receive_sack(4 * mss, {});  // 10 ms after the copy on a path of 100 ms
  s.emit();
  s.expect_nothing();  // the others were sent before the copy; that proves nothing about them
}

TEST(Rack, ATimeoutDoesNotRetransmitRecentSegments) {
  Script s;
  s.config.tail_loss_probes = false;
  s.handshake_rtt = 100ms;
  s.use_sack();
  s.open();
  s.write_segments(2);
  s.emit();
  s.pass(s.endpoint.rto() - 20ms);
  s.write_segments(2);
  s.emit();
  s.discard_sent();
  s.pass(20ms);
  s.expect_data(0, mss);
  EXPECT_EQ(s.endpoint.counters().timeouts, 1);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(3 * mss)) << "the copy and two that are 20 ms old";
}

TEST(RateReduction, HalvesTheFlightOverOneRttWithoutAPause) {
  Script s;
  send_window(s, 20);
  s.write_segments(40);
  s.receive_sack(0, {{1 * mss, 4 * mss}});
  s.emit();
  s.expect_data(0, mss);
  s.discard_sent();
  std::size_t most = 0;
  std::size_t all = 0;
  for (std::uint32_t i = 5; i <= 20; ++i) {
    s.receive_sack(0, {{1 * mss, i * mss}});
    s.emit();
    most = std::max(most, s.sent());
    all += s.sent();
    s.discard_sent();
  }
  EXPECT_EQ(most, 1U) << "no burst";
  EXPECT_GE(all, 8U);
  EXPECT_LE(all, 9U) << "one for every two that arrive";
  s.pass(100ms);
  s.receive_ack(20 * mss);
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(10 * mss));
}

TEST(RateReduction, RefillsByOneSegmentPerAckAfterManyLosses) {
  tcp::RateReduction reduction;
  reduction.begin();
  // ssthresh 10 segments, and a single one is left in flight.
  EXPECT_EQ(reduction.allowed(mss, 1 * mss, 10 * mss, 0.5F, mss, true), 2 * mss) << "what came, and one more";
  reduction.sent(2 * mss);
  EXPECT_EQ(reduction.allowed(2 * mss, 1 * mss, 10 * mss, 0.5F, mss, true), 3 * mss);
}

TEST(RateReduction, SendsWhatIsDeliveredWhileLossesContinue) {
  tcp::RateReduction reduction;
  reduction.begin();
  EXPECT_EQ(reduction.allowed(mss, 1 * mss, 10 * mss, 0.5F, mss, false), mss);
  reduction.sent(mss);
  EXPECT_EQ(reduction.allowed(0, 1 * mss, 10 * mss, 0.5F, mss, false), 0U);
}

TEST(RateReduction, NeverExceedsTheThreshold) {
  tcp::RateReduction reduction;
  reduction.begin();
  EXPECT_EQ(reduction.allowed(5 * mss, 9 * mss, 10 * mss, 0.5F, mss, true), mss);
}

}  // namespace
}  // namespace sluice::test
