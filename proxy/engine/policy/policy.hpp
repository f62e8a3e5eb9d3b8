#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/units/ip_address.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::proxy {

/// Range of ports, both ends included.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  bool operator==(const PortRange&) const = default;
};

/// Properties of a connection's SYN by which its policy is chosen.
struct ConnectionView {
  IpAddress ue;
  IpAddress server;
  std::uint16_t server_port = 0;
  std::uint8_t dscp = 0;
};

/// Settings for the connections that match all lists of this policy. An empty list matches everything.
struct Policy {
  std::vector<IpPrefix> ue;
  std::vector<IpPrefix> server;
  std::vector<PortRange> ports;  ///< ranges of the server's port
  std::vector<std::uint8_t> dscp;
  PolicySettings settings;

  /// True if the connection matches every list of the policy.
  [[nodiscard]] bool matches(const ConnectionView& connection) const;
};

/// Index of a policy in Policies::list; the length of the list denotes the default settings.
using PolicyIndex = std::uint16_t;

/// Complete set of policies. The first policy that matches a connection applies, else the default settings. Immutable;
/// a policy switch replaces the whole set.
struct Policies {
  PolicySettings otherwise;  ///< settings of connections that match no policy
  std::vector<Policy> list;
  double control_group = 0;  ///< share of the UEs that stay on ordinary TCP, 0 … 1
  tcp::EndpointConfig legs;  ///< endpoint configuration of connections split under these policies

  /// Returns the index of the first policy that matches, or the length of the list for the default.
  [[nodiscard]] PolicyIndex choose(const ConnectionView& connection) const {
    return list.empty() ? PolicyIndex{0} : first_match(connection);
  }
  /// Returns the settings of the policy with this index.
  [[nodiscard]] const PolicySettings& settings(PolicyIndex index) const {
    return index < list.size() ? list[index].settings : otherwise;
  }
  /// True if the UE belongs to the control group. A fixed hash decides, so the result is the same on every shard and
  /// after every restart.
  [[nodiscard]] bool in_control_group(const IpAddress& ue) const;
  /// True if the mode of some policy uses feedback: Node-B reports or ACKs.
  [[nodiscard]] bool needs_feedback() const;
  /// True if the controller of some policy uses the number of short flows.
  [[nodiscard]] bool prioritizes_short_flows() const;
  /// True if every connection is forwarded unchanged, because no policy intercepts.
  [[nodiscard]] bool only_bypass() const { return list.empty() && otherwise.mode == Mode::bypass; }

 private:
  [[nodiscard]] PolicyIndex first_match(const ConnectionView& connection) const;
};

}  // namespace sluice::proxy
