#include "proxy/engine/policy/cross_traffic_policies.hpp"

namespace sluice::proxy {

const PolicySettings& CrossTrafficPolicies::settings_of(const ActivePolicies& policies, flow::KeyTag tag,
                                                        const flow::FlowKey& flow, const ConnectionView& packet) {
  Entry& entry = entries_[static_cast<std::uint32_t>(tag) % entries_.size()];
  const Policies& current = policies.current();
  if (entry.generation != policies.generation() || entry.flow != flow)
    entry = {flow, policies.generation(), current.choose(packet)};
  return current.settings(entry.policy);
}

}  // namespace sluice::proxy
