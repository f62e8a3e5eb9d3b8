// Tests of accurate ECN feedback (RFC 9768): negotiation and the ACE counter.
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
    answer.syn.accurate_ecn = tcp::offers_accurate_ecn(answer.flags);
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

TEST(AccurateEcn, AWrappedAceFieldIsCountedRight) {
  AccurateEcn state;
  EXPECT_EQ(state.marked(5, 2), 0U);
  EXPECT_EQ(state.marked(7, 2), 2U);
  EXPECT_EQ(state.marked(1, 4), 2U) << "7 to 1";
  EXPECT_EQ(state.marked(1, 20), 16U) << "of twenty none, eight or sixteen were marked";
  EXPECT_EQ(state.marked(2, 10), 9U);
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
  EXPECT_EQ(after(0), std::pair(false, 2U)) << "something clears the field";
  EXPECT_EQ(after(5), std::pair(true, 2U));
}

}  // namespace
}  // namespace sluice::test
