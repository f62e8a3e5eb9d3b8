#pragma once

#include <cstddef>
#include <vector>

#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// List of the flows that must be served before the burst ends, each once. Thread: the shard's.
class PendingFlows {
 public:
  /// Reserves entries for all flows, and for flows closed and replaced within one burst.
  explicit PendingFlows(std::uint32_t max_flows) { flows_.reserve(max_flows + closed_in_a_burst); }

  /// True if any flow is scheduled.
  [[nodiscard]] bool any() const { return !flows_.empty(); }
  /// True if another flow can be scheduled without allocation.
  [[nodiscard]] bool has_space() const { return flows_.size() < flows_.capacity(); }
  /// Schedules the flow for service, with `events` as the reasons. For a flow already on the list only the reasons are
  /// added.
  void schedule(Flow& flow, FlowId id, StreamEvents events) {
    if (flow.events == StreamEvents::none) flows_.push_back(id);
    flow.events = flow.events | events;
  }
  /// Records that a flow on the list is about to be closed. Its entry stays on the list and is skipped.
  void record_closed(const Flow& flow) { closed_ = closed_ || flow.events != StreamEvents::none; }

  /// Calls serve(flow, id) for each scheduled flow, including flows scheduled during the call. serve() must clear the
  /// flow's events.
  template <typename Serve>
  void serve_all(Registry& registry, Serve&& serve) {
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (i + 1 < flows_.size()) registry.flows().prefetch(flows_[i + 1]);
      const FlowId id = flows_[i];
      if (closed_ && !is_pending(registry, id)) [[unlikely]]
        continue;
      serve(registry.flow(id), id);
    }
    flows_.clear();
    closed_ = false;
  }

 private:
  /// Largest number of closed flows whose entries one burst can leave on the list.
  static constexpr std::uint32_t closed_in_a_burst = 32;

  /// True if the flow of a list entry is still scheduled. A flow that reuses the id of a closed flow has its own entry.
  [[nodiscard]] static bool is_pending(Registry& registry, FlowId id) {
    return registry.flows().contains(id) && registry.flow(id).events != StreamEvents::none;
  }

  std::vector<FlowId> flows_;  ///< ids of the scheduled flows; memory is reserved at construction
  bool closed_ = false;        ///< true if some flow on the list was closed
};

}  // namespace sluice::proxy
