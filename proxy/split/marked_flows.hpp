#pragma once

#include <cstddef>
#include <vector>

#include "proxy/flows/registry.hpp"

namespace sluice::proxy {

/// Flows to serve before the burst ends, each once. Thread: the shard's.
class MarkedFlows {
 public:
  explicit MarkedFlows(std::uint32_t max_flows) { flows_.reserve(max_flows + closed_in_a_burst); }

  [[nodiscard]] bool any() const { return !flows_.empty(); }
  /// One more mark takes no memory.
  [[nodiscard]] bool has_room() const { return flows_.size() < flows_.capacity(); }
  /// To be served, as far as this has to do with it.
  void mark(Flow& flow, FlowId id, StreamEvents events) {
    if (flow.events == StreamEvents::none) flows_.push_back(id);
    flow.events = flow.events | events;
  }
  /// The flow is about to be closed. A mark that it has stays on the list.
  void note_closed(const Flow& flow) { closed_ = closed_ || flow.events != StreamEvents::none; }

  /// Calls serve(flow, id) for each, those that are marked meanwhile among them. It takes the mark away.
  template <typename Serve>
  void serve_all(Registry& registry, Serve&& serve) {
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (i + 1 < flows_.size()) registry.flows().prefetch(flows_[i + 1]);
      const FlowId id = flows_[i];
      if (closed_ && !is_marked(registry, id)) [[unlikely]]
        continue;
      serve(registry.flow(id), id);
    }
    flows_.clear();
    closed_ = false;
  }

 private:
  /// Closed flows that a burst can leave on the list.
  static constexpr std::uint32_t closed_in_a_burst = 32;

  /// One that was closed since is not; who has its place now is on the list with a mark of its own.
  [[nodiscard]] static bool is_marked(Registry& registry, FlowId id) {
    return registry.flows().contains(id) && registry.flow(id).events != StreamEvents::none;
  }

  std::vector<FlowId> flows_;  ///< reserved at construction
  bool closed_ = false;        ///< some of them were closed since
};

}  // namespace sluice::proxy
