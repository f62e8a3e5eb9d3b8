#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "dataplane/packet/link_limit.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/base/side.hpp"
#include "proxy/engine/base/transmitter.hpp"

namespace sluice::proxy {

/// Collects the packets to be sent while a burst of received packets is processed, up to 64 for each port. A port is
/// then called once per burst instead of once per packet. Code that adds packets outside of a burst must call flush().
class TransmitQueue {
 public:
  TransmitQueue(Transmitter& transmitter, Counters& counters, const std::array<packet::LinkLimit, 2>& ports)
      : transmitter_(transmitter), counters_(counters), ports_(ports) {}

  /// True if the length of the frame does not exceed the MTU of the port on side `out`.
  [[nodiscard, gnu::always_inline]] bool carries(Side out, const packet::Packet& frame) const {
    return ports_[static_cast<std::size_t>(out)].carries(frame);
  }
  [[nodiscard]] const std::array<packet::LinkLimit, 2>& ports() const { return ports_; }
  /// Sets the maximum frame length of the port on `side`.
  void set_port(Side side, const packet::LinkLimit& limit) { ports_[static_cast<std::size_t>(side)] = limit; }

  /// Queues a packet. Always inlined, because it is called for every packet.
  [[gnu::always_inline]] void push(Side out, packet::Packet&& packet, Instant now) {
    Batch& batch = batches_[static_cast<std::size_t>(out)];
    std::construct_at(&batch.packets[batch.count++], std::move(packet));  // constructs over an empty handle
    if (batch.count == capacity) flush(out, now);
  }
  [[nodiscard]] bool empty() const { return batches_[0].count == 0 && batches_[1].count == 0; }
  void flush(Instant now) {
    flush(Side::radio, now);
    flush(Side::core, now);
  }

 private:
  static constexpr std::size_t capacity = 64;
  struct Batch {
    std::array<packet::Packet, capacity> packets;
    std::size_t count = 0;
  };

  void flush(Side out, Instant now) {
    Batch& batch = batches_[static_cast<std::size_t>(out)];
    if (batch.count == 0) return;
    counters_.add(out == Side::radio ? Counter::transmitted_radio : Counter::transmitted_core, batch.count);
    transmitter_.transmit(out, {batch.packets.data(), batch.count}, now);
    batch.count = 0;
  }

  Transmitter& transmitter_;
  Counters& counters_;
  std::array<packet::LinkLimit, 2> ports_;
  std::array<Batch, 2> batches_;
};

}  // namespace sluice::proxy
