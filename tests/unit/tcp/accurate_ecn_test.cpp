// Tests of accurate ECN feedback (RFC 9768): negotiation and the ACE counter.
#include "dataplane/tcp/accurate_ecn.hpp"

#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

using tcp::AccurateEcn;
using tcp::Flags;

constexpr std::uint32_t mss = Script::mss;
constexpr std::uint16_t syn_ack = Flags::syn_bit | Flags::ack_bit;

/// A script whose endpoint may agree on accurate feedback.
struct Counting : Script {
  Counting() {
    config.tail_loss_probes = false;
    config.accurate_ecn = &state;
    ours.ecn = ours.accurate_ecn = true;
  }
  void open_agreed() {
    handshake_rtt = 100ms;
    theirs.accurate_ecn = true;
    use_sack();
    open();
  }
  /// Returns an ACK with the given ACE field.
  [[nodiscard]] tcp::Segment counted(std::uint32_t ack, std::uint8_t ace) const {
    tcp::Segment segment = this->segment(0, ack);
    segment.flags.bits |= tcp::ace_bits(ace);
    return segment;
  }
  void receive_with(std::uint32_t position, std::uint16_t ecn) {
    tcp::Segment data = counted(0, 5);
    data.seq = their_base + position;
    data.payload_len = 100;
    data.ecn = ecn;
    endpoint.receive(data, payload_packet(stream_bytes(position, 100)), now);
  }
  void receive_answer(std::uint8_t ace, std::uint16_t ecn = 0) {
    tcp::Segment answer = segment(0, 1);
    answer.seq = their_base - 1;
    answer.ack = our_base + 1;
    answer.flags.bits = syn_ack | tcp::ace_bits(ace);
    answer.syn = theirs;
    answer.syn.ecn = tcp::offers_ecn(answer.flags);
    answer.syn.accurate_ecn = tcp::offers_accurate_ecn(answer.flags) || tcp::has_reserved_ace(answer.flags);
    answer.ecn = ecn;
    receive(answer);
  }
  [[nodiscard]] std::uint8_t next_ace() { return tcp::ace_of(wire.next().segment.flags); }

  AccurateEcn state;
};

TEST(AccurateEcn, OffersAndAnswersAreRecognisedByThreeFlags) {
  const auto offers = [](int ace, std::uint16_t bits) {
    return tcp::offers_accurate_ecn(Flags{static_cast<std::uint16_t>(bits | ace << 6)});
  };
  for (int ace = 0; ace < 8; ++ace) EXPECT_EQ(offers(ace, Flags::syn_bit), ace == 7);
  for (int ace = 0; ace < 8; ++ace) {
    EXPECT_EQ(offers(ace, syn_ack), ace == 2 || ace == 3 || ace == 4 || ace == 6) << ace;  // table 2
  }
  const auto reserved = [](int ace, std::uint16_t bits) {
    return tcp::has_reserved_ace(Flags{static_cast<std::uint16_t>(bits | ace << 6)});
  };
  for (int ace = 0; ace < 8; ++ace) {  // section 3.1.3
    EXPECT_EQ(reserved(ace, Flags::syn_bit), ace != 0 && ace != 3 && ace != 7) << ace;
    EXPECT_EQ(reserved(ace, syn_ack), ace == 5) << ace;
  }
}

TEST(AccurateEcn, TheFirstAckReflectsTheEcnFieldOfTheSynAck) {
  for (const auto& [ecn, ace] : {std::pair{0, 2}, {1, 3}, {2, 4}, {3, 6}}) {
    Counting s;
    s.endpoint.connect(s.config, s.our_base, s.ours, s.now);
    s.emit();
    EXPECT_EQ(s.next_ace(), 7);
    s.receive_answer(2, static_cast<std::uint16_t>(ecn));
    EXPECT_TRUE(s.endpoint.uses_accurate_ecn());
    s.write(mss);
    s.emit();
    EXPECT_EQ(s.next_ace(), ace) << "alone, before any data";
    const tcp::Segment data = s.wire.next().segment;
    EXPECT_EQ(tcp::ace_of(data.flags), ecn == 3 ? 6 : 5) << "the count, which begins with five";
    EXPECT_EQ(data.ecn, tcp::ecn_capable);
  }
}

TEST(AccurateEcn, APassiveOpenReflectsTheEcnFieldOfTheSyn) {
  for (const auto& [ecn, ace] : {std::pair{0, 2}, {1, 3}, {2, 4}, {3, 6}}) {
    Counting s;
    tcp::Segment syn = s.segment(0, 0, Flags::syn_bit);
    syn.flags.bits |= tcp::ace_bits(7);
    syn.syn.ecn = syn.syn.accurate_ecn = true;
    syn.ecn = static_cast<std::uint16_t>(ecn);
    s.endpoint.accept(s.config, syn, s.our_base, s.ours, s.now);
    s.emit();
    EXPECT_EQ(s.next_ace(), ace);
  }
}

TEST(AccurateEcn, AHostWithClassicEcnGetsClassicEcn) {
  Counting s;
  s.endpoint.connect(s.config, s.our_base, s.ours, s.now);
  s.emit();
  s.discard_sent();
  s.receive_answer(1);
  EXPECT_TRUE(s.endpoint.uses_ecn());
  EXPECT_FALSE(s.endpoint.uses_accurate_ecn());

  Counting passive;
  tcp::Segment syn = passive.segment(0, 0, Flags::syn_bit | Flags::ece_bit | Flags::cwr_bit);
  syn.syn.ecn = true;
  passive.endpoint.accept(passive.config, syn, passive.our_base, passive.ours, passive.now);
  passive.emit();
  EXPECT_EQ(passive.wire.next().segment.flags.bits, syn_ack | Flags::ece_bit);
}

TEST(AccurateEcn, ClassicEcnIsOfferedWhenThereIsNoCounterState) {
  Counting s;
  s.config.accurate_ecn = nullptr;
  s.endpoint.connect(s.config, s.our_base, s.ours, s.now);
  s.emit();
  EXPECT_EQ(s.wire.next().segment.flags.bits, Flags::syn_bit | Flags::ece_bit | Flags::cwr_bit);
}

TEST(AccurateEcn, AReflectedOfferInTheSynAckIsARefusal) {
  Counting s;
  s.endpoint.connect(s.config, s.our_base, s.ours, s.now);
  s.emit();
  s.receive_answer(7);
  EXPECT_FALSE(s.endpoint.uses_ecn());
}

TEST(AccurateEcn, TheReservedAnswerAgreesAndReportsAnUnchangedField) {
  Counting s;
  s.endpoint.connect(s.config, s.our_base, s.ours, s.now);
  s.emit();
  s.discard_sent();
  s.receive_answer(5);
  EXPECT_TRUE(s.endpoint.uses_accurate_ecn());
  EXPECT_TRUE(s.state.may_mark());
}

TEST(AccurateEcn, TheThirdSynDoesNotOfferEcn) {
  Counting s;
  s.endpoint.connect(s.config, s.our_base, s.ours, s.now);
  s.emit();
  s.pass(10s);
  ASSERT_GE(s.sent(), 3U);
  EXPECT_EQ(s.next_ace(), 7);
  EXPECT_EQ(s.next_ace(), 7);
  EXPECT_EQ(s.next_ace(), 0) << "section 3.1.4.1";
}

TEST(AccurateEcn, DataIsNotEcnCapableIfTheSynWasMarked) {
  Counting s;
  s.endpoint.connect(s.config, s.our_base, s.ours, s.now);
  s.emit();
  s.discard_sent();
  s.receive_answer(4);  // it came as ECT(0), and had left without
  s.write(mss);
  s.emit();
  s.wire.next();
  EXPECT_EQ(s.wire.next().segment.ecn, 0);
}

TEST(AccurateEcn, EveryReceivedCeMarkIsCounted) {
  Counting s;
  s.open_agreed();
  for (std::uint32_t i = 0; i < 4; ++i) s.receive_with(100 * i, i % 2 == 0 ? tcp::congestion_experienced : 1);
  s.emit();
  EXPECT_EQ(s.next_ace(), 7) << "5 + 2";
  s.receive_with(0, tcp::congestion_experienced);
  s.emit();
  EXPECT_EQ(s.next_ace(), 7) << "one from before the window is not acceptable";
  for (std::uint32_t i = 4; i < 8; ++i) s.receive_with(100 * i, tcp::congestion_experienced);
  s.emit();
  EXPECT_EQ(s.next_ace(), 3) << "5 + 6, modulo 8";
  EXPECT_EQ(s.read_all(), 800U);
}

TEST(AccurateEcn, TheFirstMarkAndItsEndAreAcknowledgedAtOnce) {
  Counting s;
  s.open_agreed();
  s.receive_with(0, 1);
  s.emit();
  EXPECT_EQ(s.sent(), 0U) << "one segment may wait";
  s.receive_with(100, 1);
  s.emit();
  EXPECT_EQ(s.next_ace(), 5);
  s.receive_with(200, tcp::congestion_experienced);
  s.emit();
  ASSERT_EQ(s.sent(), 1U);
  EXPECT_EQ(s.next_ace(), 6);
  s.receive_with(300, tcp::congestion_experienced);
  s.emit();
  EXPECT_EQ(s.sent(), 0U);
  s.receive_with(400, tcp::congestion_experienced);
  s.emit();
  EXPECT_EQ(s.next_ace(), 0) << "5 + 3, modulo 8";
  s.receive_with(500, 1);
  s.emit();
  ASSERT_EQ(s.sent(), 1U);
  EXPECT_EQ(s.next_ace(), 0);
}

TEST(AccurateEcn, ThreeMarkedAcksAreReportedAtOnce) {
  Counting s;
  s.open_agreed();
  tcp::Segment ack = s.counted(0, 5);
  ack.ecn = tcp::congestion_experienced;
  for (int i = 0; i < 2; ++i) s.receive(ack);
  s.emit();
  EXPECT_EQ(s.sent(), 0U) << "an ACK of ACKs would be answered itself";
  s.receive(ack);
  s.emit();
  ASSERT_EQ(s.sent(), 1U);
  EXPECT_EQ(s.next_ace(), 0) << "5 + 3, modulo 8";
}

TEST(AccurateEcn, WithheldAcksReportNoMoreThanSevenMarks) {
  Counting s;
  s.open_agreed();
  s.endpoint.defer_acks();
  for (std::uint32_t i = 0; i < 6; ++i) s.receive_with(100 * i, tcp::congestion_experienced);
  s.emit();
  EXPECT_EQ(s.sent(), 0U);
  s.receive_with(600, tcp::congestion_experienced);
  s.emit();
  ASSERT_EQ(s.sent(), 1U);
  EXPECT_EQ(s.next_ace(), 4) << "5 + 7, modulo 8";
}

TEST(AccurateEcn, AClassicCongestionControlReactsToMarksOncePerRound) {
  Counting s;
  s.open_agreed();
  s.write_segments(40);
  s.emit();
  EXPECT_EQ(s.wire.next().segment.ecn, tcp::ecn_capable);
  s.discard_sent();
  s.now += 100ms;
  s.receive(s.counted(2 * mss, 6));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(4 * mss)) << "of the eight still out";
  s.receive(s.counted(4 * mss, 0));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(4 * mss)) << "the same window of data";
  s.emit();
  while (s.sent() != 0) EXPECT_EQ(s.next_ace(), 5) << "there is no CWR: what leaves counts";
  s.receive(s.counted(10 * mss, 0));
  s.emit();
  s.receive(s.counted(11 * mss, 0));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(4 * mss)) << "the count stands still";
  s.emit();
  s.receive(s.counted(12 * mss, 1));
  EXPECT_LT(s.endpoint.ssthresh(), Bytes(4 * mss));
}

TEST(AccurateEcn, AnOldAckDoesNotLowerTheCount) {
  Counting s;
  s.open_agreed();
  s.write_segments(40);
  s.emit();
  s.receive(s.counted(4 * mss, 5));
  s.receive(s.counted(2 * mss, 4));
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
}

TEST(AccurateEcn, ANewerAckWithoutNewDataIsCounted) {
  Counting s;
  s.open_agreed();
  s.write_segments(40);
  s.emit();
  tcp::Segment ack = s.counted(2 * mss, 5);
  ack.has_timestamps = true;
  ack.ts_value = 10;
  EXPECT_TRUE(s.state.is_newest(ack, true));
  EXPECT_FALSE(s.state.is_newest(ack, false)) << "perhaps an older one";
  ack.ts_value = 11;
  EXPECT_TRUE(s.state.is_newest(ack, false));
  ack.ts_value = 10;
  EXPECT_FALSE(s.state.is_newest(ack, false));
}

TEST(AccurateEcn, AWrappedAceFieldIsCountedRight) {
  AccurateEcn state;
  EXPECT_EQ(state.marked(5, 2), 0U);
  EXPECT_EQ(state.marked(7, 2), 2U);
  EXPECT_EQ(state.marked(1, 4), 2U) << "7 to 1";
}

TEST(AccurateEcn, AnAckOfManyPacketsHasTheNumberOfMarksThatIsLikely) {
  AccurateEcn unmarked;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(unmarked.marked(5, 44), 0U) << "a receiver with GRO, and no queue that marks";
  EXPECT_EQ(unmarked.marked(7, 44), 2U);

  AccurateEcn all;
  std::uint8_t ace = 5;
  for (int i = 0; i < 40; ++i) {
    ace = (ace + 2) & 7U;
    EXPECT_EQ(all.marked(ace, 2), 2U);
  }
  EXPECT_EQ(all.marked(ace, 16), 16U) << "ACKs were lost, and all packets are marked";
  ace = (ace + 2) & 7U;
  EXPECT_EQ(all.marked(ace, 10), 10U);
}

TEST(AccurateEcn, TheLastAckOfTheHandshakeReportsTheEcnFieldOfTheSynAck) {
  const auto after = [](std::uint8_t ace) {
    AccurateEcn state;
    state.agree(true);
    state.syn_ack_arrived(ace, true);
    return std::pair(state.may_mark(), state.marked(7, 2));
  };
  EXPECT_EQ(after(2), std::pair(true, 2U));
  EXPECT_EQ(after(6), std::pair(false, 1U)) << "marked although it could not be";
  EXPECT_EQ(after(0), std::pair(false, 0U)) << "something clears the field, so it means nothing";
  EXPECT_EQ(after(5), std::pair(true, 2U));
}

TEST(AccurateEcn, AnAdoptedConnectionContinuesTheCountsOfItsHandshake) {
  const auto adopted = [](const tcp::AdoptedFeedback& feedback) {
    AccurateEcn state;
    state.agree(true);
    state.adopt(feedback);
    return state;
  };
  AccurateEcn marked = adopted({.received = 6, .acknowledged = 6, .sent_ecn = 2, .reported_ecn = 3});
  EXPECT_EQ(marked.ace(), 6);
  EXPECT_EQ(marked.marked(7, 2), 1U);
  EXPECT_TRUE(marked.may_mark()) << "a queue may mark what is ECN-capable";
  EXPECT_FALSE(adopted({.sent_ecn = 0, .reported_ecn = 3}).may_mark()) << "but nothing else";
  EXPECT_FALSE(adopted({.sent_ecn = 2, .reported_ecn = 0}).may_mark()) << "bleached";
  EXPECT_FALSE(adopted({.sent_ecn = 1, .reported_ecn = 2}).may_mark());
  AccurateEcn zeroed = adopted({.zeroed = true});
  EXPECT_FALSE(zeroed.may_mark());
  EXPECT_EQ(zeroed.marked(0, 2), 0U);
}

}  // namespace
}  // namespace sluice::test
