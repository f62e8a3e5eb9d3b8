#pragma once

#include <cstdint>

#include "proxy/engine/base/release_reason.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Scan over all flows in steps. For each flow the scan requests the release (handback to the hosts), cancels such a
/// request, or ends the flow. Each step visits only some flows, so that packets are processed between the steps.
/// Thread: the shard's.
class FlowWalk {
 public:
  /// Creates an idle scan.
  FlowWalk(const ShardContext& shard, SplitFlows& flows) : shard_(shard), flows_(flows) {}

  /// Starts a scan; a scan in progress is replaced. The new scan requests the release of every flow (its handback to
  /// the hosts) for `reason`. With ReleaseReason::none it cancels such requests.
  void begin(ReleaseReason reason) { begin(reason, false); }
  /// Starts a scan that ends every flow (SplitFlows::end_now()).
  void begin_end_all() { begin(ReleaseReason::released_drain, true); }
  /// True while a scan is in progress.
  [[nodiscard]] bool active() const { return active_; }
  /// Visits the next 128 flows of the scan.
  void step(Instant now);

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
  bool ends_ = false;  ///< true if the scan ends flows instead of requesting their release
  /// true if the scan must be repeated, because the RST of some flow could not be sent for lack of a free packet buffer
  bool again_ = false;
};

}  // namespace sluice::proxy
