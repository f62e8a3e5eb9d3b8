// Tests of the receiver: delayed ACKs, out-of-order data and receive windows.
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

TEST(Receiver, EverySecondSegmentIsAcknowledgedAtOnce) {
  Script s;
  s.open();
  s.receive_data(0, 1000);
  EXPECT_FALSE(s.endpoint.wants_to_send(s.now));
  s.emit();
  s.expect_nothing();
  s.receive_data(1000, 1000);
  s.emit();
  s.expect_ack(2000);
}

TEST(Receiver, AnOddSegmentIsAcknowledgedAfterTheDelay) {
  Script s;
  s.open();
  s.receive_data(0, 1000);
  s.pass(39ms);
  s.expect_nothing();
  s.pass(1ms);
  s.expect_ack(1000);
  s.pass(10s);
  s.expect_nothing();
}

TEST(Receiver, OutgoingDataCarriesTheAck) {
  Script s;
  s.open();
  s.receive_data(0, 1000);
  s.write(10);
  s.emit();
  EXPECT_EQ(s.expect_data(0, 10).segment.ack, s.their_base + 1000);
  EXPECT_EQ(s.endpoint.next_deadline(), s.now + 1s) << "only the retransmission timer is left";
}

TEST(Receiver, ABurstNeedsOneAcknowledgement) {
  Script s;
  s.open();
  for (std::uint32_t i = 0; i < 8; ++i) s.receive_data(i * 1000, 1000);
  s.emit();
  s.expect_ack(8000);
  s.expect_nothing();
}

TEST(Receiver, OutOfOrderDataIsReportedAtOnceAndDeliveredInOrder) {
  Script s;
  s.use_sack();
  s.open();
  s.receive_data(1000, 1000);
  s.emit();
  EXPECT_EQ(s.block(s.expect_ack(0), 0), Blocks(1000, 2000));
  EXPECT_EQ(s.read_all(), 0U);

  s.receive_data(3000, 1000);
  s.emit();
  const SentSegment second = s.expect_ack(0);
  ASSERT_EQ(second.segment.sack_count, 2);
  EXPECT_EQ(s.block(second, 0), Blocks(3000, 4000)) << "the newest comes first";
  EXPECT_EQ(s.block(second, 1), Blocks(1000, 2000));

  s.receive_data(0, 1000);  // fills the hole
  s.emit();
  const SentSegment third = s.expect_ack(2000);
  ASSERT_EQ(third.segment.sack_count, 1);
  EXPECT_EQ(s.block(third, 0), Blocks(3000, 4000));
  s.receive_data(2000, 1000);
  EXPECT_EQ(s.read_all(), 4000U);
  s.emit();
  EXPECT_EQ(s.expect_ack(4000).segment.sack_count, 0);
}

TEST(Receiver, NoSackBlocksAreSentWithoutSack) {
  Script s;
  s.open();
  s.receive_data(1000, 1000);
  s.receive_data(1000, 1000);
  s.emit();
  EXPECT_EQ(s.expect_ack(0).segment.sack_count, 0);
}

TEST(Receiver, AnOutOfOrderBurstSendsThreeDuplicateAcks) {
  Script s;
  s.open();
  for (std::uint32_t i = 1; i <= 4; ++i) s.receive_data(i * 1000, 1000);
  s.emit();
  EXPECT_EQ(s.sent(), 4U) << "a sender without SACK counts them";
  s.discard_sent();
  s.receive_data(6000, 1000);
  s.receive_data(0, 1000);
  s.emit();
  s.expect_ack(5000);
  s.expect_nothing();
}

TEST(Receiver, AllHolesOfABurstAreReported) {
  Script s;
  s.use_sack();
  s.open();
  for (std::uint32_t i = 1; i <= 9; i += 2) s.receive_data(i * 1000, 1000);
  s.emit();
  std::vector<Blocks> told;
  while (s.sent() != 0) {
    const SentSegment ack = s.expect_ack(0);
    for (std::size_t i = 0; i < ack.segment.sack_count; ++i) told.push_back(s.block(ack, i));
  }
  for (std::int32_t i = 1; i <= 9; i += 2) {
    EXPECT_NE(std::find(told.begin(), told.end(), Blocks(i * 1000, (i + 1) * 1000)), told.end()) << i;
  }
  EXPECT_EQ(told[told.size() - 3], Blocks(9000, 10'000)) << "the last one tells the newest first";
}

TEST(Receiver, ADuplicateIsReportedOnce) {
  Script s;
  s.use_sack();
  s.open();
  s.receive_data(0, 1000);
  s.receive_data(1000, 1000);
  s.emit();
  s.discard_sent();
  s.receive_data(0, 1000);
  s.emit();
  const SentSegment ack = s.expect_ack(2000);
  ASSERT_EQ(ack.segment.sack_count, 1);
  EXPECT_EQ(s.block(ack, 0), Blocks(0, 1000)) << "RFC 2883";
  s.receive_data(2000, 1000);
  s.receive_data(3000, 1000);
  s.emit();
  EXPECT_EQ(s.expect_ack(4000).segment.sack_count, 0);
  EXPECT_EQ(s.read_all(), 4000U);
}

TEST(Receiver, AnOverlapIsTrimmed) {
  Script s;
  s.open();
  s.receive_data(0, 1000);
  s.receive_data(501, 1000);  // odd: the checksum of the rest is not a shifted copy
  EXPECT_EQ(s.read_all(), 1501U);
  s.receive_data(2001, 500);
  s.receive_data(1501, 701);
  EXPECT_EQ(s.read_all(), 1000U);
}

TEST(Receiver, DataBeyondTheWindowIsTrimmedAndAcknowledged) {
  Script s;
  s.open(Script::peer_window, 1500);
  s.receive_data(0, 1000);
  s.receive_data(1000, 1000);
  s.emit();
  const SentSegment ack = s.expect_ack(1500);
  EXPECT_EQ(ack.segment.window, 0);
  s.receive_data(1500, 1000);
  s.emit();
  s.expect_ack(1500);
  EXPECT_EQ(s.read_all(), 1500U);
}

TEST(Receiver, ReorderingMemoryIsBounded) {
  Script s;
  s.config.max_out_of_order = 3;
  s.open();
  for (std::uint32_t i = 1; i <= 10; ++i) s.receive_data(i * 1000, 1000);
  EXPECT_EQ(s.endpoint.counters().out_of_order, 3U);
  EXPECT_EQ(s.endpoint.counters().discarded, 7U);
  s.receive_data(0, 1000);
  EXPECT_EQ(s.read_all(), 4000U);
}

// What the peer may send is kept, however large the window. Data that was within the window and then refused would be
// a loss.
TEST(Receiver, AllOfALargeWindowIsKeptOutOfOrder) {
  Script s;
  constexpr std::uint32_t segments = 5000;
  s.open(Script::peer_window, (segments + 1) * 1000);
  for (std::uint32_t i = 1; i <= segments; ++i) s.receive_data(i * 1000, 1000);
  EXPECT_EQ(s.endpoint.counters().out_of_order, segments);
  EXPECT_EQ(s.endpoint.counters().discarded, 0U);
  s.receive_data(0, 1000);
  EXPECT_EQ(s.read_all(), (segments + 1) * 1000);
}

// A hole between any two segments of 300 bytes: buffers that hold little are bounded by what the window is worth.
TEST(Receiver, SmallOutOfOrderSegmentsAreBoundedByTheWindow) {
  Script s;
  s.open(Script::peer_window, 2'000'000);
  for (std::uint32_t i = 1; i <= 4500; ++i) s.receive_data(i * 301, 300);
  EXPECT_EQ(s.endpoint.counters().out_of_order, tcp::Reassembly::min_stored_packets);
  EXPECT_EQ(s.endpoint.counters().discarded, 4500 - tcp::Reassembly::min_stored_packets);
}

TEST(ReceiveWindow, FollowsTheReader) {
  Script s;
  s.open(Script::peer_window, 10'000);
  for (std::uint32_t i = 0; i < 10; ++i) s.receive_data(i * 1000, 1000);
  s.emit();
  EXPECT_EQ(s.expect_ack(10'000).segment.window, 0);
  EXPECT_EQ(s.read_all(), 10'000U);
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now)) << "a window update is due";
  s.emit();
  EXPECT_EQ(s.expect_ack(10'000).segment.window, 10'000);
}

TEST(ReceiveWindow, SmallIncreasesAreNotAnnounced) {
  Script s;
  s.open(Script::peer_window, 10'000);
  for (std::uint32_t i = 0; i < 10; ++i) s.receive_data(i * 1000, 1000);
  s.emit();
  s.discard_sent();
  packet::Packet first = s.endpoint.read();
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now)) << "from closed, one segment is news";
  s.emit();
  EXPECT_EQ(s.expect_ack(10'000).segment.window, 1000);
  first = s.endpoint.read();
  EXPECT_FALSE(s.endpoint.wants_to_send(s.now));
  first = s.endpoint.read();
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now)) << "two segments are";
  s.emit();
  EXPECT_EQ(s.expect_ack(10'000).segment.window, 3000);
}

// The peer sees the window rounded down and waits while it sees less than a segment. Without an update it would wait
// for ever.
TEST(ReceiveWindow, AWindowBelowASegmentIsAnnouncedWhenItGrows) {
  Script s;
  s.ours.has_window_scale = s.theirs.has_window_scale = true;
  s.ours.window_scale = 8;
  s.open(Script::peer_window, 4010);
  s.receive_data(0, 1000);
  s.receive_data(1000, 1000);
  s.receive_data(2000, 1000);
  s.endpoint.set_receive_room(Bytes(2 * Script::mss));
  s.emit();
  EXPECT_EQ(s.expect_ack(3000).segment.window, 1010 >> 8) << "promised before, and less than a segment";
  EXPECT_EQ(s.read_all(), 3000U);
  s.endpoint.set_receive_room(Bytes(2 * Script::mss + 1));
  EXPECT_TRUE(s.endpoint.wants_to_send(s.now));
}

/// Returns the smallest increase of a window that is announced, in segments, if `open` segments may still be sent.
std::uint32_t min_told(std::uint32_t open, tcp::WindowUpdates updates) {
  Script s;
  s.ours.has_window_scale = s.theirs.has_window_scale = true;
  s.ours.window_scale = 8;
  s.open(Script::peer_window, open * Script::mss);
  for (std::uint32_t gain = 1;; ++gain) {
    s.endpoint.set_receive_room(Bytes((open + gain) * Script::mss - 1), updates);
    EXPECT_FALSE(s.endpoint.wants_to_send(s.now)) << "not a whole segment more";
    s.endpoint.set_receive_room(Bytes((open + gain) * Script::mss), updates);
    if (s.endpoint.wants_to_send(s.now)) return gain;
  }
}

// A window that controls its peer is announced for each segment or, if allowed, for a quarter more; otherwise two
// segments justify an update.
TEST(ReceiveWindow, UpdatesArePromptIfTheWindowControlsThePeer) {
  EXPECT_EQ(min_told(4, tcp::WindowUpdates::prompt_for_its_size), 1);
  EXPECT_EQ(min_told(8, tcp::WindowUpdates::prompt_for_its_size), 2);
  EXPECT_EQ(min_told(20, tcp::WindowUpdates::prompt_for_its_size), 5);
  EXPECT_EQ(min_told(200, tcp::WindowUpdates::prompt_for_its_size), 8);
  EXPECT_EQ(min_told(4, tcp::WindowUpdates::prompt), 1);
  EXPECT_EQ(min_told(8, tcp::WindowUpdates::prompt), 2);
  EXPECT_EQ(min_told(200, tcp::WindowUpdates::prompt), 2);
  EXPECT_EQ(min_told(4, tcp::WindowUpdates::sparing), 2);
  EXPECT_EQ(min_told(200, tcp::WindowUpdates::sparing), 2);
}

// Space that its owner lent returns gradually, and the peer learns of it with the next ACK.
TEST(ReceiveWindow, SmallIncreasesWaitForTheNextAck) {
  Script s;
  s.open(Script::peer_window, 20'000);
  s.endpoint.set_receive_room(Bytes(20'000));
  EXPECT_TRUE(s.endpoint.add_receive_space(2 * Script::mss - 1));
  EXPECT_EQ(s.endpoint.receive_room(), Bytes(20'000 + 2 * Script::mss - 1));
  EXPECT_FALSE(s.endpoint.wants_to_send(s.now));
  EXPECT_FALSE(s.endpoint.add_receive_space(1)) << "two segments are worth a word, which their owner is to say";
  EXPECT_EQ(s.endpoint.receive_room(), Bytes(20'000 + 2 * Script::mss - 1)) << "nothing has happened";
  EXPECT_FALSE(s.endpoint.wants_to_send(s.now));
}

TEST(ReceiveWindow, AnIncreaseThatItsOwnerMustComputeIsRefused) {
  Script s;
  s.open(Script::peer_window, 20'000);
  s.endpoint.set_receive_room(Bytes(40'000));
  EXPECT_FALSE(s.endpoint.add_receive_space(100)) << "the peer has used half of its window";
  s.endpoint.set_receive_room(Bytes(0));
  EXPECT_FALSE(s.endpoint.add_receive_space(100)) << "less than none may have been left";
  s.endpoint.set_receive_room(Bytes(20'000), tcp::WindowUpdates::prompt);
  EXPECT_FALSE(s.endpoint.add_receive_space(100)) << "a law steers it";
}

TEST(ReceiveWindow, IsNeverShrunk) {
  Script s;
  s.open(Script::peer_window, 20'000);
  s.endpoint.set_receive_room(Bytes(0));
  EXPECT_EQ(s.endpoint.rcv_adv(), s.their_base + 20'000);
  for (std::uint32_t i = 0; i < 20; ++i) s.receive_data(i * 1000, 1000);
  EXPECT_EQ(s.read_all(), 20'000U) << "what was promised is taken";
  s.emit();
  EXPECT_EQ(s.expect_ack(20'000).segment.window, 0);
  s.endpoint.set_receive_room(Bytes(5000));
  s.emit();
  EXPECT_EQ(s.expect_ack(20'000).segment.window, 5000);
}

TEST(ReceiveWindow, IsScaledDown) {
  Script s;
  s.ours.has_window_scale = s.theirs.has_window_scale = true;
  s.ours.window_scale = 10;
  s.open(Script::peer_window, 0);
  s.endpoint.set_receive_room(Bytes(1'000'000));
  s.emit();
  EXPECT_EQ(s.expect_ack(0).segment.window, 1'000'000 >> 10);
  s.endpoint.set_receive_room(Bytes(1LL << 29));
  s.emit();
  EXPECT_EQ(s.expect_ack(0).segment.window, 65535) << "no more than the field can say is promised";
  EXPECT_EQ(s.endpoint.rcv_adv() - s.endpoint.rcv_nxt(), 65535 << 10);
}

TEST(ReceiveWindow, AWindowClosedByRoundingReopens) {
  Script s;
  s.ours.has_window_scale = s.theirs.has_window_scale = true;
  s.ours.window_scale = 9;
  s.open(Script::peer_window, 625);
  s.receive_data(0, 168);
  s.emit();
  EXPECT_EQ(s.read_all(), 168U);
  s.pass(40ms);
  ASSERT_GE(s.sent(), 1U);
  EXPECT_EQ(s.wire.segments.back().segment.window, 1) << "457 bytes were left, which the field cannot say";
}

TEST(Timestamps, OldSegmentsAreDropped) {
  Script s;
  s.use_timestamps();
  s.open();
  s.their_timestamp = 1010;
  s.receive_data(0, 1000);
  s.receive_data(1000, 1000);
  s.emit();
  EXPECT_EQ(s.expect_ack(2000).segment.ts_echo, 1010U);
  EXPECT_EQ(s.endpoint.newest_ts_value(), 1010U);
  s.their_timestamp = 1009;  // PAWS: in the window, but from before
  s.receive_data(2000, 1000);
  EXPECT_EQ(s.endpoint.rcv_nxt(), s.their_base + 2000);
  s.emit();
  s.expect_ack(2000);
  s.now += std::chrono::hours(25 * 24);
  s.receive_data(2000, 1000);  // RFC 7323 section 5.5: after this time the remembered timestamp is invalid
  EXPECT_EQ(s.endpoint.rcv_nxt(), s.their_base + 3000);
}

TEST(Timestamps, TheOldestUnacknowledgedSegmentIsEchoed) {
  Script s;
  s.use_timestamps();
  s.open();
  s.their_timestamp = 2000;
  s.receive_data(0, 1000);
  s.their_timestamp = 2005;
  s.receive_data(1000, 1000);
  EXPECT_EQ(s.endpoint.newest_ts_value(), 2005U);
  s.emit();
  EXPECT_EQ(s.expect_ack(2000).segment.ts_echo, 2000U) << "RFC 7323 section 4.3: delayed acknowledgements count";
}

TEST(Timestamps, ValuesWrap) {
  Script s;
  s.use_timestamps();
  s.their_timestamp = 0xfffffff0U;
  s.open();
  s.their_timestamp = 5;
  s.receive_data(0, 1000);
  EXPECT_EQ(s.endpoint.rcv_nxt(), s.their_base + 1000);
  EXPECT_EQ(s.endpoint.newest_ts_value(), 5U);
}

TEST(Timestamps, SegmentsCarryTheConfiguredValue) {
  Script s;
  s.use_timestamps();
  s.open();
  s.endpoint.set_timestamp(987);
  s.write(10);
  s.emit();
  const SentSegment data = s.expect_data(0, 10);
  EXPECT_TRUE(data.segment.has_timestamps);
  EXPECT_EQ(data.segment.ts_value, 987U);
}

}  // namespace
}  // namespace sluice::test
