#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/tcp/paced_sender.hpp"
#include "tests/unit/tcp/wire.hpp"

namespace sluice::test {

using namespace std::chrono_literals;

/// The byte at a stream position, so that any misplaced payload shows.
[[nodiscard]] inline std::uint8_t stream_byte(std::uint32_t position) {
  return static_cast<std::uint8_t>((position * 2654435761U) >> 24);
}
[[nodiscard]] inline std::vector<std::uint8_t> stream_bytes(std::uint32_t position, std::uint32_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::uint32_t i = 0; i < count; ++i) bytes[i] = stream_byte(position + i);
  return bytes;
}

/// A test as a script: one endpoint, the wire behind it, and a clock that the test moves. Sequence numbers in scripts
/// are stream positions: 0 is the first payload byte each way. The peer's numbers start near the wrap.
class Script {
 public:
  static constexpr std::uint32_t mss = 1000;
  static constexpr std::uint32_t peer_window = 60'000;

  Script() {
    ours.mss = theirs.mss = mss;
    config.congestion = tcp::CongestionAlgorithm::newreno;
  }
  ~Script() { endpoint.release_queues(); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  /// Straight to established.
  void open(std::uint32_t window = peer_window, std::uint32_t room = 65535) {
    tcp::EstablishedState state;
    state.snd_nxt = our_base;
    state.rcv_nxt = their_base;
    state.rcv_adv = their_base + room;
    state.local = ours;
    state.remote = theirs;
    state.snd_window = window;
    state.ts_recent = their_timestamp;
    state.rtt = handshake_rtt;
    window_ = window;
    endpoint.establish_at(config.wants_pacing() ? paced.begin(config) : config, state, now);
  }
  void use_sack() { ours.sack_permitted = theirs.sack_permitted = true; }
  void use_timestamps() { ours.timestamps = theirs.timestamps = true; }

  // --- what the peer does ---
  [[nodiscard]] tcp::Segment segment(std::uint32_t seq, std::uint32_t ack,
                                     std::uint8_t flags = tcp::Flags::ack_bit) const {
    tcp::Segment segment;
    segment.seq = their_base + seq;
    segment.ack = our_base + ack;
    segment.flags.bits = flags;
    segment.window = static_cast<std::uint16_t>(std::min<std::uint32_t>(window_ >> peer_shift(), 65535));
    if (endpoint.uses_timestamps()) {
      segment.has_timestamps = true;
      segment.ts_value = their_timestamp;
      segment.ts_echo = their_echo;
    }
    return segment;
  }
  void receive(const tcp::Segment& segment) { endpoint.receive(segment, {}, now); }
  /// `count` bytes from `position` of the peer's stream.
  void receive_data(std::uint32_t position, std::uint32_t count, std::uint8_t flags = tcp::Flags::ack_bit) {
    tcp::Segment data = segment(position, acked_, flags);
    data.payload_len = static_cast<std::uint16_t>(count);
    packet::Packet payload = payload_packet(stream_bytes(position, count));
    endpoint.receive(data, std::move(payload), now);
    EXPECT_FALSE(payload) << "it was neither kept nor dropped";
  }
  void receive_ack(std::uint32_t ack) {
    acked_ = ack;
    receive(segment(their_sent, ack));
  }
  /// An acknowledgement with blocks given as stream positions, newest first.
  void receive_sack(std::uint32_t ack, std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks) {
    acked_ = ack;
    tcp::Segment sack = segment(their_sent, ack);
    for (const auto& [left, right] : blocks) {
      sack.sack_blocks.at(sack.sack_count++) = {our_base + left, our_base + right};
    }
    receive(sack);
  }
  void set_peer_window(std::uint32_t window) { window_ = window; }

  // --- what the application does ---
  void write(std::uint32_t count) {
    endpoint.write(payload_packet(stream_bytes(written_, count)));
    written_ += count;
  }
  void write_segments(int count) {
    for (int i = 0; i < count; ++i) write(mss);
  }
  /// Everything readable; checks that it is the peer's stream.
  std::uint32_t read_all() {
    std::uint32_t count = 0;
    while (const packet::Packet packet = endpoint.read()) {
      for (const std::uint8_t byte : packet.bytes()) {
        EXPECT_EQ(byte, stream_byte(read_)) << "at stream position " << read_;
        ++read_;
      }
      EXPECT_EQ(packet::ones_complement_sum(packet.bytes()) % 0xffff, packet.note().payload_sum % 0xffff);
      count += packet.size();
    }
    return count;
  }

  // --- time and what leaves ---
  Bytes emit(Bytes allowance = Bytes::max()) { return endpoint.emit(now, wire, allowance); }
  /// Lets time pass, running every timer when it is due.
  void pass(Duration time) {
    const Instant end = now + time;
    while (endpoint.next_deadline() <= end) {
      now = std::max(now, endpoint.next_deadline());
      endpoint.on_timer(now);
      emit();
    }
    now = end;
  }
  [[nodiscard]] std::size_t sent() const { return wire.segments.size(); }
  void discard_sent() { wire.segments.clear(); }
  /// The next segment sent must carry `count` bytes of our stream from `position`.
  SentSegment expect_data(std::uint32_t position, std::uint32_t count) {
    SentSegment sent = wire.next();
    EXPECT_EQ(sent.segment.seq - our_base, static_cast<std::int32_t>(position));
    EXPECT_EQ(sent.segment.payload_len, count);
    EXPECT_EQ(sent.bytes, stream_bytes(position, static_cast<std::uint32_t>(sent.bytes.size())));
    return sent;
  }
  /// The next segment sent must be an acknowledgement, without data, of everything before `position`.
  SentSegment expect_ack(std::uint32_t position) {
    SentSegment sent = wire.next();
    EXPECT_EQ(sent.segment.payload_len, 0);
    EXPECT_EQ(sent.segment.flags.bits, tcp::Flags::ack_bit);
    EXPECT_EQ(sent.segment.ack - their_base, static_cast<std::int32_t>(position));
    return sent;
  }
  void expect_nothing() { EXPECT_EQ(sent(), 0U) << "first of them: seq " << wire.segments.front().segment.seq.raw(); }
  /// A block of a sent segment as stream positions of the peer.
  [[nodiscard]] std::pair<std::int32_t, std::int32_t> block(const SentSegment& sent, std::size_t index) const {
    const tcp::SackBlock& block = sent.segment.sack_blocks.at(index);
    return {block.left - their_base, block.right - their_base};
  }

  tcp::EndpointConfig config;
  tcp::PacedEndpoint paced;  ///< used if the configuration requests pacing
  tcp::SynOptions ours, theirs;
  tcp::Endpoint endpoint;
  Wire wire;
  Instant now = Instant(1h);
  tcp::SeqNum our_base{5000};
  tcp::SeqNum their_base{0xfffffc00U};
  std::uint32_t their_timestamp = 1000;
  std::uint32_t their_echo = 0;  ///< our timestamp that the peer returns
  Duration handshake_rtt{};      ///< known when the connection goes on here
  std::uint32_t their_sent = 0;  ///< position of the peer's next byte, for its acknowledgements

 private:
  [[nodiscard]] unsigned peer_shift() const {
    return ours.has_window_scale && theirs.has_window_scale ? theirs.window_scale : 0U;
  }
  std::uint32_t window_ = peer_window;
  std::uint32_t acked_ = 0;
  std::uint32_t written_ = 0;
  std::uint32_t read_ = 0;
};

using Blocks = std::pair<std::int32_t, std::int32_t>;

}  // namespace sluice::test
