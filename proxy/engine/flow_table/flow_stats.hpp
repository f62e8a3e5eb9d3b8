#pragma once

#include <cstdint>

#include "proxy/engine/base/info.hpp"
#include "proxy/engine/base/times.hpp"
#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// Numbers of flows and UE bearers by state.
struct FlowStateCounts {
  std::uint32_t handshakes = 0;    ///< connections in the handshake whose SYN-ACK was seen
  std::uint32_t split = 0;         ///< split connections
  std::uint32_t handing_back = 0;  ///< split connections whose handback to the hosts is in progress
  std::uint32_t governed = 0;      ///< UE bearers steered by a controller
  std::uint32_t ungoverned = 0;    ///< UE bearers under ordinary congestion control

  FlowStateCounts& operator+=(const FlowStateCounts& other);
};

/// Incremental scan over all flows and bearers that counts their states and samples round-trip and queueing times. The
/// counts are those of the last complete scan. Thread: the shard's.
class FlowStats {
 public:
  explicit FlowStats(Times& times) : times_(times) {}

  /// Scans the next `most` flows and as many bearers.
  void look(Registry& registry, std::uint32_t most, Instant now);
  [[nodiscard]] const FlowStateCounts& counts() const { return counts_; }
  /// Returns samples of the radio queues of bearers under the ACK-based controller that have no fresh report.
  [[nodiscard]] const GroupStatistics& queues() const { return queues_; }

 private:
  void look_at_flows(Registry& registry, std::uint32_t most);
  void look_at_bearers(Registry& registry, std::uint32_t most, Instant now);
  void sample_queue(Bearer& bearer, Instant now);
  /// Counts one flow by state and samples its times.
  void count(Registry& registry, const Flow& flow);
  /// Records the UE's smoothed RTT and the queueing time in the relay.
  void take_times(const Flow& flow, bool ordinary);

  Times& times_;
  GroupStatistics queues_{};
  FlowStateCounts counts_;
  FlowStateCounts round_;  ///< counts of the scan in progress
  FlowId next_flow_ = 0;
  BearerId next_bearer_ = 0;
};

}  // namespace sluice::proxy
