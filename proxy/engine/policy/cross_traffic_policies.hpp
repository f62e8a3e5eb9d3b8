#pragma once

#include <array>
#include <cstdint>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/flow/flow_table.hpp"
#include "proxy/engine/policy/active_policies.hpp"
#include "proxy/engine/policy/policy.hpp"

namespace sluice::proxy {

/// Decides by the policies which packets of cross traffic may wait in the queue of a UE. Cross traffic consists of
/// packets of no split or end-to-end connection, such as QUIC. The first packet of a flow decides for the whole flow,
/// as a SYN does for a connection. If the DSCP of a flow changes, its packets thus stay in order. Thread: the shard's.
class CrossTrafficPolicies {
 public:
  /// True if the first policy that matches the flow permits its packets to wait in the UE's queue of cross traffic.
  /// `packet` is a packet of the flow with the key `flow`, and `tag` the keyed hash of that key. Without a UDP or TCP
  /// header, as in a fragment, all ports are 0. If policies.passes_cross_traffic() is false, the result is always true,
  /// so that no call is needed.
  [[nodiscard, gnu::noinline]] bool may_wait(const ActivePolicies& policies, flow::KeyTag tag,
                                             const flow::FlowKey& flow, const ConnectionView& packet);

 private:
  /// Decision whether the packets of one flow may wait in the UE's queue. `generation` is that of the policies that
  /// made the decision; 0 in an unused entry.
  struct Entry {
    flow::FlowKey flow;
    std::uint16_t generation = 0;
    bool may_wait = false;
  };

  /// Decisions whether packets of a flow may wait in the UE's queue, indexed by the low bits of the keyed hash of the
  /// flow's key. A flow replaces another one with the same index. If a flow has no entry, or one of earlier policies,
  /// the policies are searched and the entry is written again.
  std::array<Entry, 256> entries_{};
};

}  // namespace sluice::proxy
