// Tests of the urgent pointer (RFC 9293 section 3.8.5) and of the peer's keep-alives (section 3.8.4).
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

using tcp::Flags;

constexpr std::uint32_t mss = Script::mss;

bool urgent(const SentSegment& sent) {
  return sent.segment.flags.urg();
}

TEST(Urgent, SegmentsUpToTheUrgentPointerCarryIt) {
  Script s;
  s.open();
  s.write_segments(3);
  s.endpoint.announce_urgent(s.our_base + 2 * mss);
  s.emit();
  const SentSegment first = s.expect_data(0, mss);
  EXPECT_TRUE(urgent(first));
  EXPECT_EQ(first.segment.urgent, 2 * mss);
  const SentSegment second = s.expect_data(mss, mss);
  EXPECT_TRUE(urgent(second));
  EXPECT_EQ(second.segment.urgent, mss);
  EXPECT_FALSE(urgent(s.expect_data(2 * mss, mss))) << "behind it";
  s.receive_ack(2 * mss);
  s.write(mss);
  s.emit();
  EXPECT_FALSE(urgent(s.expect_data(3 * mss, mss)));
  s.receive_ack(4 * mss);
  EXPECT_TRUE(s.endpoint.on_fast_path());
}

TEST(Urgent, IsAnnouncedBeforeItsData) {
  Script s;
  s.open(0);
  s.endpoint.announce_urgent(s.our_base + 500);
  s.emit();
  const SentSegment told = s.wire.next();
  EXPECT_TRUE(urgent(told));
  EXPECT_EQ(told.segment.payload_len, 0);
  EXPECT_EQ(told.segment.urgent, 500);
  s.expect_nothing();
}

TEST(Urgent, ARetransmissionCarriesThePointer) {
  Script s;
  s.config.tail_loss_probes = false;
  s.open();
  s.write(mss);
  s.endpoint.announce_urgent(s.our_base + mss);
  s.emit();
  s.discard_sent();
  s.pass(1500ms);
  const SentSegment again = s.expect_data(0, mss);
  EXPECT_TRUE(urgent(again));
  EXPECT_EQ(again.segment.urgent, mss);
}

TEST(Urgent, BothPartsOfACutSegmentPointToTheSameByte) {
  Script s;
  s.use_sack();
  s.config.tail_loss_probes = false;
  s.open();
  s.write(mss);
  s.endpoint.announce_urgent(s.our_base + mss);
  s.emit();
  s.discard_sent();
  EXPECT_TRUE(s.endpoint.path_carries(s.our_base, Bytes(600), s.now));
  s.emit();
  EXPECT_EQ(s.expect_data(0, 600).segment.urgent, mss);
  EXPECT_EQ(s.expect_data(600, 400).segment.urgent, 400);
}

TEST(Urgent, AFarPointerIsLimitedToTheField) {
  Script s;
  s.open();
  s.write_segments(3);
  s.endpoint.announce_urgent(s.our_base + 100'000);
  s.emit();
  for (std::uint32_t i = 0; i < 3; ++i) {
    const SentSegment sent = s.expect_data(i * mss, mss);
    EXPECT_TRUE(urgent(sent));
    EXPECT_EQ(sent.segment.urgent, 65535) << "farther than anything that the peer has";
  }
}

TEST(Urgent, ThePointerNeverMovesBack) {
  Script s;
  s.open();
  s.endpoint.announce_urgent(s.our_base + 2000);
  s.endpoint.announce_urgent(s.our_base + 1000);
  s.endpoint.announce_urgent(s.our_base - 5);
  s.write(mss);
  s.emit();
  EXPECT_EQ(s.expect_data(0, mss).segment.urgent, 2000);
}

TEST(Urgent, ThePointerOfThePeerIsKeptUntilItsDataIsRead) {
  Script s;
  s.open();
  tcp::Segment data = s.segment(0, 0, Flags::ack_bit | Flags::urg_bit);
  data.payload_len = 100;
  data.urgent = 300;
  s.endpoint.receive(data, payload_packet(stream_bytes(0, 100)), s.now);
  ASSERT_TRUE(s.endpoint.urgent_ahead());
  EXPECT_EQ(s.endpoint.urgent_end(), s.their_base + 300);
  s.read_all();
  s.receive_data(100, 100);
  EXPECT_TRUE(s.endpoint.urgent_ahead()) << "it lies farther on";
  s.receive_data(200, 100);
  s.read_all();
  s.receive_data(300, 100);
  EXPECT_FALSE(s.endpoint.urgent_ahead());
}

TEST(Urgent, IsReceivedWhileTheWindowIsClosed) {
  Script s;
  s.open(Script::peer_window, 0);
  tcp::Segment told = s.segment(0, 0, Flags::ack_bit | Flags::urg_bit);
  told.urgent = 1;
  s.receive(told);
  EXPECT_TRUE(s.endpoint.urgent_ahead());
}

TEST(Urgent, APointerOfAnUnacceptableSegmentIsIgnored) {
  Script s;
  s.open();
  tcp::Segment forged = s.segment(0, 0, Flags::ack_bit | Flags::urg_bit);
  forged.urgent = 100;
  forged.seq = s.their_base + 100'000;
  s.receive(forged);
  EXPECT_FALSE(s.endpoint.urgent_ahead());
  forged.seq = s.their_base;
  forged.ack = s.our_base + 5;  // of what was never sent
  s.receive(forged);
  EXPECT_FALSE(s.endpoint.urgent_ahead());
  tcp::Segment past = s.segment(0, 0, Flags::ack_bit | Flags::urg_bit);
  past.urgent = 0;
  s.receive(past);
  EXPECT_FALSE(s.endpoint.urgent_ahead()) << "nothing lies before it";
}

// --- keep-alives ---

TEST(PeerKeepAlive, IsLeftToItsOwner) {
  Script s;
  s.config.answers_keepalives = false;
  s.open();
  s.receive(s.segment(0xffffffff, 0));  // one below what is expected
  s.emit();
  s.expect_nothing();
  EXPECT_TRUE(s.endpoint.take_keepalive());
  EXPECT_FALSE(s.endpoint.take_keepalive()) << "once";
  s.endpoint.answer_keepalive();
  s.emit();
  s.expect_ack(0);
}

TEST(PeerKeepAlive, MayCarryOneByteOfGarbage) {
  Script s;
  s.config.answers_keepalives = false;
  s.open();
  s.receive_data(0, 10);
  s.read_all();
  s.pass(1s);
  s.discard_sent();
  tcp::Segment garbage = s.segment(9, 0);
  garbage.payload_len = 1;
  s.endpoint.receive(garbage, payload_packet(stream_bytes(0, 1)), s.now);
  s.emit();
  s.expect_nothing();
  EXPECT_TRUE(s.endpoint.take_keepalive());
}

TEST(PeerKeepAlive, IsNotRecognisedWhileDataIsInFlight) {
  Script s;
  s.config.answers_keepalives = false;
  s.open();
  s.write(mss);
  s.emit();
  s.discard_sent();
  s.receive(s.segment(0xffffffff, 0));
  s.emit();
  s.expect_ack(0);
  EXPECT_FALSE(s.endpoint.take_keepalive());
}

TEST(PeerKeepAlive, AWindowProbeIsLeftToItsOwner) {
  Script s;
  s.config.answers_keepalives = false;
  s.open(Script::peer_window, 0);
  s.endpoint.set_receive_room(Bytes(0));
  s.receive(s.segment(0xffffffff, 0));
  s.emit();
  s.expect_nothing();
  EXPECT_TRUE(s.endpoint.take_keepalive()) << "the owner's own peer may have opened its window";
  s.endpoint.answer_keepalive();
  s.emit();
  s.expect_ack(0);
}

TEST(PeerKeepAlive, OurKeepAliveIsASegmentThatThePeerMustAnswer) {
  Script s;
  s.open();
  s.endpoint.send_keepalive();
  s.emit();
  const SentSegment sent = s.wire.next();
  EXPECT_EQ(sent.segment.seq, s.our_base - 1);
  EXPECT_EQ(sent.segment.payload_len, 0);
  s.pass(600s);
  s.expect_nothing();
  EXPECT_EQ(s.endpoint.state(), tcp::State::established) << "no answer has no consequence";
}

}  // namespace
}  // namespace sluice::test
