// Tests of active, passive and simultaneous open, and of connections adopted after their handshake.
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

tcp::SynOptions full_options() {
  return {.mss = 1460, .window_scale = 7, .has_window_scale = true, .sack_permitted = true, .timestamps = true};
}

tcp::Segment syn_ack(const Script& s, const tcp::SynOptions& options) {
  tcp::Segment segment;
  segment.seq = s.their_base - 1;
  segment.ack = s.our_base;
  segment.flags.bits = tcp::Flags::syn_bit | tcp::Flags::ack_bit;
  segment.window = 30000;
  segment.syn = options;
  segment.has_timestamps = options.timestamps;
  segment.ts_value = 77;
  return segment;
}

TEST(Handshake, ActiveOpenSendsTheSynWithItsOptions) {
  Script s;
  s.endpoint.set_timestamp(4711);
  s.endpoint.set_receive_room(Bytes(200'000));
  s.endpoint.connect(s.config, s.our_base - 1, full_options(), s.now);
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now));
  s.emit();
  const tcp::Segment syn = s.wire.next().segment;
  EXPECT_EQ(syn.flags.bits, tcp::Flags::syn_bit);
  EXPECT_EQ(syn.seq, s.our_base - 1);
  EXPECT_EQ(syn.syn, full_options());
  EXPECT_EQ(syn.ts_value, 4711U);
  EXPECT_EQ(syn.window, 65535) << "a window on a SYN is not scaled";
  EXPECT_EQ(s.endpoint.state(), tcp::State::syn_sent);
}

TEST(Handshake, TheSynAckOpensAndIsAcknowledged) {
  Script s;
  s.endpoint.connect(s.config, s.our_base - 1, full_options(), s.now);
  s.emit();
  s.discard_sent();
  s.now += 80ms;
  s.receive(syn_ack(s, full_options()));
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
  EXPECT_EQ(s.endpoint.effective_mss(), 1448U);
  EXPECT_EQ(s.endpoint.snd_window(), Bytes(30000));
  EXPECT_EQ(s.endpoint.srtt(), 80ms);
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(14480));
  s.emit();
  const SentSegment ack = s.expect_ack(0);
  EXPECT_EQ(ack.segment.ts_echo, 77U);
  EXPECT_EQ(s.endpoint.next_deadline(), never);
}

TEST(Handshake, OptionsThatThePeerDoesNotOfferAreNotUsed) {
  Script s;
  s.endpoint.connect(s.config, s.our_base - 1, full_options(), s.now);
  s.emit();
  s.discard_sent();
  s.receive(syn_ack(s, {.mss = 900}));
  EXPECT_FALSE(s.endpoint.uses_timestamps());
  EXPECT_FALSE(s.endpoint.uses_sack());
  EXPECT_EQ(s.endpoint.effective_mss(), 900U);
  s.endpoint.set_receive_room(Bytes(64'000));
  s.emit();
  EXPECT_EQ(s.wire.next().segment.window, 65535) << "not scaled, and never taken back";
}

TEST(Handshake, DataWrittenBeforeTheSynAckIsSentWithTheAck) {
  Script s;
  s.endpoint.connect(s.config, s.our_base - 1, {.mss = 1000}, s.now);
  s.write(500);
  s.endpoint.finish();
  s.emit();
  EXPECT_EQ(s.sent(), 1U);
  s.discard_sent();
  s.receive(syn_ack(s, {.mss = 1000}));
  s.emit();
  const SentSegment data = s.expect_data(0, 500);
  EXPECT_TRUE(data.segment.flags.fin());
  EXPECT_EQ(data.segment.ack, s.their_base);
  s.expect_nothing();
}

TEST(Handshake, ALostSynIsRetransmittedWithBackoffAndGivesNoRttSample) {
  Script s;
  s.endpoint.connect(s.config, s.our_base - 1, full_options(), s.now);
  s.emit();
  s.pass(999ms);
  EXPECT_EQ(s.sent(), 1U);
  s.pass(1ms);
  EXPECT_EQ(s.sent(), 2U);
  s.pass(1999ms);
  EXPECT_EQ(s.sent(), 2U);
  s.pass(1ms);
  EXPECT_EQ(s.sent(), 3U);
  s.receive(syn_ack(s, full_options()));
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
  EXPECT_EQ(s.endpoint.srtt(), Duration::zero()) << "Karn: which SYN was answered is unknown";
}

TEST(Handshake, UnansweredSynsTimeOut) {
  Script s;
  s.config.max_retransmissions = 3;
  s.endpoint.connect(s.config, s.our_base - 1, full_options(), s.now);
  s.emit();
  s.pass(60s);
  EXPECT_EQ(s.sent(), 4U);
  EXPECT_EQ(s.endpoint.state(), tcp::State::closed);
  EXPECT_EQ(s.endpoint.close_reason(), tcp::CloseReason::timed_out);
}

TEST(Handshake, AResetAnswerIsRefusal) {
  Script s;
  s.endpoint.connect(s.config, s.our_base - 1, full_options(), s.now);
  s.emit();
  tcp::Segment reset = syn_ack(s, {});
  reset.flags.bits = tcp::Flags::rst_bit | tcp::Flags::ack_bit;
  reset.ack = s.our_base + 1;
  s.receive(reset);
  EXPECT_EQ(s.endpoint.state(), tcp::State::syn_sent) << "acknowledges what was never sent";
  reset.ack = s.our_base;
  s.receive(reset);
  EXPECT_EQ(s.endpoint.state(), tcp::State::closed);
  EXPECT_EQ(s.endpoint.close_reason(), tcp::CloseReason::refused);
}

tcp::Segment their_syn(const Script& s, const tcp::SynOptions& options) {
  tcp::Segment segment = syn_ack(s, options);
  segment.flags.bits = tcp::Flags::syn_bit;
  segment.ack = tcp::SeqNum();
  return segment;
}

TEST(Handshake, PassiveOpenAnswersWithTheCommonOptions) {
  Script s;
  tcp::SynOptions theirs = full_options();
  theirs.timestamps = false;
  s.endpoint.accept(s.config, their_syn(s, theirs), s.our_base - 1, full_options(), s.now);
  s.emit();
  const tcp::Segment answer = s.wire.next().segment;
  EXPECT_EQ(answer.flags.bits, tcp::Flags::syn_bit | tcp::Flags::ack_bit);
  EXPECT_EQ(answer.seq, s.our_base - 1);
  EXPECT_EQ(answer.ack, s.their_base);
  EXPECT_EQ(answer.syn, theirs);
  EXPECT_FALSE(answer.has_timestamps);
  EXPECT_EQ(s.endpoint.state(), tcp::State::syn_received);

  s.receive(s.segment(0, 0));
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
}

TEST(Handshake, ARetransmittedSynIsAnsweredAgain) {
  Script s;
  s.endpoint.accept(s.config, their_syn(s, full_options()), s.our_base - 1, full_options(), s.now);
  s.emit();
  s.discard_sent();
  s.receive(their_syn(s, full_options()));
  s.emit();
  EXPECT_TRUE(s.wire.next().segment.flags.syn());
}

TEST(Handshake, TheFirstDataMayCarryTheLastAcknowledgement) {
  Script s;
  s.endpoint.accept(s.config, their_syn(s, {.mss = 1000}), s.our_base - 1, {.mss = 1000}, s.now);
  s.emit();
  s.receive_data(0, 300);
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
  EXPECT_EQ(s.read_all(), 300U);
}

TEST(Handshake, ASimultaneousOpenSucceeds) {
  Script s;
  s.endpoint.connect(s.config, s.our_base - 1, full_options(), s.now);
  s.emit();
  s.discard_sent();
  s.receive(their_syn(s, full_options()));
  EXPECT_EQ(s.endpoint.state(), tcp::State::syn_received);
  s.emit();
  const tcp::Segment answer = s.wire.next().segment;
  EXPECT_TRUE(answer.flags.syn() && answer.flags.ack());
  s.receive(syn_ack(s, full_options()));
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
}

TEST(Handshake, ARetransmittedSynAckInAnOpenConnectionIsAcknowledged) {
  Script s;
  s.open();
  s.receive(syn_ack(s, {}));
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
  s.emit();
  s.expect_ack(0);
}

TEST(Handshake, AnAdoptedConnectionContinues) {
  Script s;
  s.use_timestamps();
  s.open(20'000, 40'000);
  EXPECT_EQ(s.endpoint.state(), tcp::State::established);
  EXPECT_EQ(s.endpoint.snd_nxt(), s.our_base);
  EXPECT_EQ(s.endpoint.rcv_adv(), s.their_base + 40'000);
  EXPECT_EQ(s.endpoint.newest_ts_value(), 1000U);
  s.write(100);
  s.emit();
  const SentSegment data = s.expect_data(0, 100);
  EXPECT_EQ(data.segment.window, 40'000);
  EXPECT_EQ(data.segment.ts_echo, 1000U);
}

TEST(Handshake, AConnectionCanBeAdoptedBeforeTheLastAck) {
  Script s;
  tcp::EstablishedState state;
  state.snd_nxt = s.our_base;
  state.rcv_nxt = s.their_base;
  state.rcv_adv = s.their_base + 1000;
  state.snd_window = 5000;
  state.snd_una_is_acked = false;
  s.endpoint.establish_at(s.config, state, s.now);
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(1));
  EXPECT_EQ(s.endpoint.next_deadline(), never) << "the handshake is not ours to repeat";
  s.receive_ack(0);
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
}

}  // namespace
}  // namespace sluice::test
