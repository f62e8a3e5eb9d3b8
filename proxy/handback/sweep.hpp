#pragma once

#include <cstdint>

#include "proxy/handback/release_reason.hpp"
#include "proxy/split/split_flows.hpp"

namespace sluice::proxy {

/// A walk over all flows that asks them to go, or to stay, or ends them: some of them at a time, so that packets have
/// their turn in between. Thread: the shard's.
class Sweep {
 public:
  Sweep(const ShardContext& shard, SplitFlows& flows) : shard_(shard), flows_(flows) {}

  /// Begins, instead of what it was at: every flow is asked to go for this reason (ReleaseReason::none: to stay).
  void begin(ReleaseReason reason) { begin(reason, false); }
  /// Begins likewise: every flow is ended (SplitFlows::end_now).
  void begin_to_end() { begin(ReleaseReason::released_drain, true); }
  [[nodiscard]] bool active() const { return active_; }
  /// Goes on for some flows.
  void go_on(Instant now);

 private:
  void begin(ReleaseReason reason, bool ends) {
    next_ = 0;
    reason_ = reason;
    active_ = true;
    ends_ = ends;
    again_ = false;
  }

  const ShardContext& shard_;
  SplitFlows& flows_;
  FlowId next_ = 0;
  ReleaseReason reason_ = ReleaseReason::none;
  bool active_ = false;
  bool ends_ = false;   ///< none is asked
  bool again_ = false;  ///< some could not be told for want of a buffer: once more
};

}  // namespace sluice::proxy
