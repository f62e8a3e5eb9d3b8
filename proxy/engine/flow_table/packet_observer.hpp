#pragma once

#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"

namespace sluice::proxy {

/// Receives each frame that a shard processes, before and after the processing. A packet capture is such an observer.
/// Thread: the shard's.
class PacketObserver {
 public:
  /// Called before a frame is processed, because processing may change or free it. Before on_done() is called, the
  /// frame's outcome is counted in `counters`, which belong to the shard.
  virtual void received(const RxPacket& rx, const Counters& counters) = 0;
  /// Called when the frame that was last passed to received() has been processed.
  virtual void on_done() = 0;

 protected:
  ~PacketObserver() = default;
};

}  // namespace sluice::proxy
