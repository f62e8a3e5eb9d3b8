#pragma once

#include <cstdint>

#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/tcp/recovery_state.hpp"
#include "proxy/engine/policy/policy.hpp"

namespace sluice::proxy {

/// Active policies of a shard, and what connections that began under earlier ones still use. Thread: the shard's.
class ActivePolicies {
 public:
  /// Activates the first policies. Both arguments outlive this object, but policies only until they are replaced and no
  /// bearer refers to them.
  ActivePolicies(const Policies& first, tcp::RecoveryStatePool& recovery_states);

  /// Activates other policies. Bearers of the old ones must then be left and closed. Until that is done there may be
  /// twice as many bearers, and a flow for which no bearer is free keeps its old one.
  void exchange(const Policies& policies);
  /// Returns the active policies.
  [[nodiscard]] const Policies& current() const { return *current_; }
  /// Returns the generation of the active policies, which differs from that of bearers created under earlier ones.
  [[nodiscard]] std::uint16_t generation() const { return generation_; }
  /// True if some bearer may need to know its short flows, under the active policies or earlier ones.
  [[nodiscard]] bool prioritizes_short_flows() const { return prioritizes_short_flows_; }
  /// Returns the endpoint configuration of new connections. They keep it when policies are replaced. After 65 535
  /// replacements a generation number is reused, and a connection that old uses a newer configuration.
  [[nodiscard]] const tcp::EndpointConfig& legs() const { return legs_[generation_]; }

 private:
  /// Activates policies under the current generation number.
  void enforce(const Policies& policies);

  const Policies* current_ = nullptr;
  tcp::RecoveryStatePool& recovery_states_;
  std::uint16_t generation_ = 1;
  bool prioritizes_short_flows_ = false;
  flow::LazyArray<tcp::EndpointConfig> legs_;  ///< endpoint configurations by generation
};

}  // namespace sluice::proxy
