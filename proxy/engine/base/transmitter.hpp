#pragma once

#include <span>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/side.hpp"

namespace sluice::proxy {

/// Sends the packets of a shard: by a DPDK port, or by a link of the virtual-time network.
class Transmitter {
 public:
  /// Sends all packets of the burst in order on side `out`, and leaves empty handles in the span. The device drops and
  /// counts packets that it cannot queue.
  virtual void transmit(Side out, std::span<packet::Packet> burst, Instant now) = 0;

 protected:
  ~Transmitter() = default;
};

}  // namespace sluice::proxy
