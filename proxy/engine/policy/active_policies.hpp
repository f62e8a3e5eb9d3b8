#pragma once

#include <cstdint>

#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/tcp/recovery_state.hpp"
#include "proxy/engine/policy/policy.hpp"

namespace sluice::proxy {

/// Policies that apply to new connections of a shard. Also contains the endpoint configurations of connections that
/// began under earlier policies. Thread: the shard's.
class ActivePolicies {
 public:
  /// Activates `first`. The caller must keep `first` until exchange() has replaced it and no bearer refers to it any
  /// more. `recovery_states` must outlive this object.
  ActivePolicies(const Policies& first, tcp::RecoveryStatePool& recovery_states);

  /// Activates other policies. The caller must then move all flows from bearers of the old policies to new bearers.
  /// Meanwhile a UE can have bearers of both, so there may be up to twice as many bearers as before. A flow keeps its
  /// old bearer if the maximum number is reached.
  void exchange(const Policies& policies);
  /// Returns the active policies.
  [[nodiscard]] const Policies& current() const { return *current_; }
  /// Returns the generation number of the active policies. Bearers that were created under earlier policies have a
  /// different one.
  [[nodiscard]] std::uint16_t generation() const { return generation_; }
  /// True if a controller gives short flows (less than smvs.short_flow sent) priority, under the active policies or any
  /// earlier ones. The proxy then counts the short flows.
  [[nodiscard]] bool prioritizes_short_flows() const { return prioritizes_short_flows_; }
  /// True if at least one of the active policies permits counting the answers to QUIC downloads, that is, short
  /// datagrams of the UE.
  [[nodiscard]] bool counts_answers() const { return counts_answers_; }
  /// True if at least one of the active policies lowers the rate signal of SCONE packets, or would do so in mode
  /// observe.
  [[nodiscard]] bool advises_rates() const { return advises_rates_; }
  /// True if at least one of the active policies advises a share of the link's long-term rate to QUIC senders. Policies
  /// that would do so in mode observe count too.
  [[nodiscard]] bool advises_link_rates() const { return advises_link_rates_; }
  /// True if at least one of the active policies permits dropping or marking packets from UEs whose packets wait long
  /// for their uplink. Policies that would do so in mode observe count too.
  [[nodiscard]] bool controls_uplink() const { return controls_uplink_; }
  /// True if at least one of the active policies forwards cross traffic (packets of no split or end-to-end connection,
  /// such as QUIC) at once. If not, all cross traffic may wait in the UE's queue, and no policy need be looked up for a
  /// datagram.
  [[nodiscard]] bool passes_cross_traffic() const { return passes_cross_traffic_; }
  /// Returns the endpoint configuration for new connections. A connection keeps it when policies are replaced.
  /// Generation numbers repeat after 65 535 replacements; a connection that is older then uses the configuration of the
  /// newer generation.
  [[nodiscard]] const tcp::EndpointConfig& legs() const { return legs_[generation_]; }

 private:
  /// Makes `policies` the active ones and stores their endpoint configuration under generation_.
  void enforce(const Policies& policies);

  const Policies* current_ = nullptr;
  tcp::RecoveryStatePool& recovery_states_;
  /// Secret key from which the proxy's TCP endpoints compute random segment boundaries. Hosts cannot predict them. If a
  /// host acknowledges data before it arrives, its ACKs do not end at these boundaries, and the proxy detects that.
  /// Later policies reuse the key, because a configuration file contains none.
  std::uint64_t boundary_secret_;
  std::uint16_t generation_ = 1;
  bool prioritizes_short_flows_ = false;
  bool passes_cross_traffic_ = false;
  bool counts_answers_ = false;
  bool advises_rates_ = false;
  bool advises_link_rates_ = false;
  bool controls_uplink_ = false;

  /// endpoint configurations, indexed by the generation of the policies under which a connection began
  flow::LazyArray<tcp::EndpointConfig> legs_;
};

}  // namespace sluice::proxy
