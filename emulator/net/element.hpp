#pragma once

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// A place packets go to: a delay line, a cell, a host's interface, a proxy's port. One direction. Packets are whole
/// Ethernet frames and never shared (whoever keeps a reference sends a copy, as a device's DMA would).
class Element {
 public:
  virtual void receive(packet::Packet packet, Instant now) = 0;

 protected:
  ~Element() = default;
};

}  // namespace sluice::emulator
