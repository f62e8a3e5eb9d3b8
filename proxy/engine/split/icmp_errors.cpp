#include "proxy/engine/split/icmp_errors.hpp"

#include "dataplane/packet/icmp_error.hpp"
#include "proxy/engine/relay/leg_output.hpp"

namespace sluice::proxy::icmp_errors {
namespace {

/// Returns the key of the connection whose packet the ICMP error contains. If the error arrives from the radio side,
/// the server was the source of that packet.
flow::FlowKey key_of(Side in, const packet::IcmpError& error, const packet::Parsed& parsed) {
  if (in == Side::radio) return {error.dst, error.src, error.dst_port, error.src_port, parsed.networks};
  return {error.src, error.dst, error.src_port, error.dst_port, parsed.networks};
}

/// Returns the path MTU that the ICMP error contains. If an ICMP error of IPv4 contains none, returns the next plateau
/// of RFC 1191. Returns 0 if the value is not plausible for this IP version.
std::uint32_t plausible_mtu(const packet::IcmpError& error, std::uint8_t ip_version) {
  const bool unspecified = error.mtu == 0 && ip_version == 4;
  const std::uint32_t mtu = unspecified ? packet::plateau_below(error.ip_length) : error.mtu;
  return mtu >= packet::min_mtu(ip_version) && mtu < error.ip_length ? mtu : 0;
}

}  // namespace

void receive(const ShardContext& shard, SplitFlows& flows, const RxPacket& rx) {
  const Side in = rx.in;
  const auto error = packet::read_icmp_error(rx.packet, rx.parsed);
  if (!error) return;
  const FlowId id = shard.registry.connections().find(key_of(in, *error, rx.parsed));
  // Connections that are not split need no action, because the hosts process the forwarded error.
  if (!shard.registry.connections().is_flow(id) || !shard.registry.flow(id).terminated()) return;
  Flow& flow = shard.registry.flow(id);
  Leg& leg = flow.leg(in);
  const bool too_big = error->problem == packet::IcmpProblem::too_big;
  const std::uint32_t mtu = too_big ? plausible_mtu(*error, rx.parsed.ip_version) : 0;
  if (!leg.endpoint.is_outstanding(error->seq) || (too_big && mtu == 0)) {
    shard.counters.add(Counter::icmp_rejected);
    return;
  }
  shard.counters.add(Counter::icmp_accepted);
  if (!too_big) return;
  const LegOutput output(flow, in, nullptr, shard);
  const std::uint32_t headers = output.wire_size(0);
  const std::uint32_t payload = mtu > headers ? mtu - headers : 0;
  // If even the smallest segments exceed the MTU, DF is cleared so that routers fragment (RFC 1191 section 3).
  if (payload < tcp::Endpoint::min_payload) {
    leg.allows_fragmentation = true;
    leg.headers.dont_fragment = false;
  }
  if (!leg.endpoint.path_carries(error->seq, Bytes(payload), rx.now)) return;
  shard.counters.add(in == Side::radio ? Counter::paths_smaller_radio : Counter::paths_smaller_core);
  flows.schedule(flow, id, StreamEvents::all);
}

}  // namespace sluice::proxy::icmp_errors
