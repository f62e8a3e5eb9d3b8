#pragma once

#include "proxy/engine/shard/flow_walk.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Frees packet buffers when few are left. Connections that hold none are released to plain forwarding, out-of-order
/// data is dropped, and stalled connections are reset, the largest first. Thread: the shard's.
class MemoryRelief {
 public:
  /// Keeps references to its arguments, which outlive it.
  MemoryRelief(const ShardContext& shard, SplitFlows& flows, FlowWalk& flow_walk)
      : shard_(shard), flows_(flows), flow_walk_(flow_walk) {}

  /// Reads the pool's level if that is due, and starts a walk or a release if it is low.
  void look(Instant now) {
    if (shard_.budget.is_due(now)) look_anew(now);
  }
  /// True while a walk over all flows is in progress.
  [[nodiscard]] bool active() const { return walk_.active; }
  /// Continues the walk with the next flows. Each walk resets stalled connections that hold at least half of the
  /// largest amount found in the walk before. A few walks are therefore enough, and small holders are spared.
  void step(Instant now);

 private:
  /// Incremental scan over all flows.
  struct Walk {
    FlowId next = 0;    ///< where the scan continues
    Bytes largest{};    ///< most bytes held by a stalled connection in this walk
    Bytes take_from{};  ///< threshold: a stalled connection with this many bytes is reset
    bool active = false;
  };

  /// Reads the pool's level and starts whatever is needed.
  [[gnu::noinline]] void look_anew(Instant now);
  /// Starts a walk with the threshold from the last one.
  void begin();
  /// Drops the flow's out-of-order data, and resets the flow if it is stalled and above the threshold.
  void reclaim_from(Flow& flow, FlowId id, Instant now);

  const ShardContext& shard_;
  SplitFlows& flows_;
  FlowWalk& flow_walk_;
  Walk walk_;
  Instant shed_{};  ///< when buffers were last reclaimed
};

}  // namespace sluice::proxy
