#pragma once

#include "proxy/engine/shard/flow_walk.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Frees packet buffers when few are free. Connections that hold no bytes are handed back to their hosts. If buffers
/// become scarce, out-of-order data is dropped. Stalled connections (no ACK from a host for 5 s) are then reset,
/// beginning with those that hold the most bytes. Thread: the shard's.
class MemoryRelief {
 public:
  /// Stores references to its arguments, which must outlive the object.
  MemoryRelief(const ShardContext& shard, SplitFlows& flows, FlowWalk& flow_walk)
      : shard_(shard), flows_(flows), flow_walk_(flow_walk) {}

  /// Reads the number of free packet buffers if that is due. If more are used than limits.release_flows_at, starts to
  /// hand connections that hold no bytes back to their hosts. If few buffers are free, starts a scan over all flows,
  /// which drops out-of-order data and resets stalled connections.
  void look(Instant now) {
    if (shard_.budget.is_due(now)) read_free_buffers(now);
  }
  /// True while a scan over all flows is in progress, which frees packet buffers.
  [[nodiscard]] bool active() const { return walk_.active; }
  /// Visits the next 128 flows of the scan, and drops their out-of-order data. Resets stalled connections (no ACK for 5
  /// s) that hold at least half of the largest number of bytes in the previous scan. Few scans therefore suffice, and
  /// connections that hold little are not reset.
  void step(Instant now);

 private:
  /// State of a scan over all flows. Each call of step() visits a part of them.
  struct Walk {
    FlowId next = 0;  ///< id of the flow at which the scan continues
    /// Largest number of bytes that a stalled connection (no ACK for 5 s) holds, as found by this scan so far.
    Bytes largest{};
    Bytes take_from{};  ///< number of held bytes from which on this scan resets a stalled connection
    bool active = false;
  };

  /// Reads the number of free packet buffers. If more are used than limits.release_flows_at, starts to hand connections
  /// that hold no bytes back to their hosts. If few buffers are free, starts a scan over all flows, which drops
  /// out-of-order data and resets stalled connections.
  [[gnu::noinline]] void read_free_buffers(Instant now);
  /// Starts a scan over all flows. The scan resets stalled connections that hold at least half of the largest number of
  /// bytes in the previous scan. The first scan resets none.
  void begin();
  /// Drops the flow's out-of-order data. Resets the flow if it is stalled (no ACK for 5 s) and holds at least
  /// Walk::take_from bytes.
  void reclaim_from(Flow& flow, FlowId id, Instant now);

  const ShardContext& shard_;
  SplitFlows& flows_;
  FlowWalk& flow_walk_;
  Walk walk_;
  Instant last_relief_at_{};  ///< time at which the last attempt to free packet buffers started
};

}  // namespace sluice::proxy
