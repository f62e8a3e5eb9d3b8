#pragma once

#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"

namespace sluice::proxy {

/// Observer of received frames and of their settings, such as a capture. Thread: the shard's.
class PacketObserver {
 public:
  /// Called before a frame is processed, which changes or consumes it. `counters` then count its outcome.
  virtual void received(const RxPacket& rx, const Counters& counters) = 0;
  /// Called after the frame of the last received() has been processed.
  virtual void on_done() = 0;

 protected:
  ~PacketObserver() = default;
};

}  // namespace sluice::proxy
