#pragma once

#include <cstdint>

#include "proxy/engine/base/release_reason.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Incremental scan over all flows that requests their release (handback to the hosts), cancels such requests, or ends
/// the flows. Each step handles some flows, so that packets are processed in between. Thread: the shard's.
class FlowWalk {
 public:
  /// Creates an idle scan.
  FlowWalk(const ShardContext& shard, SplitFlows& flows) : shard_(shard), flows_(flows) {}

  /// Starts a scan and stops the current one. The scan requests the release (handback to the hosts) of every flow for
  /// `reason`; with ReleaseReason::none it cancels the requests.
  void begin(ReleaseReason reason) { begin(reason, false); }
  /// Starts a scan that ends every flow (SplitFlows::end_now()).
  void begin_to_end() { begin(ReleaseReason::released_drain, true); }
  /// True while a scan is in progress.
  [[nodiscard]] bool active() const { return active_; }
  /// Continues the scan with the next flows.
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
  bool ends_ = false;   ///< true if the scan ends flows instead of requesting their handback
  bool again_ = false;  ///< true if no buffer was free for the RST of some flow, so that the scan must be repeated
};

}  // namespace sluice::proxy
