// Tests of splicing: in-order data moves from one endpoint to another, all at once or packet by packet. Both ways give
// the same output.

#include <random>

#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

/// A stream through two endpoints, as a relay has it: what `in` receives, `out` sends.
class Relay {
 public:
  /// `room`: bytes that it is willing to hold. `updates`: when the sender learns of free space.
  Relay(bool at_once, std::uint32_t room, tcp::WindowUpdates updates)
      : at_once_(at_once), room_(room), updates_(updates) {
    for (Script* const leg : {&in_, &out_}) {
      leg->config.joins_payloads = true;
      leg->use_timestamps();
      leg->use_sack();
    }
    out_.our_base = in_.their_base;
    in_.open(Script::peer_window, room);
    set_room(Bytes(room));
    out_.open(20'000);
  }

  /// Unless the window does not allow it.
  void receive(std::uint32_t count) {
    if (in_.endpoint.advertised() < Bytes(count)) return;
    in_.receive_data(received_, count);
    received_ += count;
  }
  void acknowledge(std::uint32_t up_to, std::uint32_t window) {
    out_.set_peer_window(window);
    out_.receive_ack(up_to);
    make_room();
  }
  void pass(Duration time) {
    in_.pass(time);
    out_.pass(time);
  }
  void emit() {
    in_.emit();
    out_.emit();
  }
  void move() {
    if (at_once_ && in_.endpoint.on_fast_path() && out_.endpoint.on_fast_path()) {
      if (in_.endpoint.unread() > Bytes()) out_.endpoint.splice_from(in_.endpoint);
    } else {
      // The data that was read still takes space because it is held: from now on or, if no update is sent, since
      // before.
      const Bytes room = in_.endpoint.receive_room() - in_.endpoint.unread();
      if (updates_ == tcp::WindowUpdates::sparing) set_room(room);
      while (packet::Packet payload = in_.endpoint.read()) out_.endpoint.write(std::move(payload));
      if (updates_ != tcp::WindowUpdates::sparing) set_room(room);
    }
  }

  [[nodiscard]] std::uint32_t sent() const {
    return static_cast<std::uint32_t>(out_.endpoint.snd_nxt() - out_.our_base);
  }
  [[nodiscard]] std::uint32_t unacknowledged() const {
    return static_cast<std::uint32_t>(out_.endpoint.unacknowledged().count());
  }
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> seen() {
    std::vector<std::vector<std::uint32_t>> all;
    for (Script* const leg : {&in_, &out_}) {
      for (; leg->sent() != 0;) {
        const SentSegment next = leg->wire.next();
        const tcp::Segment& s = next.segment;
        all.push_back({s.seq.raw(), s.ack.raw(), s.window, s.flags.bits, s.payload_len, s.ts_value, s.ts_echo});
        for (const std::uint8_t byte : next.bytes) all.back().push_back(byte);
      }
    }
    return all;
  }
  [[nodiscard]] Bytes unsent() const { return out_.endpoint.unsent(); }
  [[nodiscard]] Bytes held() const { return out_.endpoint.held(); }

 private:
  /// For what was acknowledged.
  void make_room() {
    const Bytes held = out_.endpoint.held() + in_.endpoint.unread();
    set_room(std::max(Bytes(room_) - held, Bytes()) + in_.endpoint.unread());
  }
  void set_room(Bytes room) { in_.endpoint.set_receive_room(std::max(room, Bytes()), updates_); }

  bool at_once_;
  std::uint32_t room_;
  tcp::WindowUpdates updates_;
  Script in_, out_;
  std::uint32_t received_ = 0;
};

class SpliceTest : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SpliceTest, testing::Range(0U, 30U));

TEST_P(SpliceTest, EqualsReadingAndWriting) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  // A small window closes now and then.
  const bool small = GetParam() % 3 == 0;
  const std::uint32_t room = small ? 5000 : 60'000;
  const auto prompt = GetParam() % 2 == 0 ? tcp::WindowUpdates::prompt : tcp::WindowUpdates::prompt_for_its_size;
  const auto updates = small ? prompt : tcp::WindowUpdates::sparing;
  Relay one(false, room, updates), all(true, room, updates);
  for (int burst = 0; burst < 300; ++burst) {
    const std::uint32_t count = below(6);
    // Some connections send full segments only, others all kinds.
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t size = GetParam() % 2 == 0 || below(4) != 0 ? Script::mss : 1 + below(Script::mss);
      one.receive(size);
      all.receive(size);
    }
    if (below(2) == 0 && one.unacknowledged() != 0) {
      const std::uint32_t up_to = one.sent() - below(one.unacknowledged());
      const std::uint32_t window = below(10) == 0 ? below(3000) : 20'000 + below(40'000);
      one.acknowledge(up_to, window);
      all.acknowledge(up_to, window);
    }
    if (below(3) != 0) {
      one.move();
      all.move();
    }
    one.emit();
    all.emit();
    ASSERT_EQ(one.seen(), all.seen()) << "burst " << burst;
    ASSERT_EQ(one.unsent(), all.unsent());
    ASSERT_EQ(one.held(), all.held());
    const Duration pause = std::chrono::microseconds(below(3000));
    one.pass(pause);
    all.pass(pause);
  }
  EXPECT_GT(all.sent(), 50'000U) << "something has passed";
}

TEST(Endpoint, HeldBytesAreTheUnacknowledgedAndTheUnsent) {
  Script s;
  s.open(2500);
  for (int i = 0; i < 4; ++i) s.write(1000);
  s.emit();
  EXPECT_EQ(s.endpoint.unsent(), Bytes(2000));
  EXPECT_EQ(s.endpoint.held(), Bytes(4000));
  s.receive_ack(1000);
  EXPECT_EQ(s.endpoint.held(), Bytes(3000));
  s.endpoint.finish();
  s.set_peer_window(60'000);
  s.receive_ack(2000);
  s.emit();
  EXPECT_EQ(s.endpoint.unsent(), Bytes(0));
  EXPECT_EQ(s.endpoint.held(), s.endpoint.unacknowledged()) << "the FIN, too";
  EXPECT_EQ(s.endpoint.held(), Bytes(2001));
}

}  // namespace
}  // namespace sluice::test
