#pragma once

#include <span>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/side.hpp"

namespace sluice::proxy {

/// Sends the packets of a shard, through a DPDK port or through a simulated link in virtual time.
class Transmitter {
 public:
  /// Sends all packets of `burst` in order on side `out`. The handles in the span are empty afterwards. The device
  /// drops and counts packets for which it has no space.
  virtual void transmit(Side out, std::span<packet::Packet> burst, Instant now) = 0;

 protected:
  ~Transmitter() = default;
};

}  // namespace sluice::proxy
