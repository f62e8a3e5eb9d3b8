#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/tcp/paced_sender.hpp"

namespace sluice::tcp::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// The fuzzer's input, read byte by byte; zeros behind its end.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  std::uint32_t word() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | byte();
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// A segment on its way, with its payload's bytes.
struct Flight {
  Segment segment;
  std::vector<std::uint8_t> bytes;
};

/// One end: an endpoint, what it has sent, and what must hold of it at all times.
class End final : public Output {
 public:
  std::uint32_t transmit(const Segment& segment, packet::Packet* payload, Instant) override {
    require((payload != nullptr) == (segment.payload_len != 0));
    if (sent.size() >= 256) return 0;  // a device whose queue is full
    Flight flight{segment, {}};
    if (payload != nullptr) {
      const auto data = payload->bytes().last(segment.payload_len);
      require(packet::ones_complement_sum(data) % 0xffff == payload->note().payload_sum % 0xffff);
      flight.bytes.assign(data.begin(), data.end());
    }
    sent.push_back(std::move(flight));
    return wire_size(segment.payload_len);
  }
  [[nodiscard]] std::uint32_t wire_size(std::uint32_t payload_len) const override { return 40 + payload_len; }

  void check() {
    require(endpoint.snd_una() <= endpoint.snd_nxt());
    require(endpoint.in_flight() >= Bytes() && endpoint.in_flight() <= endpoint.unacknowledged() * 2);
    require(endpoint.unsent() >= Bytes());
    const bool open = endpoint.state() >= State::established;
    require(!open || !edge_known_ || endpoint.rcv_adv() >= edge_);
    edge_ = endpoint.rcv_adv();
    edge_known_ = open;
  }

  Endpoint endpoint;
  std::deque<Flight> sent;
  std::uint32_t written = 0;
  std::uint32_t read = 0;

 private:
  SeqNum edge_;
  bool edge_known_ = false;
};

}  // namespace sluice::tcp::fuzz
