#pragma once

#include "dataplane/flow/slab.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow_table/registry.hpp"
#include "proxy/engine/rate_control/controlled_flow.hpp"

namespace sluice::proxy {

/// Per-flow window controllers of split connections. Besides the congestion window, the controller's window limits the
/// bytes in flight to the UE, as the window of an ACK does in the paper. Thread: the shard's.
class SplitFlowControllers {
 public:
  /// Reserves places for `max_flows` controllers. `registry` outlives it.
  SplitFlowControllers(const Registry& registry, std::uint32_t max_flows)
      : registry_(registry), controllers_(max_flows) {}

  /// Passes to the flow's controller the data that the UE has acknowledged and the Node-B reports received since the
  /// last service.
  [[gnu::noinline]] void follow(Flow& flow, Bearer& bearer, Instant now);
  /// Returns how many IP bytes may be sent now within the window.
  [[nodiscard, gnu::noinline]] Bytes send_budget(Flow& flow, Bearer& bearer, Instant now);
  /// Records `bytes` IP bytes of segments sent to the UE; no effect if the flow has no controller.
  void sent(const Flow& flow, const Bearer& bearer, Bytes bytes) {
    if (flow.controller != no_id) [[unlikely]]
      record_sent(flow, bearer, bytes);
  }
  /// Starts the controller of a flow that already carries data. The start value is the flow's part of the bytes that
  /// the path contains without a queue.
  void begin(Flow& flow, Bearer& bearer, Instant now);
  /// Removes the controller, because the flow ends or moves to another bearer.
  void forget(Flow& flow, Bearer& bearer);

 private:
  /// Returns the flow's controller and creates it on first use; null if there is no place.
  [[nodiscard]] ControlledFlow* controller_of(Flow& flow, Bearer& bearer);
  [[gnu::noinline]] void record_sent(const Flow& flow, const Bearer& bearer, Bytes bytes);

  const Registry& registry_;
  flow::Slab<ControlledFlow> controllers_;
};

}  // namespace sluice::proxy
