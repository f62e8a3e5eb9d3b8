#include "proxy/engine/policy/cross_traffic_policies.hpp"

namespace sluice::proxy {

bool CrossTrafficPolicies::may_wait(const ActivePolicies& policies, flow::KeyTag tag, const flow::FlowKey& flow,
                                    const ConnectionView& packet) {
  Entry& entry = entries_[static_cast<std::uint32_t>(tag) % entries_.size()];
  if (entry.generation != policies.generation() || entry.flow != flow) {
    const Policies& current = policies.current();
    entry = {flow, policies.generation(), queues_cross_traffic(current.settings(current.choose(packet)))};
  }
  return entry.may_wait;
}

}  // namespace sluice::proxy
