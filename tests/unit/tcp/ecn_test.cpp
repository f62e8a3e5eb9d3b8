// Tests of explicit congestion notification (RFC 3168).
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

using tcp::Flags;

constexpr std::uint32_t mss = Script::mss;
constexpr std::uint8_t echo = Flags::ack_bit | Flags::ece_bit;

void open(Script& s) {
  s.handshake_rtt = 100ms;
  s.ours.ecn = s.theirs.ecn = true;
  s.use_sack();
  s.open();
}

void receive_marked(Script& s, std::uint32_t position, std::uint8_t flags = Flags::ack_bit) {
  tcp::Segment data = s.segment(position, 0, flags);
  data.payload_len = 100;
  data.ecn = tcp::congestion_experienced;
  s.endpoint.receive(data, payload_packet(stream_bytes(position, 100)), s.now);
}

TEST(Ecn, IsUsedIfTheSynAckAgrees) {
  Script s;
  s.ours.ecn = true;
  s.endpoint.connect(s.config, s.our_base, s.ours, s.now);
  s.emit();
  EXPECT_EQ(s.wire.next().segment.flags.bits, Flags::syn_bit | Flags::ece_bit | Flags::cwr_bit);
  tcp::Segment answer = s.segment(0, 1, Flags::syn_bit | Flags::ack_bit | Flags::ece_bit);
  answer.syn.ecn = true;
  s.receive(answer);
  EXPECT_TRUE(s.endpoint.uses_ecn());
}

TEST(Ecn, IsNotUsedIfTheSynAckDoesNotAgree) {
  Script s;
  s.ours.ecn = true;
  s.endpoint.connect(s.config, s.our_base, s.ours, s.now);
  s.emit();
  s.receive(s.segment(0, 1, Flags::syn_bit | Flags::ack_bit));
  EXPECT_FALSE(s.endpoint.uses_ecn());
}

TEST(Ecn, APassiveOpenAnswersWithEceWithoutCwr) {
  Script s;
  s.ours.ecn = true;
  tcp::Segment syn = s.segment(0, 0, Flags::syn_bit | Flags::ece_bit | Flags::cwr_bit);
  syn.syn.ecn = true;
  s.endpoint.accept(s.config, syn, s.our_base, s.ours, s.now);
  s.emit();
  EXPECT_EQ(s.wire.next().segment.flags.bits, Flags::syn_bit | Flags::ack_bit | Flags::ece_bit);
}

TEST(Ecn, OnlyAnEcnSetupSynOffersIt) {
  const auto offers = [](std::uint8_t bits) { return tcp::offers_ecn(Flags{bits}); };
  EXPECT_TRUE(offers(Flags::syn_bit | Flags::ece_bit | Flags::cwr_bit));
  EXPECT_FALSE(offers(Flags::syn_bit | Flags::ece_bit));
  EXPECT_FALSE(offers(Flags::syn_bit));
  EXPECT_TRUE(offers(Flags::syn_bit | Flags::ack_bit | Flags::ece_bit));
  EXPECT_FALSE(offers(Flags::syn_bit | Flags::ack_bit | Flags::ece_bit | Flags::cwr_bit)) << "a reflected SYN";
}

TEST(Ecn, OnlyNewDataIsEcnCapable) {
  Script s;
  s.config.tail_loss_probes = false;
  open(s);
  s.write_segments(2);
  s.emit();
  EXPECT_EQ(s.expect_data(0, mss).segment.ecn, tcp::ecn_capable);
  EXPECT_EQ(s.expect_data(mss, mss).segment.ecn, tcp::ecn_capable);
  s.pass(s.endpoint.rto());
  EXPECT_EQ(s.expect_data(0, mss).segment.ecn, 0) << "a repetition (section 6.1.5)";
  s.receive_data(0, 100);
  s.receive_data(100, 100);
  s.emit();
  EXPECT_EQ(s.wire.next().segment.ecn, 0) << "a pure acknowledgement (section 6.1.4)";
}

TEST(Ecn, DataIsNotEcnCapableWithoutAgreement) {
  Script s;
  s.open();
  s.write(mss);
  s.emit();
  EXPECT_EQ(s.expect_data(0, mss).segment.ecn, 0);
}

TEST(Ecn, ACeMarkIsEchoedUntilCwr) {
  Script s;
  open(s);
  receive_marked(s, 0);
  s.receive_data(100, 100);
  s.emit();
  EXPECT_TRUE(s.wire.next().segment.flags.ece());
  s.receive_data(200, 100);
  s.receive_data(300, 100);
  s.emit();
  EXPECT_TRUE(s.wire.next().segment.flags.ece()) << "not before CWR";
  s.receive_data(400, 100, Flags::ack_bit | Flags::cwr_bit);
  s.receive_data(500, 100);
  s.emit();
  EXPECT_FALSE(s.wire.next().segment.flags.ece());
  receive_marked(s, 600, Flags::ack_bit | Flags::cwr_bit);
  s.receive_data(700, 100);
  s.emit();
  EXPECT_TRUE(s.wire.next().segment.flags.ece()) << "a mark on the very segment that carries CWR";
  EXPECT_EQ(s.read_all(), 800U);
}

TEST(Ecn, DataCarriesTheEcho) {
  Script s;
  open(s);
  receive_marked(s, 0);
  s.write(mss);
  s.emit();
  EXPECT_TRUE(s.expect_data(0, mss).segment.flags.ece());
}

TEST(Ecn, ACeMarkOutsideTheWindowIsIgnored) {
  Script s;
  open(s);
  receive_marked(s, 70'000);
  s.receive_data(0, 100);
  s.receive_data(100, 100);
  s.emit();
  while (s.sent() != 0) EXPECT_FALSE(s.wire.next().segment.flags.ece());
}

TEST(Ecn, AnEchoReducesTheWindowOncePerRoundTripAndIsAnsweredWithCwr) {
  Script s;
  open(s);
  s.write_segments(40);
  s.emit();
  s.discard_sent();
  s.now += 100ms;
  tcp::Segment ack = s.segment(0, 2 * mss, echo);
  s.receive(ack);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(4 * mss)) << "of the eight still out";
  ack.ack = s.our_base + 4 * mss;
  s.receive(ack);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(4 * mss)) << "the same window of data";
  s.emit();
  EXPECT_TRUE(s.wire.next().segment.flags.cwr());
  s.discard_sent();
  s.receive(s.segment(0, 8 * mss));
  s.emit();
  while (s.sent() != 0) EXPECT_FALSE(s.wire.next().segment.flags.cwr()) << "once";
  EXPECT_EQ(s.endpoint.counters().retransmitted, 0U);
  s.receive(s.segment(0, 10 * mss));
  EXPECT_EQ(s.endpoint.cwnd(), s.endpoint.ssthresh()) << "the round trip is over";
  ack.ack = s.our_base + 11 * mss;
  s.receive(ack);
  EXPECT_LT(s.endpoint.ssthresh(), Bytes(4 * mss)) << "a new one";
}

/// CWR is still on its way to the peer when the last segment that left before it is acknowledged.
TEST(Ecn, TheEchoBeforeCwrBelongsToTheOldMark) {
  Script s;
  open(s);
  s.config.tail_loss_probes = false;
  s.write_segments(40);
  s.emit();
  const auto out = static_cast<std::uint32_t>(s.sent());
  s.discard_sent();
  s.now += 100ms;
  s.receive(s.segment(0, 4 * mss, echo));
  const Bytes once = s.endpoint.ssthresh();
  s.emit();
  ASSERT_GT(s.sent(), 0U);
  EXPECT_TRUE(s.wire.next().segment.flags.cwr());
  s.receive(s.segment(0, out * mss, echo));
  EXPECT_EQ(s.endpoint.ssthresh(), once);
  s.emit();
  s.now += 100ms;
  s.receive(s.segment(0, (out + 2) * mss, echo));
  EXPECT_LT(s.endpoint.ssthresh(), once) << "the peer has seen CWR and another mark";
}

/// RFC 3168 section 6.1.2 makes no difference where the acknowledgement leaves nothing in flight, as that of each
/// answer of a server does.
TEST(Ecn, AnEchoThatLeavesNothingInFlightReducesTheWindowToo) {
  Script s;
  open(s);
  s.write_segments(8);
  s.emit();
  s.discard_sent();
  s.now += 100ms;
  s.receive(s.segment(0, 8 * mss, echo));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(4 * mss)) << "of the eight that were out";
  EXPECT_EQ(s.endpoint.cwnd(), Bytes(4 * mss));
  s.receive(s.segment(0, 8 * mss, echo));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(4 * mss)) << "the peer repeats it until CWR comes";
  s.write_segments(2);
  s.emit();
  EXPECT_TRUE(s.wire.next().segment.flags.cwr());
  EXPECT_FALSE(s.wire.next().segment.flags.cwr()) << "once";
}

TEST(Ecn, ALossInTheSameWindowDoesNotReduceItAgain) {
  Script s;
  open(s);
  s.write_segments(10);
  s.emit();
  s.discard_sent();
  s.now += 100ms;
  s.receive(s.segment(0, mss, echo));
  const Bytes once = s.endpoint.ssthresh();
  s.receive_sack(mss, {{2 * mss, 6 * mss}});
  EXPECT_TRUE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.ssthresh(), once);
}

TEST(Ecn, AnEchoWithoutAgreementIsIgnored) {
  Script s;
  s.handshake_rtt = 100ms;
  s.open();
  s.write_segments(10);
  s.emit();
  s.receive(s.segment(0, mss, echo));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
}

}  // namespace
}  // namespace sluice::test
