#pragma once

#include "proxy/engine/flow_table/context.hpp"

namespace sluice::proxy {

/// Ends split connections that hold data without progress, because all connections share the packet buffers. Such a
/// connection holds data for a host that acknowledges nothing, or out-of-order data behind a gap that is not filled.
/// The hosts themselves would keep it open while zero-window probes are answered. Thread: the shard's.
class StallTimeout {
 public:
  explicit StallTimeout(const ShardContext& shard) : shard_(shard) {}

  /// Resets the flow if the proxy holds data for one of its hosts that has acknowledged nothing for timeouts.stalled.
  /// The limit is timeouts.orphaned if a reset from the other host waits behind this data. Drops out-of-order data
  /// older than timeouts.out_of_order. Called when the flow's timer expires. A leg whose host sends no segments at all
  /// ends earlier, after tcp.max_retransmissions retransmissions.
  void end(Flow& flow, Instant now);
  /// Sets the flow's timer to the time at which its out-of-order data must be dropped. A TCP endpoint sets no timer for
  /// a gap alone.
  void watch_holes(Flow& flow, FlowId id);

 private:
  /// Drops out-of-order data whose gap was not filled within timeouts.out_of_order.
  void forget_overdue(Flow& flow, Instant now);
  /// True if the host behind `out` has acknowledged nothing for timeouts.stalled, although the proxy holds data for it.
  /// If a reset from the other host waits behind this data, the limit is timeouts.orphaned.
  [[nodiscard]] bool has_stalled(const Flow& flow, Side out, Instant now) const;

  const ShardContext& shard_;
};

}  // namespace sluice::proxy
