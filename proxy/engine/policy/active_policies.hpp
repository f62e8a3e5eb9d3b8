#pragma once

#include <cstdint>

#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/tcp/recovery_state.hpp"
#include "proxy/engine/policy/policy.hpp"

namespace sluice::proxy {

/// Policies for new connections of a shard, and the endpoint configurations that older connections still use. Thread:
/// the shard's.
class ActivePolicies {
 public:
  /// Activates the first policies. `recovery_states` outlives this object. `first` must exist until it is replaced and
  /// no bearer refers to it.
  ActivePolicies(const Policies& first, tcp::RecoveryStatePool& recovery_states);

  /// Activates other policies. All flows must then leave the bearers (UE states) of the old policies. Until then there
  /// may be twice as many bearers, and a flow keeps its old bearer if no new one is free.
  void exchange(const Policies& policies);
  /// Returns the active policies.
  [[nodiscard]] const Policies& current() const { return *current_; }
  /// Returns the generation number of the active policies, which differs from that of bearers created under earlier
  /// ones.
  [[nodiscard]] std::uint16_t generation() const { return generation_; }
  /// True if the controller of some bearer, under the active or earlier policies, may use the number of short flows.
  [[nodiscard]] bool prioritizes_short_flows() const { return prioritizes_short_flows_; }
  /// Returns the endpoint configuration of new connections. They keep it when policies are replaced. After 65 535
  /// replacements a generation number is reused, and a connection from its first use then gets a newer configuration.
  [[nodiscard]] const tcp::EndpointConfig& legs() const { return legs_[generation_]; }

 private:
  /// Activates policies under the current generation number.
  void enforce(const Policies& policies);

  const Policies* current_ = nullptr;
  tcp::RecoveryStatePool& recovery_states_;
  /// Secret of the first policies; it is kept, because a configuration file contains none.
  std::uint64_t boundary_secret_;
  std::uint16_t generation_ = 1;
  bool prioritizes_short_flows_ = false;

  /// endpoint configurations of connections, by the generation of their policies
  flow::LazyArray<tcp::EndpointConfig> legs_;
};

}  // namespace sluice::proxy
