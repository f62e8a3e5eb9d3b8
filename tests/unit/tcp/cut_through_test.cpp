// Tests of cut-through: data is forwarded from one endpoint to the other in its frame. The output equals receiving,
// splicing and sending it, but for PSH flags, which stay the sender's.

#include <optional>
#include <random>

#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

/// Payload of a segment with timestamps.
constexpr std::uint32_t dated = Script::mss - 12;

/// A stream through two endpoints, as a relay has it: what `in` receives, `out` sends.
class Relay {
 public:
  explicit Relay(bool passes, tcp::WindowUpdates updates = tcp::WindowUpdates::sparing, bool timestamps = true)
      : full(timestamps ? dated : Script::mss), passes_(passes), updates_(updates) {
    for (Script* const leg : {&in, &out}) {
      leg->config.joins_payloads = true;
      if (timestamps) leg->use_timestamps();
      leg->use_sack();
    }
    out.our_base = in.their_base;
    in.open(Script::peer_window, room);
    in.endpoint.set_receive_room(Bytes(room), updates_);
    out.open(Script::peer_window);
  }

  /// Limits the bytes that are acknowledged before the other host has them to `count`.
  void expose_at_most(std::uint32_t count) {
    exposure_ = count;
    for (Script* const leg : {&in, &out}) leg->endpoint.defer_acks();
  }

  [[nodiscard]] tcp::Segment next(std::uint32_t count) const {
    tcp::Segment segment = in.segment(received, told);
    segment.payload_len = static_cast<std::uint16_t>(count);
    return segment;
  }
  [[nodiscard]] bool can_cut_through(std::uint32_t count) {
    return out.endpoint.can_cut_through(in.endpoint, next(count), out.now);
  }
  void receive(std::uint32_t count) {
    const tcp::Segment segment = next(count);
    packet::Packet payload = payload_packet(stream_bytes(received, count));
    if (passes_ && out.endpoint.can_cut_through(in.endpoint, segment, out.now)) {
      pass(segment, std::move(payload));
    } else {
      in.endpoint.receive(segment, std::move(payload), in.now);
      if (in.endpoint.on_fast_path() && out.endpoint.on_fast_path()) {
        if (in.endpoint.unread() > Bytes()) out.endpoint.splice_from(in.endpoint);
      } else {
        const Bytes left = in.endpoint.receive_room() - in.endpoint.unread();
        while (packet::Packet read = in.endpoint.read()) out.endpoint.write(std::move(read));
        in.endpoint.set_receive_room(std::max(left, Bytes()), updates_);
      }
      out.endpoint.set_timestamp(in.endpoint.newest_ts_value());
    }
    received += count;
    allow();
    in.emit();
    out.emit();
  }
  void acknowledge(std::uint32_t up_to, std::uint32_t window) {
    out.set_peer_window(window);
    out.receive_ack(up_to);
    in.endpoint.set_receive_room(Bytes(room) - out.endpoint.held() + in.endpoint.unread(), updates_);
    allow();
    in.emit();
    out.emit();
  }
  void let_pass(Duration time) {
    in.pass(time);
    out.pass(time);
  }
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> seen() {
    std::vector<std::vector<std::uint32_t>> all;
    for (Script* const leg : {&in, &out}) {
      while (leg->sent() != 0) {
        const SentSegment sent = leg->wire.next();
        const tcp::Segment& s = sent.segment;
        const auto flags = static_cast<std::uint32_t>(s.flags.bits & ~tcp::Flags::psh_bit);
        all.push_back({s.seq.raw(), s.ack.raw(), s.window, flags, s.payload_len, s.ts_value, s.ts_echo});
        all.back().insert(all.back().end(), sent.bytes.begin(), sent.bytes.end());
      }
    }
    return all;
  }
  [[nodiscard]] std::vector<std::int64_t> state() const {
    const tcp::Endpoint& from = in.endpoint;
    const tcp::Endpoint& to = out.endpoint;
    return {from.rcv_nxt().raw(),
            from.rcv_adv().raw(),
            from.receive_room().count(),
            from.unread().count(),
            from.acknowledged().raw(),
            from.snd_window().count(),
            from.newest_ts_value(),
            to.snd_una().raw(),
            to.snd_nxt().raw(),
            to.unsent().count(),
            to.held().count(),
            to.in_flight().count(),
            to.cwnd().count(),
            to.acknowledged().raw(),
            from.next_deadline().time_since_epoch().count(),
            to.next_deadline().time_since_epoch().count()};
  }

  static constexpr std::uint32_t room = 60'000;
  const std::uint32_t full;  ///< payload of a segment
  Script in, out;
  std::uint32_t received = 0;
  std::uint32_t told = 0;
  std::uint32_t passed = 0;

 private:
  void allow() {
    if (exposure_) in.endpoint.acknowledge_up_to(out.endpoint.snd_una() + *exposure_);
  }
  void pass(const tcp::Segment& segment, packet::Packet&& frame) {
    EXPECT_GE(out.endpoint.cut_through_bytes(in.endpoint), Bytes(segment.payload_len));
    const tcp::CutThroughHeader header = out.endpoint.begin_cut_through();
    tcp::Segment sent = segment;
    sent.ack = header.ack;
    sent.window = header.window;
    if (sent.has_timestamps) sent.ts_echo = header.ts_echo;
    out.wire.segments.push_back({sent, {frame.bytes().begin(), frame.bytes().end()}, out.now});
    out.endpoint.cut_through(segment, std::move(frame), out.now);
    out.endpoint.end_cut_through(in.endpoint, segment, segment, 1, out.now);
    ++passed;
  }

  bool passes_;
  tcp::WindowUpdates updates_;
  std::optional<std::uint32_t> exposure_;
};

class CutThrough : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, CutThrough, testing::Range(0U, 40U));

TEST_P(CutThrough, EqualsReceivingAndSending) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  const auto updates = static_cast<tcp::WindowUpdates>(GetParam() % 3);
  Relay anew(false, updates, GetParam() % 4 != 0), passing(true, updates, GetParam() % 4 != 0);
  const auto both = [&](const auto& act) {
    act(anew);
    act(passing);
  };
  if (GetParam() % 5 < 2) both([&](Relay& relay) { relay.expose_at_most(GetParam() % 5 * 8192); });
  for (int step = 0; step < 600; ++step) {
    if (below(4) == 0) both([&](Relay& relay) { relay.in.their_timestamp += 7; });
    if (below(3) != 0) {
      const std::uint32_t size = below(4) != 0 ? anew.full : 1 + below(anew.full);
      if (anew.in.endpoint.advertised() >= Bytes(size)) both([&](Relay& relay) { relay.receive(size); });
    } else if (anew.out.endpoint.unacknowledged() != Bytes()) {
      const auto sent = static_cast<std::uint32_t>(anew.out.endpoint.snd_nxt() - anew.out.our_base);
      const std::uint32_t up_to = sent - below(static_cast<std::uint32_t>(anew.out.endpoint.unacknowledged().count()));
      const std::uint32_t window = below(10) == 0 ? below(3000) : 20'000 + below(40'000);
      both([&](Relay& relay) { relay.acknowledge(up_to, window); });
    }
    ASSERT_EQ(anew.seen(), passing.seen()) << "step " << step;
    ASSERT_EQ(anew.state(), passing.state()) << "step " << step;
    const Duration pause = std::chrono::microseconds(below(20) == 0 ? 900'000 : below(3000));
    both([&](Relay& relay) { relay.let_pass(pause); });
  }
  EXPECT_GT(passing.passed, 50U);
}

TEST(CutThroughSegment, NeedsAConnectionWithoutLossOrReordering) {
  const auto may = [](const auto& disturb, std::uint32_t size = dated) {
    Relay relay(true);
    relay.receive(dated);
    disturb(relay);
    return relay.can_cut_through(size);
  };
  const auto nothing = [](Relay& /*relay*/) {};
  EXPECT_TRUE(may(nothing));
  EXPECT_TRUE(may(nothing, 256));
  EXPECT_FALSE(may(nothing, 255)) << "what is small may be joined";
  EXPECT_FALSE(may(nothing, dated + 1)) << "larger than the receiver takes";
  EXPECT_FALSE(may([](Relay& relay) { relay.told = 1; })) << "acknowledges what was never sent";
  EXPECT_FALSE(may([](Relay& relay) { relay.in.set_peer_window(0); })) << "and closes its window";
  EXPECT_FALSE(may([](Relay& relay) { relay.received += dated; })) << "a hole";
  EXPECT_FALSE(may([](Relay& relay) { relay.in.their_timestamp -= 1; })) << "an older timestamp";
  EXPECT_FALSE(may([](Relay& relay) { relay.out.write(100); })) << "something waits to be sent before it";
  EXPECT_FALSE(may([](Relay& relay) { relay.in.receive_data(relay.received, dated); })) << "or to be read";
  EXPECT_FALSE(may([](Relay& relay) { relay.out.endpoint.finish(); })) << "closing";
  EXPECT_TRUE(may([](Relay& relay) { relay.in.endpoint.defer_acks(); })) << "what waits is not disturbed";
  EXPECT_FALSE(may([](Relay& relay) { relay.acknowledge(0, 2 * dated - 1); }))
      << "the window takes no more than what is out";
}

TEST(CutThroughSegment, AcknowledgesWithinTheExposureLimit) {
  Relay relay(true);
  relay.expose_at_most(2 * dated);
  for (int i = 0; i < 4; ++i) relay.receive(dated);
  EXPECT_EQ(relay.passed, 4U);
  EXPECT_EQ(relay.in.endpoint.acknowledged(), relay.in.their_base + 2 * dated);
  EXPECT_EQ(relay.in.endpoint.next_deadline(), never) << "nothing is acknowledged by time alone";
  relay.acknowledge(dated, Script::peer_window);
  EXPECT_EQ(relay.in.endpoint.acknowledged(), relay.in.their_base + 3 * dated);
  EXPECT_TRUE(relay.in.endpoint.on_fast_path());
}

TEST(CutThroughSegment, CarriesTheAckOfTheOtherDirection) {
  Relay relay(true);
  relay.out.receive_data(0, dated);
  relay.out.emit();
  relay.expose_at_most(0);
  relay.out.receive_data(dated, dated);
  relay.receive(dated);
  ASSERT_EQ(relay.passed, 1U);
  relay.out.endpoint.acknowledge_up_to(relay.out.their_base + dated);
  EXPECT_EQ(relay.out.endpoint.next_acknowledgement(), relay.out.their_base + dated);
  relay.receive(dated);
  relay.out.wire.segments.clear();
  relay.receive(dated);
  ASSERT_EQ(relay.passed, 3U);
  EXPECT_EQ(relay.out.wire.segments.back().segment.ack, relay.out.their_base + dated);
}

TEST(CutThroughRun, EchoesTheFirstTimestampAndKeepsTheLastAsNewest) {
  Relay relay(true);
  relay.receive(dated);
  relay.receive(dated);  // acknowledged: what comes next is what the next acknowledgement waits for
  relay.in.their_timestamp += 5;
  const tcp::Segment first = relay.next(dated);
  relay.received += dated;
  relay.in.their_timestamp += 7;
  const tcp::Segment last = relay.next(dated);
  ASSERT_TRUE(relay.out.endpoint.can_cut_through(relay.in.endpoint, first, relay.out.now));
  static_cast<void>(relay.out.endpoint.begin_cut_through());
  for (const tcp::Segment& segment : {first, last}) {
    const auto from = static_cast<std::uint32_t>(segment.seq - relay.in.their_base);
    relay.out.endpoint.cut_through(segment, payload_packet(stream_bytes(from, dated)), relay.out.now);
  }
  relay.out.endpoint.end_cut_through(relay.in.endpoint, first, last, 2, relay.out.now);
  relay.in.wire.segments.clear();
  relay.in.emit();
  ASSERT_EQ(relay.in.wire.segments.size(), 1U);
  EXPECT_EQ(relay.in.wire.segments.front().segment.ts_echo, first.ts_value) << "RFC 7323 section 4.3";
  EXPECT_EQ(relay.in.endpoint.newest_ts_value(), last.ts_value);
  EXPECT_EQ(relay.in.endpoint.rcv_nxt(), last.seq + dated);
}

TEST(CutThroughSegment, StopsAtTheCongestionWindow) {
  Relay relay(true);
  std::uint32_t count = 0;
  for (; relay.can_cut_through(relay.full) && count < 100; ++count) relay.receive(relay.full);
  EXPECT_LE(Bytes(count * relay.full), relay.out.endpoint.cwnd());
  EXPECT_GT(Bytes((count + 1) * relay.full), relay.out.endpoint.cwnd());
  EXPECT_LT(relay.out.endpoint.cut_through_bytes(relay.in.endpoint), Bytes(relay.full));
}

}  // namespace
}  // namespace sluice::test
