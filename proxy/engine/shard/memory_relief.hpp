#pragma once

#include "proxy/engine/shard/flow_walk.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Frees packet buffers when few are left. Connections that hold none are handed back to their hosts, out-of-order data
/// is dropped, and stalled connections are reset, the largest first. Thread: the shard's.
class MemoryRelief {
 public:
  /// Keeps references to its arguments, which outlive it.
  MemoryRelief(const ShardContext& shard, SplitFlows& flows, FlowWalk& flow_walk)
      : shard_(shard), flows_(flows), flow_walk_(flow_walk) {}

  /// Reads the number of free packet buffers in the pool if that is due. Starts a walk over all flows, or handbacks, if
  /// few are left.
  void look(Instant now) {
    if (shard_.budget.is_due(now)) look_anew(now);
  }
  /// True while a walk over all flows is in progress.
  [[nodiscard]] bool active() const { return walk_.active; }
  /// Continues the walk with the next flows. Each walk resets stalled connections that hold at least half of the
  /// largest amount found in the previous walk. So a few walks suffice, and connections that hold little are not reset.
  void step(Instant now);

 private:
  /// State of a walk over all flows, which is done in steps.
  struct Walk {
    FlowId next = 0;    ///< id of the flow with which the walk continues
    Bytes largest{};    ///< largest number of bytes held by a stalled connection in this walk
    Bytes take_from{};  ///< number of held bytes at which a stalled connection is reset
    bool active = false;
  };

  /// Reads the number of free packet buffers in the pool, and starts a walk over all flows, or handbacks, if few are
  /// left.
  [[gnu::noinline]] void look_anew(Instant now);
  /// Starts a walk over all flows; the number of held bytes from which on it resets a flow follows from the last walk.
  void begin();
  /// Drops the flow's out-of-order data, and resets the flow if it is stalled and holds enough bytes (Walk::take_from).
  void reclaim_from(Flow& flow, FlowId id, Instant now);

  const ShardContext& shard_;
  SplitFlows& flows_;
  FlowWalk& flow_walk_;
  Walk walk_;
  Instant shed_{};  ///< time when packet buffers were last reclaimed
};

}  // namespace sluice::proxy
