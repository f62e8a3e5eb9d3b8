#pragma once

#include <span>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/shard/side.hpp"

namespace sluice::proxy {

/// Where a shard's packets leave: a DPDK port, or the virtual-time network.
class Transmitter {
 public:
  /// Takes every packet of the burst, in order, and leaves empty handles. What the device cannot take is dropped and
  /// counted there.
  virtual void transmit(Side out, std::span<packet::Packet> burst, Instant now) = 0;

 protected:
  ~Transmitter() = default;
};

}  // namespace sluice::proxy
