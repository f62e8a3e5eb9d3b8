// Tests of spurious retransmissions and their undo: Eifel (RFC 3522, RFC 4015), F-RTO (RFC 5682) and DSACK (RFC 2883,
// RFC 3708).
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;
constexpr std::uint32_t original = 100, copy = 400;  ///< our timestamps

/// A window of ten of thirty segments is out and the timer has expired once: the first one was sent again.
void time_out(Script& s) {
  s.handshake_rtt = 100ms;
  s.config.tail_loss_probes = false;
  if (s.ours.timestamps) s.ours.mss = s.theirs.mss = mss + 12;  // room for the option
  s.open();
  s.endpoint.set_timestamp(original);
  s.their_echo = original;
  s.write_segments(30);
  s.emit();
  EXPECT_EQ(s.sent(), 10U);
  s.discard_sent();
  s.endpoint.set_timestamp(copy);
  s.pass(s.endpoint.rto());
  s.expect_data(0, mss);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(mss));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  s.now += 400ms;
}

void expect_undone(const Script& s) {
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_GE(s.endpoint.cwnd(), Bytes(10 * mss));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
  EXPECT_EQ(s.endpoint.counters().retransmitted, 1U);
}

class Frto : public testing::Test {
 protected:
  void SetUp() override { time_out(s); }
  Script s;
};
class Eifel : public testing::Test {
 protected:
  void SetUp() override {
    s.use_timestamps();
    time_out(s);
  }
  Script s;
};
class FrtoSack : public testing::Test {
 protected:
  void SetUp() override {
    s.use_sack();
    time_out(s);
  }
  Script s;
};

TEST_F(Eifel, AnEchoOlderThanTheRetransmissionUndoesTheTimeout) {
  s.receive_ack(2 * mss);
  expect_undone(s);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(8 * mss));
  s.emit();
  for (std::uint32_t i = 10; i < 14; ++i) s.expect_data(i * mss, mss);  // two have left, and slow start adds two
  s.expect_nothing();
}

TEST_F(Eifel, TheFirstOfSeveralRetransmissionsCounts) {
  s.endpoint.set_timestamp(copy + 600);
  s.pass(400ms);
  s.expect_data(0, mss);
  s.their_echo = copy;
  s.receive_ack(mss);
  EXPECT_TRUE(s.endpoint.in_recovery()) << "the first copy was answered";
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
}

TEST_F(Eifel, AnOriginalIsRecognisedAfterTwoTimeouts) {
  s.endpoint.set_timestamp(copy + 600);
  s.pass(400ms);
  EXPECT_EQ(s.endpoint.counters().timeouts, 2);
  s.receive_ack(mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(11 * mss));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
}

TEST_F(Eifel, AnAckOfTheWholeFlightSuffices) {
  s.receive_ack(10 * mss);
  expect_undone(s);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(0));
}

TEST_F(Eifel, AnEqualTimestampProvesNothing) {
  s.their_echo = copy;  // as if the originals had carried it too
  s.receive_ack(mss);
  EXPECT_TRUE(s.endpoint.in_recovery());
  s.emit();
  s.expect_data(10 * mss, mss);
  s.expect_data(11 * mss, mss);
  s.receive_ack(2 * mss);
  expect_undone(s);
}

TEST_F(Frto, TheSecondAcknowledgementDecides) {
  s.receive_ack(mss);
  EXPECT_TRUE(s.endpoint.in_recovery());
  s.emit();
  s.expect_data(10 * mss, mss);  // new data, not a repetition
  s.expect_data(11 * mss, mss);
  s.expect_nothing();
  s.receive_ack(2 * mss);
  expect_undone(s);
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(10 * mss)) << "eight old ones, two new ones";
}

TEST_F(Frto, ALossAmongTheOriginalsIsRetransmittedAtOnce) {
  s.receive_ack(mss);
  s.emit();
  s.receive_ack(2 * mss);
  expect_undone(s);
  s.emit();
  s.discard_sent();
  for (int i = 0; i < 3; ++i) s.receive_ack(2 * mss);  // the third one of the window was lost
  s.emit();
  s.expect_data(2 * mss, mss);
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 1) << "else it waits for a timer that has learned from the pause";
}

TEST_F(Frto, ADuplicateAckAfterNewDataIsALoss) {
  s.receive_ack(mss);
  s.emit();
  s.discard_sent();
  s.receive_ack(mss);
  s.emit();
  s.expect_data(mss, mss);  // RFC 5682 section 2.1 step 3a: a window of three, of which two are out
  s.receive_ack(mss);
  s.emit();
  s.expect_nothing();
  s.receive_ack(2 * mss);
  EXPECT_TRUE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(3 * mss));
}

TEST_F(Frto, ADuplicateAckBeforeNewDataIsALoss) {
  s.receive_ack(0);
  s.receive_ack(mss);
  s.emit();
  s.expect_data(mss, mss);
  s.expect_data(2 * mss, mss);
  s.expect_nothing();
}

TEST(SpuriousTimeout, NothingIsUndoneIfUndoIsDisabled) {
  for (const bool sack : {false, true}) {
    Script s;
    s.config.takes_back = false;
    s.use_timestamps();
    if (sack) s.use_sack();
    time_out(s);
    s.receive_ack(2 * mss);  // with the echo of the original
    s.emit();
    s.expect_data(2 * mss, mss);
    EXPECT_TRUE(s.endpoint.in_recovery());
    EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  }
}

TEST(SpuriousTimeout, WithoutNewDataTheRestIsRetransmitted) {
  Script s;
  s.handshake_rtt = 100ms;
  s.open();
  s.write_segments(6);
  s.emit();
  s.discard_sent();
  s.pass(300ms);
  s.expect_data(0, mss);
  s.receive_ack(mss);
  s.emit();
  s.expect_data(mss, mss);
  s.expect_data(2 * mss, mss);
  s.receive_ack(3 * mss);
  EXPECT_TRUE(s.endpoint.in_recovery());
}

TEST_F(Frto, AnAckOfAPartOfTheRetransmissionDecidesNothing) {
  s.receive_ack(mss / 2);
  s.emit();
  s.receive_ack(mss);
  s.emit();
  s.receive_ack(2 * mss);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  EXPECT_TRUE(s.endpoint.in_recovery());
}

TEST_F(Eifel, UndoesNothingDuringAnotherRecovery) {
  s.their_echo = copy;
  s.receive_ack(mss);
  s.receive_ack(mss);  // a real loss
  s.emit();
  s.discard_sent();
  s.endpoint.set_timestamp(copy + 600);
  s.pass(s.endpoint.rto());
  EXPECT_EQ(s.endpoint.counters().timeouts, 2);
  s.receive_ack(2 * mss);
  s.emit();
  s.receive_ack(3 * mss);
  EXPECT_TRUE(s.endpoint.in_recovery());
}

TEST_F(FrtoSack, NewlySackedOriginalsProveASpuriousTimeout) {
  s.receive_ack(mss);
  s.emit();
  s.discard_sent();
  s.receive_sack(mss, {{2 * mss, 3 * mss}});  // the second one is missing
  expect_undone(s);
  s.receive_sack(mss, {{2 * mss, 5 * mss}});
  s.emit();
  s.expect_data(mss, mss);  // and repaired as any loss
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 1);
}

TEST_F(FrtoSack, SackedNewDataWithUnsackedOriginalsIsALoss) {
  s.receive_ack(mss);
  s.emit();
  s.discard_sent();
  s.receive_sack(mss, {{10 * mss, 11 * mss}});
  EXPECT_TRUE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  s.emit();
  s.expect_data(mss, mss);  // slow start, from the oldest
}

TEST_F(FrtoSack, DuplicateAcksBeforeTheAnswerDecideNothing) {
  s.receive_sack(0, {{3 * mss, 4 * mss}});
  s.emit();
  s.expect_nothing();
  s.receive_sack(mss, {{3 * mss, 4 * mss}});
  s.emit();
  s.expect_data(10 * mss, mss);
  s.expect_data(11 * mss, mss);
  s.receive_ack(4 * mss);
  expect_undone(s);
}

TEST(SpuriousTimeout, AnAckBeforeTheRetransmissionWasSentUndoesIt) {
  Script s;
  s.handshake_rtt = 100ms;
  s.open();
  s.write_segments(30);
  s.emit();
  s.discard_sent();
  s.wire.blocked = true;
  s.pass(1s);
  EXPECT_EQ(s.endpoint.counters().timeouts, 1);
  s.wire.blocked = false;
  s.receive_ack(mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  s.emit();
  s.expect_data(10 * mss, mss);
  EXPECT_EQ(s.endpoint.counters().retransmitted, 0U);
}

TEST(SpuriousTimeout, TheRtoAdaptsToTheDelay) {
  for (const bool timestamps : {false, true}) {
    Script s;
    if (timestamps) s.use_timestamps();
    time_out(s);  // 700 ms after the first transmission
    EXPECT_EQ(s.endpoint.srtt(), 100ms);
    for (std::uint32_t i = 1; i <= 4; ++i) {
      s.receive_ack(i * mss);
      s.emit();
    }
    EXPECT_GT(s.endpoint.srtt(), 150ms);
    EXPECT_GT(s.endpoint.rto(), 700ms) << "the same pause would pass";
    EXPECT_EQ(s.endpoint.counters().retransmitted, 1U);
  }
}

TEST(SpuriousTimeout, TheFinWaitsForTheDecision) {
  Script s;
  s.handshake_rtt = 100ms;
  s.use_timestamps();
  s.open();
  s.endpoint.set_timestamp(original);
  s.their_echo = original;
  s.write_segments(4);
  s.endpoint.finish();
  s.emit();
  s.discard_sent();
  s.endpoint.set_timestamp(copy);
  s.pass(300ms);
  s.expect_data(0, mss);
  s.expect_nothing();
  s.receive_ack(2 * mss);
  s.emit();
  s.expect_nothing();
  s.receive_ack(4 * mss + 1);
  EXPECT_EQ(s.endpoint.state(), tcp::State::fin_wait_2);
}

TEST(SpuriousTimeout, UnderAnAllowanceNothingElseIsRetransmitted) {
  Script s;
  s.handshake_rtt = 100ms;
  s.endpoint.set_window_source(tcp::WindowSource::allowance, Bytes());
  s.open();
  s.write_segments(30);
  s.emit(Bytes(1040 * 10));
  s.discard_sent();
  s.pass(300ms);
  s.expect_data(0, mss);
  s.expect_nothing();
  s.receive_ack(mss);
  s.emit(Bytes(1040 * 3));
  for (std::uint32_t i = 10; i < 12; ++i) s.expect_data(i * mss, mss);
  s.expect_nothing();  // RFC 5682 section 2.1 step 2b: at most two
  s.receive_ack(2 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.in_flight(), Bytes(10 * mss));
  EXPECT_EQ(s.endpoint.counters().retransmitted, 1U);
}

/// Reorders a window of ten: three segments overtake the first, which is retransmitted.
void reorder(Script& s) {
  if (s.ours.timestamps) s.ours.mss = s.theirs.mss = mss + 12;
  s.handshake_rtt = 100ms;
  s.open();
  s.endpoint.set_timestamp(original);
  s.their_echo = original;
  s.write_segments(30);
  s.emit();
  s.discard_sent();
  s.now += 100ms;
  s.endpoint.set_timestamp(copy);
  if (s.ours.sack_permitted) {
    s.receive_sack(0, {{1 * mss, 4 * mss}});
  } else {
    for (int i = 0; i < 3; ++i) s.receive_ack(0);
  }
  s.emit();
  s.expect_data(0, mss);
  EXPECT_TRUE(s.endpoint.in_recovery());
  EXPECT_LT(s.endpoint.ssthresh(), Bytes(10 * mss));
  s.discard_sent();
}

TEST(SpuriousRecovery, AnEchoOlderThanTheRetransmissionEndsIt) {
  for (const auto algorithm : {tcp::CongestionAlgorithm::newreno, tcp::CongestionAlgorithm::cubic}) {
    for (const bool sack : {false, true}) {
      Script s;
      s.config.congestion = algorithm;
      s.use_timestamps();
      if (sack) s.use_sack();
      reorder(s);
      s.receive_ack(4 * mss);
      expect_undone(s);
      EXPECT_EQ(s.endpoint.in_flight(), Bytes(6 * mss));
      s.emit();
      s.expect_data(10 * mss, mss);
    }
  }
}

TEST(SpuriousRecovery, AnEchoOfTheRetransmissionIsALoss) {
  for (const bool sack : {false, true}) {
    Script s;
    s.use_timestamps();
    if (sack) s.use_sack();
    reorder(s);
    s.their_echo = copy;
    s.receive_ack(4 * mss);
    s.their_echo = original;
    s.receive_ack(5 * mss);
    EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
    EXPECT_TRUE(s.endpoint.in_recovery());
  }
}

TEST(SpuriousRecovery, IsNotUndoneWhileAnotherSegmentIsLost) {
  Script s;
  s.use_timestamps();
  s.use_sack();
  reorder(s);
  s.receive_sack(0, {{5 * mss, 9 * mss}, {1 * mss, 4 * mss}});  // the fifth is missing too
  s.emit();
  s.receive_sack(4 * mss, {{5 * mss, 9 * mss}});
  EXPECT_TRUE(s.endpoint.in_recovery());
  s.receive_ack(9 * mss);  // it came as well
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
}

TEST(SpuriousRecovery, WithoutSackThreeMoreDuplicateAcksStartAnother) {
  Script s;
  s.use_timestamps();
  reorder(s);
  s.receive_ack(4 * mss);
  s.receive_ack(4 * mss);  // the copy's
  for (int i = 0; i < 3; ++i) s.receive_ack(4 * mss);
  s.emit();
  EXPECT_TRUE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.counters().fast_recoveries, 2);
}

class DsackTest : public testing::Test {
 protected:
  void SetUp() override {
    s.use_sack();
    reorder(s);
  }
  Script s;
};

TEST(SpuriousRecovery, ADsackEndsIt) {
  for (const auto algorithm : {tcp::CongestionAlgorithm::newreno, tcp::CongestionAlgorithm::cubic}) {
    Script s;
    s.config.congestion = algorithm;
    s.use_sack();
    reorder(s);
    s.receive_ack(4 * mss);
    EXPECT_TRUE(s.endpoint.in_recovery());
    s.receive_sack(5 * mss, {{0, 1 * mss}});
    expect_undone(s);
    EXPECT_EQ(s.endpoint.in_flight(), Bytes(5 * mss));
  }
}

TEST_F(DsackTest, ADsackAfterTheRecoveryUndoesIt) {
  s.receive_ack(10 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  s.receive_sack(10 * mss, {{0, 1 * mss}});
  expect_undone(s);
}

TEST(SpuriousRecovery, ADsackUndoesNothingIfUndoIsDisabled) {
  Script s;
  s.config.takes_back = false;
  s.use_sack();
  reorder(s);
  s.receive_ack(4 * mss);
  s.receive_sack(5 * mss, {{0, 1 * mss}});
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
}

TEST_F(DsackTest, EveryRetransmissionMustBeReportedAsADuplicate) {
  s.receive_sack(0, {{5 * mss, 10 * mss}, {1 * mss, 4 * mss}});
  s.emit();
  s.expect_data(4 * mss, mss);
  s.receive_sack(4 * mss, {{0, 1 * mss}, {5 * mss, 10 * mss}});
  EXPECT_TRUE(s.endpoint.in_recovery());
  s.receive_ack(10 * mss);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  s.receive_sack(10 * mss, {{4 * mss, 5 * mss}});
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
  EXPECT_GE(s.endpoint.cwnd(), Bytes(10 * mss));
}

TEST_F(DsackTest, ADsackMayLieWithinTheSecondBlock) {
  s.receive_sack(0, {{5 * mss, 10 * mss}, {1 * mss, 4 * mss}});
  s.emit();
  s.receive_sack(0, {{4 * mss, 5 * mss}, {1 * mss, 10 * mss}});  // RFC 2883 section 4.1.2
  s.receive_ack(10 * mss);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  s.receive_sack(10 * mss, {{0, 1 * mss}});
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
}

TEST_F(DsackTest, DsacksOfOtherSegmentsUndoNothing) {
  s.receive_ack(10 * mss);
  s.emit();
  s.receive_sack(12 * mss, {{11 * mss, 12 * mss}});  // sent after the recovery: the network's own
  s.receive_sack(12 * mss, {{static_cast<std::uint32_t>(-30 * 1000), static_cast<std::uint32_t>(-29 * 1000)}});
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
}

TEST_F(FrtoSack, ADsackUndoesATimeoutThatOneAckAnswered) {
  s.receive_ack(10 * mss);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(5 * mss));
  s.receive_sack(10 * mss, {{0, 1 * mss}});
  expect_undone(s);
}

TEST_F(DsackTest, ATimeoutWithinARecoveryIsNotUndone) {
  s.pass(s.endpoint.rto());
  EXPECT_EQ(s.endpoint.counters().timeouts, 1);
  s.receive_sack(4 * mss, {{0, 1 * mss}});
  EXPECT_TRUE(s.endpoint.in_recovery());
  EXPECT_LT(s.endpoint.ssthresh(), Bytes(10 * mss));
}

}  // namespace
}  // namespace sluice::test
