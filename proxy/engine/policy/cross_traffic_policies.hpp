#pragma once

#include <array>
#include <cstdint>

#include "dataplane/flow/flow_key.hpp"
#include "proxy/engine/policy/active_policies.hpp"
#include "proxy/engine/policy/policy.hpp"

namespace sluice::proxy {

/// Decides by the policies which packets of cross traffic (packets that belong to no split connection) may wait in the
/// queue of a UE. The first packet of a flow decides for the flow, as a SYN does for a connection. Packets of a flow
/// whose DSCP changes thus stay in order. Thread: the shard's.
class CrossTrafficPolicies {
 public:
  /// True if the first policy that matches the flow queues cross traffic. `packet` is a packet
  /// of the flow with the key `flow`. Both have the port 0 if the packet has no UDP or TCP header, such as a fragment.
  [[nodiscard]] bool may_wait(const ActivePolicies& policies, const flow::FlowKey& flow, const ConnectionView& packet) {
    return !policies.passes_cross_traffic() || look_up(policies, flow, packet);
  }

 private:
  /// Decision for one flow, and the generation of the policies that made it; 0 in an unused entry.
  struct Entry {
    flow::FlowKey flow;
    std::uint16_t generation = 0;
    bool may_wait = false;
  };
  [[nodiscard, gnu::noinline]] bool look_up(const ActivePolicies& policies, const flow::FlowKey& flow,
                                            const ConnectionView& packet);

  /// decisions, indexed by a hash of the flow; a flow replaces an older one with the same index, and a list of policies
  /// is then searched again
  std::array<Entry, 256> entries_{};
};

}  // namespace sluice::proxy
