#pragma once

#include "dataplane/flow/slab.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow_table/registry.hpp"
#include "proxy/engine/rate_control/controlled_flow.hpp"

namespace sluice::proxy {

/// Per-flow window controllers of split connections. The controller's window limits the bytes in flight to the UE in
/// addition to the congestion window. The papers that describe these controllers rewrite the receive window instead.
/// Thread: the shard's.
class SplitFlowControllers {
 public:
  /// Reserves address space for `max_flows` controllers. `registry` must outlive the object.
  SplitFlowControllers(const Registry& registry, std::uint32_t max_flows)
      : registry_(registry), controllers_(max_flows) {}

  /// Passes the events since the last call to the flow's controller: acknowledgements of the UE, and the last Node-B
  /// report.
  [[gnu::noinline]] void follow(Flow& flow, Bearer& bearer, Instant now);
  /// Returns how many IP bytes the controller's window allows the flow to send now.
  [[nodiscard, gnu::noinline]] Bytes send_budget(Flow& flow, Bearer& bearer, Instant now);
  /// Records that `bytes` IP bytes were sent to the UE. Has no effect if the flow has no controller.
  void sent(const Flow& flow, const Bearer& bearer, Bytes bytes) {
    if (flow.controller != no_id) [[unlikely]]
      record_sent(flow, bearer, bytes);
  }
  /// Starts the controller of a flow that already carries data. The first window is the last measured rate times the
  /// minimum RTT, divided by the number of the bearer's flows with unsent data.
  void begin(Flow& flow, Bearer& bearer, Instant now);
  /// Destroys the flow's controller, because the flow ends or moves to another bearer.
  void forget(Flow& flow, Bearer& bearer);

 private:
  /// Returns the flow's controller. Creates it on first use. Returns null if the maximum number is reached.
  [[nodiscard]] ControlledFlow* controller_of(Flow& flow, Bearer& bearer);
  [[gnu::noinline]] void record_sent(const Flow& flow, const Bearer& bearer, Bytes bytes);

  const Registry& registry_;
  flow::Slab<ControlledFlow> controllers_;
};

}  // namespace sluice::proxy
