#pragma once

#include "proxy/engine/flow_table/context.hpp"

namespace sluice::proxy {

/// Ends split connections that make no progress: data for a host that acknowledges nothing, or out-of-order data behind
/// a hole that is not filled. Hosts keep such a connection while zero-window probes are answered. The proxy does not,
/// because its memory is shared by all connections. Thread: the shard's.
class StallTimeout {
 public:
  explicit StallTimeout(const ShardContext& shard) : shard_(shard) {}

  /// Resets the flow if its host has acknowledged nothing for timeouts.stalled, or for timeouts.orphaned if a reset is
  /// pending. Drops out-of-order data older than timeouts.out_of_order. Called from the flow's timer. A host that does
  /// not answer at all ends its leg earlier (tcp.max_retransmissions).
  void end(Flow& flow, Instant now);
  /// Schedules the flow's timer for out-of-order data, because a leg with only a hole has no timer of its own.
  void watch_holes(Flow& flow, FlowId id);

 private:
  /// Drops out-of-order data whose hole was not filled within timeouts.out_of_order.
  void forget_overdue(Flow& flow, Instant now);
  /// True if the host behind `out` has made no progress for the configured time.
  [[nodiscard]] bool has_stalled(const Flow& flow, Side out, Instant now) const;

  const ShardContext& shard_;
};

}  // namespace sluice::proxy
