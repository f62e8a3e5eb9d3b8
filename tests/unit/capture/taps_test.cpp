// What a shard shows to those who look: each frame as it came, what became of it, and what was sent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "proxy/engine/base/reset_note.hpp"
#include "proxy/ops/capture/frame_tap.hpp"
#include "proxy/ops/capture/tap_slot.hpp"
#include "tests/support/proxy_lab.hpp"

namespace sluice::capture {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;
using testing::ElementsAre;

constexpr std::size_t room = std::size_t{1} << 20U;

/// A frame that came out of a tap.
struct Captured {
  FrameHeader header;
  std::vector<std::uint8_t> bytes;

  [[nodiscard]] std::string text() const {
    return std::string(wire_names.at(header.wire)) + ": " + std::string(action_of(header.decision)) + " " +
           std::string(reason_of(header.decision));
  }
};

std::vector<Captured> take_all(FrameTap& tap) {
  std::vector<std::uint8_t> bytes;
  tap.take(bytes, room);
  std::vector<Captured> frames;
  for (std::size_t at = 0; at < bytes.size();) {
    Captured frame;
    std::memcpy(&frame.header, bytes.data() + at, sizeof frame.header);
    at += sizeof frame.header;
    frame.bytes.assign(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       bytes.begin() + static_cast<std::ptrdiff_t>(at + frame.header.captured));
    at += frame.header.captured;
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::vector<std::string> texts_of(FrameTap& tap) {
  std::vector<std::string> texts;
  for (const Captured& frame : take_all(tap)) texts.push_back(frame.text());
  return texts;
}

/// Runs a shard whose frames are captured, in and out, as its thread captures them.
class CapturedShard : public testing::Test, private proxy::Transmitter {
 protected:
  explicit CapturedShard(const proxy::ShardConfig& config = test::shard_config())
      : shard_(config, test::pool(), *this, {42, 43}, Instant{}) {}

  std::shared_ptr<FrameTap> tap(const Filter& filter = {}, std::size_t bytes = room) {
    auto added = std::make_shared<FrameTap>(filter, bytes);
    taps_.push_back(added);
    watch_ = std::make_unique<ShardTaps>(1, taps_);
    return added;
  }
  void release() { shard_.release(IpAddress::v4(10, 45, 0, 2), now_); }
  void stop() {
    shard_.abort_all();
    shard_.advance(now_);
  }
  void put(Side in, packet::Packet packet) { put_burst(in, {&packet, 1}); }
  void put_burst(Side in, std::span<packet::Packet> burst) {
    shard_.receive_observed(in, burst, now_, *watch_);
    watch_->end_burst();
  }
  packet::Packet from_ue(std::uint8_t flags, std::uint32_t seq, std::uint32_t ack, const std::string& payload = {}) {
    return hosts_.frame(true, hosts_.segment(flags, seq, ack), payload);
  }
  packet::Packet from_server(std::uint8_t flags, std::uint32_t seq, std::uint32_t ack,
                             const std::string& payload = {}) {
    return hosts_.frame(false, hosts_.segment(flags, seq, ack), payload);
  }
  void open() {
    put(Side::radio, from_ue(Flags::syn_bit, 1000, 0));
    put(Side::core, from_server(Flags::syn_bit | Flags::ack_bit, 5000, 1001));
    put(Side::radio, from_ue(Flags::ack_bit, 1001, 5001));
  }
  [[nodiscard]] const proxy::Counters& counters() const { return shard_.counters(); }

 private:
  void transmit(Side out, std::span<packet::Packet> burst, Instant now) override {
    watch_->sent(out, burst, now);
    for (packet::Packet& packet : burst) packet.reset();
  }

  std::vector<std::shared_ptr<FrameSink>> taps_;
  std::unique_ptr<ShardTaps> watch_;
  proxy::Shard shard_;
  test::ProxyLab lab_{test::shard_config()};
  test::ScriptedHosts hosts_{lab_};
  Instant now_{std::chrono::seconds(100)};
};

TEST_F(CapturedShard, AHandshakeIsForwardedAndDataIsSplit) {
  const auto tap = this->tap();
  open();
  EXPECT_THAT(texts_of(*tap), ElementsAre("radio-received: forwarded handshake", "core-sent: forwarded handshake",
                                          "core-received: forwarded handshake", "radio-sent: forwarded handshake",
                                          "radio-received: forwarded handshake", "core-sent: forwarded handshake"));
  put(Side::core, from_server(Flags::ack_bit, 5001, 1001, "data"));
  const std::vector<Captured> frames = take_all(*tap);
  ASSERT_GE(frames.size(), 2U);
  EXPECT_EQ(frames[0].text(), "core-received: optimised split");
  EXPECT_EQ(frames[1].text(), "radio-sent: sent own");
}

TEST_F(CapturedShard, NonTcpAndDamagedFramesHaveAReason) {
  const auto tap = this->tap();
  packet::Packet runt = test::pool().allocate();
  std::memset(runt.append(5), 0, 5);
  put(Side::radio, std::move(runt));
  packet::Packet arp = test::pool().allocate();
  std::memset(arp.append(60), 0, 60);
  arp.data()[12] = 8;
  arp.data()[13] = 6;
  put(Side::core, std::move(arp));
  EXPECT_THAT(texts_of(*tap),
              ElementsAre("radio-received: dropped runt", "core-received: forwarded arp", "radio-sent: forwarded arp"));
}

TEST_F(CapturedShard, SegmentsOfAReleasedConnectionHaveAReason) {
  const auto tap = this->tap();
  open();
  release();
  static_cast<void>(take_all(*tap));
  put(Side::core, from_server(Flags::ack_bit, 5001, 1001, "data"));
  EXPECT_THAT(texts_of(*tap),
              ElementsAre("core-received: forwarded released_command", "radio-sent: forwarded released_command"));
}

TEST_F(CapturedShard, AResetThroughASplitIsSentByTheProxy) {
  const auto tap = this->tap();
  open();
  static_cast<void>(take_all(*tap));
  put(Side::core, from_server(Flags::rst_bit | Flags::ack_bit, 5001, 1001));
  EXPECT_THAT(texts_of(*tap), ElementsAre("core-received: optimised split", "radio-sent: sent reset_relayed"));
}

TEST_F(CapturedShard, AResetOfTheProxyHasAReason) {
  const auto tap = this->tap();
  open();
  for (const std::uint32_t at : {5001U, 6001U})
    put(Side::core, from_server(Flags::ack_bit, at, 1001, std::string(1000, 'x')));
  static_cast<void>(take_all(*tap));
  stop();
  EXPECT_THAT(texts_of(*tap), testing::AllOf(testing::Contains("radio-sent: sent reset_stop"),
                                             testing::Contains("core-sent: sent reset_stop"),
                                             testing::Not(testing::Contains("core-sent: sent own"))));
}

TEST_F(CapturedShard, TheReasonOfAResetDoesNotOutliveItsBuffer) {
  packet::Packet reset = from_server(Flags::rst_bit, 5001, 0);
  packet::Parsed parsed;
  ASSERT_EQ(packet::parse(reset, parsed), packet::ParseResult::tcp);
  proxy::note_reset(reset, tcp::SeqNum(5001), proxy::ResetReason::reset_memory);
  EXPECT_EQ(proxy::reset_reason_of(reset, parsed), proxy::ResetReason::reset_memory);
  parsed.segment.seq = parsed.segment.seq + 1;
  EXPECT_EQ(proxy::reset_reason_of(reset, parsed), proxy::ResetReason::none);
  parsed.segment.seq = tcp::SeqNum(5001);
  parsed.segment.flags.bits = Flags::ack_bit;
  EXPECT_EQ(proxy::reset_reason_of(reset, parsed), proxy::ResetReason::none);
}

TEST_F(CapturedShard, ADamagedSegmentIsShownUnchanged) {
  Filter filter;
  filter.snap_length = 65535;
  filter.decisions = *Decisions::named("tcp_checksum");
  const auto tap = this->tap(filter);
  open();
  packet::Packet damaged = from_server(Flags::ack_bit, 5001, 1001, "data");
  damaged.data()[damaged.size() - 1] ^= 1U;
  const std::vector<std::uint8_t> octets(damaged.data(), damaged.data() + damaged.size());
  put(Side::core, std::move(damaged));
  const std::vector<Captured> frames = take_all(*tap);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].text(), "core-received: dropped tcp_checksum");
  EXPECT_EQ(frames[0].bytes, octets);
  EXPECT_EQ(frames[0].header.length, octets.size());
  EXPECT_EQ(frames[0].header.at, Duration(std::chrono::seconds(100)).count());
}

TEST_F(CapturedShard, EachSegmentOfABurstIsShownWithItsDecision) {
  const auto tap = this->tap();
  open();
  take_all(*tap);
  std::vector<packet::Packet> burst;
  for (std::uint32_t i = 0; i < 40; ++i) {  // more than the classifier takes at once
    burst.push_back(i % 2 == 0 ? from_server(Flags::ack_bit, 5001 + 100 * i / 2, 1001, std::string(100, 'd'))
                               : from_server(Flags::ack_bit | Flags::psh_bit, 9, 9));
    if (i % 2 == 1) burst.back().data()[14 + 9] = 17;  // its IP checksum is wrong now
  }
  put_burst(Side::core, burst);
  std::array<int, 2> told{};
  for (const Captured& frame : take_all(*tap)) {
    if (frame.header.wire == Wire{Side::core, false}.index())
      ++told.at(frame.text() == "core-received: optimised split" ? 0 : 1);
  }
  EXPECT_THAT(told, ElementsAre(20, 20));
}

/// More than the transmit queue holds leaves while the burst is still being dealt with.
TEST_F(CapturedShard, BurstsLargerThanTheTransmitQueueAreShownCompletely) {
  const auto tap = this->tap();
  std::vector<packet::Packet> burst;
  for (int i = 0; i < 200; ++i) {
    packet::Packet arp = test::pool().allocate();
    std::memset(arp.append(60), 0, 60);
    arp.data()[12] = 8;
    arp.data()[13] = 6;
    burst.push_back(std::move(arp));
  }
  put_burst(Side::core, burst);
  int in = 0;
  int out = 0;
  for (const Captured& frame : take_all(*tap)) {
    EXPECT_EQ(reason_of(frame.header.decision), "arp");
    ++(frame.header.wire == Wire{Side::core, false}.index() ? in : out);
  }
  EXPECT_EQ(in, 200);
  EXPECT_EQ(out, 200);
}

TEST_F(CapturedShard, EachTapSeesItsFilteredFrames) {
  Filter radio;
  radio.leg = Side::radio;
  Filter whole;
  whole.leg = Side::core;
  whole.snap_length = 20;
  const auto first = tap(radio);
  const auto second = tap(whole);
  open();
  for (const Captured& frame : take_all(*first)) EXPECT_LT(frame.header.wire, 2);
  const std::vector<Captured> frames = take_all(*second);
  ASSERT_FALSE(frames.empty());
  for (const Captured& frame : frames) {
    EXPECT_GE(frame.header.wire, 2);
    EXPECT_EQ(frame.bytes.size(), 20U);
  }
}

TEST_F(CapturedShard, FramesThatFindNoRoomAreCounted) {
  const auto small = tap({}, 200);  // two frames of 66 bytes
  open();
  std::uint64_t seen = 0;
  std::uint64_t lost = 0;
  for (const WireCounts& each : small->counts()) {
    seen += each.seen;
    lost += each.lost;
    EXPECT_EQ(each.seen, each.selected);
  }
  EXPECT_EQ(seen, 6U);
  const std::size_t kept = take_all(*small).size();
  EXPECT_GT(kept, 0U);
  EXPECT_EQ(kept + lost, seen);
  EXPECT_EQ(counters()[Counter::flows_split], 1U) << "to the connection it makes no difference";
}

/// Looked at or not, the same comes out.
TEST_F(CapturedShard, ATapDoesNotChangeTheProxy) {
  test::ProxyLab unwatched(test::shard_config());
  test::ScriptedHosts hosts(unwatched);
  const auto tap = this->tap();
  open();
  hosts.open();
  put(Side::core, from_server(Flags::ack_bit, 5001, 1001, "data"));
  hosts.server(Flags::ack_bit, 0, 0, "data");
  for (std::size_t i = 0; i < proxy::counter_count; ++i)
    EXPECT_EQ(counters().at(i), unwatched.shard.counters().at(i)) << proxy::counter_text(i).name;
}

TEST(TapSlot, IsEmptyUntilATapIsOfferedAndReportsTheTapInUse) {
  TapSlot slot;
  EXPECT_EQ(slot.current(), nullptr);
  EXPECT_EQ(slot.taken(), 0U);
  ShardTaps first(1, {std::make_shared<FrameTap>(Filter{}, 100)});
  slot.offer(first);
  EXPECT_EQ(slot.taken(), 0U);
  EXPECT_EQ(slot.current(), &first);
  EXPECT_EQ(slot.taken(), 1U);
  ShardTaps none(2, {});
  slot.offer(none);
  EXPECT_EQ(slot.current(), nullptr) << "nobody looks any more";
  EXPECT_EQ(slot.taken(), 2U);
}

}  // namespace
}  // namespace sluice::capture
