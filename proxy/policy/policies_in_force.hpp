#pragma once

#include <cstdint>

#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/tcp/disturbance.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "proxy/policy/policy.hpp"

namespace sluice::proxy {

/// The policies in force in a shard, and what connections still go by that began under earlier ones. Thread: the
/// shard's.
class PoliciesInForce {
 public:
  /// Both outlive it; policies until others were put in their place and no bearer is left of them.
  PoliciesInForce(const Policies& first, tcp::DisturbanceStore& disturbances);

  /// From now on these are in force. Bearers of the old ones are to be left and closed; until then there may be twice
  /// as many, and one that finds no room stays.
  void exchange(const Policies& policies);
  [[nodiscard]] const Policies& current() const { return *current_; }
  /// Which they are; a bearer that began under others has another number.
  [[nodiscard]] std::uint16_t generation() const { return generation_; }
  /// Some bearer may have to know of connections that are young: under these, or those that are left from before.
  [[nodiscard]] bool minds_young() const { return minds_young_; }
  /// What endpoints of connections that begin now go by. They keep it when policies are exchanged; one that has
  /// outlived 65 535 exchanges goes by that of newer ones.
  [[nodiscard]] const tcp::EndpointConfig& legs() const { return legs_[generation_]; }

 private:
  void enforce(const Policies& policies);

  const Policies* current_ = nullptr;
  tcp::DisturbanceStore& disturbances_;
  std::uint16_t generation_ = 1;
  bool minds_young_ = false;
  flow::LazyArray<tcp::EndpointConfig> legs_;  ///< by generation
};

}  // namespace sluice::proxy
