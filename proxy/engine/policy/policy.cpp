#include "proxy/engine/policy/policy.hpp"

#include <algorithm>

#include "dataplane/flow/flow_key.hpp"

namespace sluice::proxy {
namespace {

/// True if the list is empty or one of its prefixes contains the address.
bool covers(const std::vector<IpPrefix>& prefixes, const IpAddress& address) {
  return prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(),
                                         [&](const IpPrefix& prefix) { return prefix.contains(address); });
}

}  // namespace

bool Policy::matches(const ConnectionView& connection) const {
  if (!covers(ue, connection.ue) || !covers(server, connection.server)) return false;
  const auto holds = [&](const PortRange& range) {
    return range.first <= connection.server_port && connection.server_port <= range.last;
  };
  if (!ports.empty() && std::none_of(ports.begin(), ports.end(), holds)) return false;
  return dscp.empty() || std::find(dscp.begin(), dscp.end(), connection.dscp) != dscp.end();
}

PolicyIndex Policies::first_match(const ConnectionView& connection) const {
  const auto first =
      std::find_if(list.begin(), list.end(), [&](const Policy& policy) { return policy.matches(connection); });
  return static_cast<PolicyIndex>(first - list.begin());
}

bool Policies::in_control_group(const IpAddress& ue) const {
  if (control_group <= 0) return false;
  constexpr flow::HashKey known{0x51ce0000a11ce5edU, 0};  // a fixed key selects the same UEs after every restart
  constexpr double two_to_the_53rd = 9007199254740992.0;
  flow::FlowKey key;
  key.ue = ue;
  return static_cast<double>(flow::hash(key, known) >> 11U) < control_group * two_to_the_53rd;
}

bool Policies::needs_feedback() const {
  return any([](const PolicySettings& settings) { return proxy::needs_feedback(settings.mode); });
}

bool Policies::counts_answers() const {
  return any(proxy::counts_answers);
}

bool Policies::advises_rates() const {
  return any(proxy::advises_rates);
}

bool Policies::advises_link_rates() const {
  return any(proxy::advises_link_rates);
}

bool Policies::controls_uplink() const {
  return any(proxy::controls_uplink);
}

bool Policies::passes_cross_traffic() const {
  return any([](const PolicySettings& settings) { return !queues_cross_traffic(settings); });
}

bool Policies::prioritizes_short_flows() const {
  return any([](const PolicySettings& settings) { return settings.prioritizes_short_flows(); });
}

}  // namespace sluice::proxy
