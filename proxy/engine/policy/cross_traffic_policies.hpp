#pragma once

#include <array>
#include <cstdint>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/flow/flow_table.hpp"
#include "proxy/engine/policy/active_policies.hpp"
#include "proxy/engine/policy/policy.hpp"

namespace sluice::proxy {

/// Finds the policies of cross traffic flows in one direction. Cross traffic consists of packets of no split or
/// end-to-end connection, such as QUIC. The first packet of a flow decides for the whole flow, as a SYN does for a
/// connection. If the DSCP of a flow changes, its packets thus stay in order. Thread: the shard's.
class CrossTrafficPolicies {
 public:
  /// Returns the settings of the first policy that matches the flow. `packet` is a packet of the flow with the key
  /// `flow`, and `tag` the keyed hash of that key. Without a UDP or TCP header, as in a fragment, all ports are 0. The
  /// reference is valid while these policies are active.
  [[nodiscard, gnu::noinline]] const PolicySettings& settings_of(const ActivePolicies& policies, flow::KeyTag tag,
                                                                 const flow::FlowKey& flow,
                                                                 const ConnectionView& packet);

 private:
  /// Policy of one flow. `generation` is that of the policies among which it was found; 0 in an unused entry.
  struct Entry {
    flow::FlowKey flow;
    std::uint16_t generation = 0;
    PolicyIndex policy = 0;
  };

  /// Policies of flows, indexed by the low bits of the keyed hash of the flow's key. A flow replaces another one with
  /// the same index. If a flow has no entry, or one of earlier policies, the policies are searched and the entry is
  /// written again.
  std::array<Entry, 256> entries_{};
};

}  // namespace sluice::proxy
