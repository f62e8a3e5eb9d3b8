#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/units/ip_address.hpp"
#include "proxy/policy/treatment.hpp"

namespace sluice::proxy {

/// Both ends included.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  bool operator==(const PortRange&) const = default;
};

/// What a policy is chosen by: of the SYN that opens a connection.
struct ConnectionView {
  IpAddress ue;
  IpAddress server;
  std::uint16_t server_port = 0;
  std::uint8_t dscp = 0;
};

/// A treatment for the connections that it matches. A list that is empty matches everything.
struct Policy {
  std::vector<IpPrefix> ue;
  std::vector<IpPrefix> server;
  std::vector<PortRange> ports;  ///< of the server
  std::vector<std::uint8_t> dscp;
  Treatment treatment;

  [[nodiscard]] bool matches(const ConnectionView& connection) const;
};

using PolicyIndex = std::uint16_t;

/// All treatments in force at a time: the first policy that matches decides, then the default. Immutable; a switch
/// puts another one in its place.
struct Policies {
  Treatment otherwise;
  std::vector<Policy> list;
  double control_group = 0;  ///< share of the UEs that stay on ordinary TCP, 0 … 1
  tcp::EndpointConfig legs;  ///< of connections that are split while this is in force

  /// The position of the policy in the list; its length for the default.
  [[nodiscard]] PolicyIndex choose(const ConnectionView& connection) const {
    return list.empty() ? PolicyIndex{0} : first_match(connection);
  }
  [[nodiscard]] const Treatment& treatment(PolicyIndex index) const {
    return index < list.size() ? list[index].treatment : otherwise;
  }
  /// Whether a UE belongs to the control group: the same on every shard, at every start.
  [[nodiscard]] bool in_control_group(const IpAddress& ue) const;
  /// Some connections are steered by the Node-B's reports.
  [[nodiscard]] bool needs_feedback() const;
  /// Under some of them bearers have to know of connections that are young.
  [[nodiscard]] bool minds_young() const;
  /// Every connection is forwarded untouched.
  [[nodiscard]] bool only_bypass() const { return list.empty() && otherwise.mode == Mode::bypass; }

 private:
  [[nodiscard]] PolicyIndex first_match(const ConnectionView& connection) const;
};

}  // namespace sluice::proxy
