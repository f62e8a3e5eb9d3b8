#include "proxy/engine/policy/active_policies.hpp"

#include <cstddef>

namespace sluice::proxy {

ActivePolicies::ActivePolicies(const Policies& first, tcp::RecoveryStatePool& recovery_states)
    : recovery_states_(recovery_states),
      boundary_secret_(first.legs.boundary_secret),
      legs_(std::size_t{UINT16_MAX} + 1) {
  enforce(first);
}

void ActivePolicies::exchange(const Policies& policies) {
  if (++generation_ == 0) generation_ = 1;
  enforce(policies);
}

void ActivePolicies::enforce(const Policies& policies) {
  current_ = &policies;
  prioritizes_short_flows_ = prioritizes_short_flows_ || policies.prioritizes_short_flows();
  counts_answers_ = policies.counts_answers();
  advises_rates_ = policies.advises_rates();
  advises_link_rates_ = policies.advises_link_rates();
  passes_cross_traffic_ = policies.passes_cross_traffic();
  controls_uplink_ = policies.controls_uplink();
  legs_[generation_] = policies.legs;
  legs_[generation_].recovery_states = &recovery_states_;
  legs_[generation_].boundary_secret = boundary_secret_;
}

}  // namespace sluice::proxy
