#include "proxy/engine/policy/cross_traffic_policies.hpp"

namespace sluice::proxy {

bool CrossTrafficPolicies::look_up(const ActivePolicies& policies, const flow::FlowKey& flow,
                                   const ConnectionView& packet) {
  // The hash only selects an entry. Its key may be known, because flows that share an entry merely cost a search.
  constexpr flow::HashKey known{0x51ce0000a11ce5edU, 1};
  Entry& entry = entries_[flow::hash(flow, known) % entries_.size()];
  if (entry.generation != policies.generation() || entry.flow != flow) {
    const Policies& current = policies.current();
    entry = {flow, policies.generation(), queues_cross_traffic(current.settings(current.choose(packet)))};
  }
  return entry.may_wait;
}

}  // namespace sluice::proxy
