#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "dataplane/tcp/endpoint.hpp"
#include "proxy/engine/base/side.hpp"
#include "tests/fuzz/shard/frames.hpp"
#include "tests/fuzz/tcp/pair.hpp"

namespace sluice::proxy::fuzz {

using tcp::fuzz::require;

/// Frames on their way in one direction, at most so many; later ones are lost.
class Wire {
 public:
  void push(Frame frame) {
    if (frames.size() < 512) frames.push_back(std::move(frame));
  }
  std::deque<Frame> frames;
};

/// The byte that stands at a position of what a side of a connection sends.
inline std::uint8_t content(std::uint32_t connection, Side side, std::uint32_t position) {
  const std::uint32_t key = connection * 131U + static_cast<std::uint32_t>(side) * 77U;
  return static_cast<std::uint8_t>((position + key) * 2654435761U >> 24U);
}

/// One host's end of a connection, and what must hold of everything that the proxy sends to it.
class End final : public tcp::Output {
 public:
  struct Parts {
    std::uint32_t connection = 0;
    Side side = Side::radio;  ///< of the proxy, where this host is
    packet::Addresses addresses;
    tcp::SynOptions options;
    packet::PacketPool* pool = nullptr;
    Wire* wire = nullptr;
  };
  explicit End(const Parts& parts) : parts_(parts) {
    constexpr std::array<std::uint8_t, 6> ue{2, 0, 0, 0, 0, 1}, server{2, 0, 0, 0, 0, 2};
    const bool radio = parts.side == Side::radio;
    headers_ = packet::make_template(radio ? ue : server, radio ? server : ue, parts.addresses.src.is_v4() ? 4 : 6);
  }
  ~End() { endpoint.release_queues(); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  std::uint32_t transmit(const tcp::Segment& segment, packet::Packet* payload, Instant) override {
    packet::Packet frame = parts_.pool->allocate();
    if (!frame) return 0;
    std::uint16_t sum = 0;
    if (payload != nullptr) {
      const auto data = payload->bytes().last(segment.payload_len);
      std::copy(data.begin(), data.end(), frame.append(segment.payload_len));
      sum = payload->note().payload_sum;
    }
    grant(segment);
    packet::write_headers(frame, headers_, parts_.addresses, segment, sum, ip_id_++);
    const auto size = static_cast<std::uint32_t>(frame.size() - headers_.outer.length);
    parts_.wire->push(bytes_of(frame));
    return size;
  }
  [[nodiscard]] std::uint32_t wire_size(std::uint32_t payload_len) const override { return 52 + payload_len; }

  /// Queues `length` bytes of this side's content in one packet.
  void write(std::uint32_t length) {
    if (!open() || written >= max_written) return;
    packet::Packet packet = parts_.pool->allocate();
    if (!packet) return;
    const auto size = static_cast<std::uint16_t>(std::clamp<std::uint32_t>(length, 1, endpoint.effective_mss()));
    std::uint8_t* const at = packet.append(size);
    for (std::uint32_t i = 0; i < size; ++i) at[i] = content(parts_.connection, parts_.side, written + i);
    packet.note().payload_len = size;
    packet.note().payload_sum = packet::ones_complement_sum(packet.bytes());
    const Bytes before = endpoint.unsent();
    endpoint.write(std::move(packet));
    if (endpoint.unsent() != before) written += size;  // what it ignores has no place in the stream
  }

  /// Both must offer scaling for windows to be scaled.
  void record_options(const tcp::Segment& segment) {
    if (!segment.flags.syn()) return;
    scaling_ = parts_.options.has_window_scale && segment.syn.has_window_scale;
  }
  /// Takes a segment off the wire.
  void receive(const packet::Parsed& parsed, packet::Packet&& packet, Instant now) {
    record_options(parsed.segment);
    if (parsed.segment.payload_len > 0) {
      packet::strip_to_payload(packet, parsed);
      endpoint.receive(parsed.segment, std::move(packet), now);
    } else {
      endpoint.receive(parsed.segment, {}, now);
    }
  }
  /// Reads what is in order; every byte is the right one, where nobody `forged`.
  void read_all(bool forged) {
    while (const packet::Packet packet = endpoint.read()) {
      for (const std::uint8_t byte : packet.bytes().last(packet.note().payload_len)) {
        require(forged || byte == content(parts_.connection, opposite(parts_.side), read));
        ++read;
      }
    }
  }

  /// What the proxy may say to this host: it acknowledges nothing that was not sent, …
  void check_acknowledgement(const tcp::Segment& segment) const {
    if (!synchronised() || !segment.flags.ack()) return;
    require(segment.ack <= endpoint.snd_nxt());
    for (const tcp::SackBlock& block : segment.sacks()) require(block.right <= endpoint.snd_nxt());
  }
  /// … and sends nothing beyond the window.
  void check_window(const tcp::Segment& segment) const {
    if (synchronised() && segment.payload_len > 0 && edge_) require(segment.seq + segment.payload_len <= *edge_);
  }

  [[nodiscard]] bool synchronised() const { return endpoint.state() >= tcp::State::established; }
  [[nodiscard]] bool open() const {
    return endpoint.state() == tcp::State::established || endpoint.state() == tcp::State::close_wait;
  }
  [[nodiscard]] bool closed() const { return endpoint.state() == tcp::State::closed; }
  [[nodiscard]] const packet::Addresses& addresses() const { return parts_.addresses; }
  [[nodiscard]] const packet::HeaderTemplate& headers() const { return headers_; }
  [[nodiscard]] const tcp::SynOptions& options() const { return parts_.options; }
  [[nodiscard]] Side side() const { return parts_.side; }
  [[nodiscard]] std::uint32_t number() const { return parts_.connection; }
  [[nodiscard]] Wire& wire() const { return *parts_.wire; }

  tcp::Endpoint endpoint;
  std::uint32_t written = 0;
  std::uint32_t read = 0;
  bool begun = false;  ///< it has opened, or answered an opening

 private:
  static constexpr std::uint32_t max_written = 200'000;

  /// Notes the window that a segment gives.
  void grant(const tcp::Segment& segment) {
    if (!segment.flags.ack()) return;
    const unsigned shift = scaling_ && !segment.flags.syn() ? parts_.options.window_scale : 0U;
    const tcp::SeqNum edge = segment.ack + (std::uint32_t{segment.window} << shift);
    edge_ = edge_ ? tcp::later(*edge_, edge) : edge;
  }

  Parts parts_;
  packet::HeaderTemplate headers_;
  std::optional<tcp::SeqNum> edge_;  ///< the farthest that it was promised
  std::uint16_t ip_id_ = 0;
  bool scaling_ = false;
};

/// A connection between a UE and a server of the model.
struct Connection {
  Connection(const End::Parts& ue, const End::Parts& server, Side opener)
      : ends{{End(ue), End(server)}}, initiator(opener) {}

  [[nodiscard]] End& end(Side side) { return ends[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const End& end(Side side) const { return ends[static_cast<std::size_t>(side)]; }

  /// What the proxy may send to the host at `to`. `let_go`: perhaps the connection was handed back although one host
  /// was promised more than the other takes, because it had to go at once, or nothing moved. Its sender keeps to the
  /// promise.
  void check_honest(Side to, const tcp::Segment& segment, bool let_go) const {
    end(to).check_acknowledgement(segment);
    if (!let_go) return end(to).check_window(segment);
    if (end(to).synchronised()) require(segment.seq + segment.payload_len <= end(opposite(to)).endpoint.snd_nxt());
  }

  std::array<End, 2> ends;
  Side initiator;
  /// The proxy could not read a segment of it, and had to let go of it there and then (released_unsplittable).
  bool unreadable = false;
  /// Somebody has sent segments in a host's name: nothing is certain of its bytes any more.
  bool forged = false;
};

}  // namespace sluice::proxy::fuzz
