#pragma once

#include "proxy/engine/flow_table/context.hpp"

namespace sluice::proxy {

/// Ends split connections that make no progress, because all connections share the memory that they hold. Such a
/// connection holds data for a host that acknowledges nothing, or out-of-order data after a gap that is not filled. The
/// hosts themselves would keep it as long as zero-window probes are answered. Thread: the shard's.
class StallTimeout {
 public:
  explicit StallTimeout(const ShardContext& shard) : shard_(shard) {}

  /// Resets the flow if one of its hosts has acknowledged nothing for timeouts.stalled, or for timeouts.orphaned if a
  /// reset is pending. Drops out-of-order data older than timeouts.out_of_order. Called from the flow's timer. A host
  /// that does not answer at all ends its leg earlier (tcp.max_retransmissions).
  void end(Flow& flow, Instant now);
  /// Arms the flow's timer for the drop of its out-of-order data. A TCP endpoint that only has a gap has no timer.
  void watch_holes(Flow& flow, FlowId id);

 private:
  /// Drops out-of-order data whose gap was not filled within timeouts.out_of_order.
  void forget_overdue(Flow& flow, Instant now);
  /// True if the host behind `out` has acknowledged nothing for the configured time although the proxy holds data for
  /// it.
  [[nodiscard]] bool has_stalled(const Flow& flow, Side out, Instant now) const;

  const ShardContext& shard_;
};

}  // namespace sluice::proxy
