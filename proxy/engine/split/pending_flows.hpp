#pragma once

#include <cstddef>
#include <vector>

#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// List of the flows whose pending events must be processed before the burst ends. A flow is in the list at most once.
/// Thread: the shard's.
class PendingFlows {
 public:
  /// Reserves entries for `max_flows` flows, and for the flows that are closed and replaced by others within one burst.
  explicit PendingFlows(std::uint32_t max_flows) { flows_.reserve(max_flows + max_closed_per_burst); }

  /// True if any flow has events that must be processed before the burst ends.
  [[nodiscard]] bool any() const { return !flows_.empty(); }
  /// True if one more flow can be added to the list without allocating memory.
  [[nodiscard]] bool has_space() const { return flows_.size() < flows_.capacity(); }
  /// Schedules the flow, so that `events` are processed before the burst ends. If the flow is already scheduled, only
  /// adds the events.
  void schedule(Flow& flow, FlowId id, StreamEvents events) {
    if (flow.events == StreamEvents::none) flows_.push_back(id);
    flow.events = flow.events | events;
  }
  /// Records that a flow, which may be scheduled, is about to be closed. Its entry remains in the list and is skipped.
  void record_closed(const Flow& flow) { closed_ = closed_ || flow.events != StreamEvents::none; }

  /// Calls serve(flow, id) now, and not at the end of the burst, if the flow has pending events. serve() must clear
  /// `flow.events`, the events that schedule() has added.
  template <typename Serve>
  void serve_one(Registry& registry, FlowId id, Serve&& serve) {
    if (!is_pending(registry, id)) return;
    closed_ = true;  // the entry remains in the list, and is skipped unless the flow gets further events
    serve(registry.flow(id), id);
  }

  /// Calls serve(flow, id) for each flow with pending events, including flows that get events meanwhile. serve() must
  /// clear the events of the flow.
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
  /// Maximum number of entries of closed flows that one burst can leave in the list.
  static constexpr std::uint32_t max_closed_per_burst = 32;

  /// True if the flow of a list entry is still scheduled. If the id was reused for another flow, that flow has its own
  /// entry.
  [[nodiscard]] static bool is_pending(Registry& registry, FlowId id) {
    return registry.flows().contains(id) && registry.flow(id).events != StreamEvents::none;
  }

  std::vector<FlowId> flows_;  ///< ids of the flows with pending events; memory is reserved at construction
  bool closed_ = false;        ///< true if a flow in the list was closed
};

}  // namespace sluice::proxy
