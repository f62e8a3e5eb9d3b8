#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/parse.hpp"
#include "emulator/net/element.hpp"

namespace sluice::emulator {

/// A DPDK port as an element of the network. It collects the packets that it receives as an element, and flush() sends
/// them to the device. Packets from the device are passed to another element. Uses queue 0 only. Thread: the poll
/// thread.
class LivePort final : public Element {
 public:
  /// Makes the element. `inwards` receives the packets from the device. `port` and `inwards` must outlive the element.
  LivePort(dpdk::Port& port, Element& inwards) : port_(port), inwards_(inwards) {}

  void receive(packet::Packet packet, Instant /*now*/) override {
    outgoing_[waiting_++] = std::move(packet);
    if (waiting_ == outgoing_.size()) flush();
  }
  void flush() {
    if (waiting_ == 0) return;
    port_.transmit(0, std::span(outgoing_).first(waiting_));
    waiting_ = 0;
  }
  /// Processes one burst from the device. Returns the number of packets.
  std::size_t poll(Instant now) {
    const std::size_t count = port_.receive(0, incoming_);
    for (std::size_t i = 0; i < count; ++i) {
      if (port_.partial_checksums()) complete(incoming_[i]);
      inwards_.receive(std::move(incoming_[i]), now);
    }
    return count;
  }
  [[nodiscard]] const dpdk::Port& port() const { return port_; }

 private:
  static constexpr std::size_t burst = 64;

  // Completes a partial checksum: a kernel leaves it to its device, which here is this program.
  static void complete(packet::Packet& packet) {
    packet::Parsed parsed;
    const packet::ParseResult result = packet::parse(packet, parsed);
    packet::complete_partial_checksum(packet, parsed, result);
  }

  dpdk::Port& port_;
  Element& inwards_;
  std::array<packet::Packet, burst> outgoing_;
  std::size_t waiting_ = 0;
  std::array<packet::Packet, burst> incoming_;
};

}  // namespace sluice::emulator
