#pragma once

#include "proxy/handback/sweep.hpp"
#include "proxy/split/split_flows.hpp"

namespace sluice::proxy {

/// What is done when packet buffers become few: connections that hold none go back to plain forwarding, what came
/// before its turn is forgotten, and connections that make no progress are ended, the largest first. Thread: the
/// shard's.
class MemoryRelief {
 public:
  /// What it is given outlives it.
  MemoryRelief(const ShardContext& shard, SplitFlows& flows, Sweep& sweep)
      : shard_(shard), flows_(flows), sweep_(sweep) {}

  /// Looks at the pool's level where that is due, and begins what it calls for.
  void look(Instant now) {
    if (shard_.budget.is_due(now)) look_anew(now);
  }
  [[nodiscard]] bool active() const { return walk_.active; }
  /// Goes on with a walk over all flows, for some of them. Each walk ends those that hold at least half of what the
  /// largest of the walk before held, so that a few walks are enough and nobody small is ended for nothing.
  void go_on(Instant now);

 private:
  struct Walk {
    FlowId next = 0;
    Bytes largest{};    ///< held by a connection without progress, of those looked at in this walk
    Bytes take_from{};  ///< a connection without progress that holds so much is ended
    bool active = false;
  };

  [[gnu::noinline]] void look_anew(Instant now);
  void begin();
  void reclaim_from(Flow& flow, FlowId id, Instant now);

  const ShardContext& shard_;
  SplitFlows& flows_;
  Sweep& sweep_;
  Walk walk_;
  Instant shed_{};  ///< when flows were last gone through for want of buffers
};

}  // namespace sluice::proxy
