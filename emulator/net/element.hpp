#pragma once

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Receiver of packets in one direction: a delay line, a cell, a host's interface or a proxy's port. Packets are whole
/// Ethernet frames and never shared. A sender that keeps a packet therefore passes a copy, as a device copies it by
/// DMA.
class Element {
 public:
  /// Called with a packet that arrives at `now`; the element owns it from then on.
  virtual void receive(packet::Packet packet, Instant now) = 0;

 protected:
  ~Element() = default;
};

}  // namespace sluice::emulator
