#pragma once

#include <cstdint>

#include "proxy/engine/base/info.hpp"
#include "proxy/engine/base/times.hpp"
#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// Numbers of flows and bearers in each state, as status displays and metrics show them.
struct FlowStateCounts {
  std::uint32_t handshakes = 0;    ///< number of handshakes whose SYN-ACK has been seen
  std::uint32_t split = 0;         ///< number of split connections
  std::uint32_t handing_back = 0;  ///< number of split connections that are being handed back to their hosts
  std::uint32_t governed = 0;      ///< number of bearers whose sending a rate controller limits
  std::uint32_t ungoverned = 0;    ///< number of bearers whose sending only congestion control limits

  /// IP bytes of cross traffic (packets of no split or end-to-end connection, such as QUIC) that wait in the queues of
  /// all UEs.
  std::uint64_t cross_traffic_waiting = 0;

  FlowStateCounts& operator+=(const FlowStateCounts& other);
};

/// Scans all flows and bearers step by step, counts them by state, and samples round-trip and queueing times. The
/// published counts are those of the last complete scan. Thread: the shard's.
class FlowStats {
 public:
  explicit FlowStats(Times& times) : times_(times) {}

  /// Scans the next `most` flows and the next `most` bearers.
  void look(Registry& registry, std::uint32_t most, Instant now);
  [[nodiscard]] const FlowStateCounts& counts() const { return counts_; }
  /// Returns the totals of the radio-queue samples that this object has taken. It samples UEs for which the ACK-based
  /// controller runs, also in mode observe, if they have no recent Node-B report.
  [[nodiscard]] const GroupStatistics& queues() const { return queues_; }

 private:
  void look_at_flows(Registry& registry, std::uint32_t most);
  void look_at_bearers(Registry& registry, std::uint32_t most, Instant now);
  void sample_queue(Bearer& bearer, Instant now);
  /// Counts one flow by its state, and samples its round-trip and queueing times.
  void count(Registry& registry, const Flow& flow);
  /// Records the smoothed RTT to the UE and the time that its data waits in the proxy. `in_control_group` is true if
  /// the UE is in the control group, which no rate controller limits.
  void take_times(const Flow& flow, bool in_control_group);

  Times& times_;
  GroupStatistics queues_{};
  FlowStateCounts counts_;
  FlowStateCounts round_;  ///< numbers that the current, incomplete scan of flows and bearers has counted so far
  FlowId next_flow_ = 0;
  BearerId next_bearer_ = 0;
};

}  // namespace sluice::proxy
