#pragma once

#include "proxy/shard/context.hpp"

namespace sluice::proxy {

/// Split connections that make no progress: what waits for a host that takes nothing, or for a hole that nobody fills,
/// does not wait for ever. A host alone would keep such a connection for as long as its probes are answered; but there
/// the memory is that of the hosts, here it is everybody's. Thread: the shard's.
class Stalls {
 public:
  explicit Stalls(const ShardContext& shard) : shard_(shard) {}

  /// Ends the flow, or forgets what it holds out of order, where its time is up; a timer has brought it by. A host that
  /// is gone, and does not answer, is found out before by its leg (tcp.max_retransmissions).
  void end(Flow& flow, Instant now);
  /// Sees to it that the flow is looked at in time. A leg that only waits for a hole to be filled has no timer for it.
  void watch_holes(Flow& flow, FlowId id);

 private:
  void forget_overdue(Flow& flow, Instant now);
  [[nodiscard]] bool has_stalled(const Flow& flow, Side out, Instant now) const;

  const ShardContext& shard_;
};

}  // namespace sluice::proxy
