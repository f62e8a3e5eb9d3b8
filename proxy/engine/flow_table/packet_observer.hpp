#pragma once

#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"

namespace sluice::proxy {

/// Receives every frame that a shard processes, before and after processing, for example for a capture. Thread: the
/// shard's.
class PacketObserver {
 public:
  /// Called before a frame is processed, because processing changes or consumes it. `counters` are the shard's, in
  /// which the frame's outcome is counted before on_done().
  virtual void received(const RxPacket& rx, const Counters& counters) = 0;
  /// Called after the frame of the last received() call has been processed.
  virtual void on_done() = 0;

 protected:
  ~PacketObserver() = default;
};

}  // namespace sluice::proxy
