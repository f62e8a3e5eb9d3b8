#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/units/ip_address.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::proxy {

/// Range of port numbers, including both ends.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  bool operator==(const PortRange&) const = default;
};

/// Properties of a SYN or a datagram by which a policy is chosen.
struct ConnectionView {
  IpAddress ue;
  IpAddress server;
  std::uint16_t server_port = 0;
  std::uint8_t dscp = 0;
};

/// A policy: settings for all connections that match each of its lists (UEs, servers, ports, DSCPs). An empty list
/// matches every connection.
struct Policy {
  std::vector<IpPrefix> ue;
  std::vector<IpPrefix> server;
  std::vector<PortRange> ports;  ///< ranges of server ports
  std::vector<std::uint8_t> dscp;
  PolicySettings settings;

  /// True if the connection matches every list of the policy.
  [[nodiscard]] bool matches(const ConnectionView& connection) const;
};

/// Index of a policy in Policies::list. The length of the list stands for the default settings.
using PolicyIndex = std::uint16_t;

/// Complete set of policies. For a connection, the first policy that matches applies, or else the default settings. The
/// set never changes; other policies replace it as a whole.
struct Policies {
  PolicySettings otherwise;  ///< settings of connections that match no policy
  std::vector<Policy> list;
  /// share of the UEs, 0 … 1, that form the control group, which no rate controller limits
  double control_group = 0;
  tcp::EndpointConfig legs;  ///< configuration of the endpoints of connections that are split under these policies

  /// Returns the index of the first policy that matches the connection. Returns the length of the list if the default
  /// settings apply.
  [[nodiscard]] PolicyIndex choose(const ConnectionView& connection) const {
    return list.empty() ? PolicyIndex{0} : first_match(connection);
  }
  /// Returns the settings of the policy with this index, or the default settings if the index is the length of the
  /// list.
  [[nodiscard]] const PolicySettings& settings(PolicyIndex index) const {
    return index < list.size() ? list[index].settings : otherwise;
  }
  /// True if the UE is in the control group, which no rate controller limits. A fixed hash of the address decides, so
  /// that every shard and every run gets the same result.
  [[nodiscard]] bool in_control_group(const IpAddress& ue) const;
  /// True if at least one policy, or the default settings, select a mode that uses feedback: Node-B reports or ACKs.
  [[nodiscard]] bool needs_feedback() const;
  /// True if at least one policy, or the default settings, select a controller that prefers short flows, which have
  /// sent less than smvs.short_flow.
  [[nodiscard]] bool prioritizes_short_flows() const;
  /// True if at least one policy, or the default settings, permit counting the answers to QUIC downloads, that is,
  /// short datagrams of the UE.
  [[nodiscard]] bool counts_answers() const;
  /// True if at least one policy, or the default settings, lower the rate signal of SCONE packets, or would do so in
  /// mode observe.
  [[nodiscard]] bool advises_rates() const;
  /// True if at least one policy, or the default settings, advise a share of the link's long-term rate to QUIC senders.
  /// Settings that would do so in mode observe count too.
  [[nodiscard]] bool advises_link_rates() const;
  /// True if at least one policy, or the default settings, permit dropping or marking packets from UEs whose packets
  /// wait long for their uplink. Settings that would do so in mode observe count too.
  [[nodiscard]] bool controls_uplink() const;
  /// True if at least one policy, or the default settings, forward cross traffic (packets of no split or end-to-end
  /// connection, such as QUIC) at once.
  [[nodiscard]] bool passes_cross_traffic() const;
  /// True if the default settings apply to all connections and select mode bypass. Every connection is then forwarded
  /// unchanged.
  [[nodiscard]] bool only_bypass() const { return list.empty() && otherwise.mode == Mode::bypass; }

 private:
  /// True if the predicate `holds` is true for the settings of at least one policy, or for the default settings.
  template <typename Holds>
  [[nodiscard]] bool any(Holds holds) const {
    return holds(otherwise) ||
           std::any_of(list.begin(), list.end(), [&](const Policy& policy) { return holds(policy.settings); });
  }
  [[nodiscard]] PolicyIndex first_match(const ConnectionView& connection) const;
};

}  // namespace sluice::proxy
