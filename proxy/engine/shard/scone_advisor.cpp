// Lowers the rate signal of SCONE packets to UEs. Forwarder calls it for datagrams, before they may wait in a UE's
// queue. Invariant: a datagram changes only if a QUIC packet of the same connection follows its SCONE packet, and only
// towards a lower rate.
#include "proxy/engine/shard/scone_advisor.hpp"

#include <algorithm>
#include <span>

#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/scone.hpp"

namespace sluice::proxy {

/// True if one more datagram of the flow may be changed now; if so, counts the change. A token bucket of `max_changes`
/// tokens limits the changes. Tokens return with time, so changes at the start of a connection do not prevent changes a
/// minute later.
bool SconeAdvisor::may_change(flow::KeyTag flow, Instant now) {
  Entry& entry = entries_[static_cast<std::uint32_t>(flow) % flows];
  const auto earned = (now - entry.since) / change_interval;
  if (earned >= entry.changes) {
    entry = {flow, 0, now};
  } else {
    entry.changes = static_cast<std::uint8_t>(entry.changes - earned);
    entry.since += earned * change_interval;
  }
  if (entry.flow != flow || entry.changes >= max_changes) return false;
  ++entry.changes;
  return true;
}

bool SconeAdvisor::is_ue(const IpAddress& address) const {
  const auto& prefixes = shard_.config.ue_prefixes;
  return prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(),
                                         [&](const IpPrefix& prefix) { return prefix.contains(address); });
}

/// Returns the long-term rate of the UE's link; zero while it is unknown.
Rate SconeAdvisor::link_rate(const IpAddress& ue, Instant now) const {
  Registry& registry = shard_.registry;
  const BearerId id = registry.find_bearer(ue);
  return id == flow::no_flow ? Rate() : registry.link_rates().rate(registry.bearer(id), now);
}

void SconeAdvisor::advise(RxPacket& rx) {
  const std::size_t l4 = rx.parsed.l4_offset;
  const std::size_t end = rx.parsed.frame_length();
  if (end < l4 + packet::udp_length || end > rx.packet.size()) return;
  const std::span<std::uint8_t> udp(rx.packet.data() + l4, end - l4);
  const std::span<const std::uint8_t> payload = udp.subspan(packet::udp_length);
  const packet::SconeFormat format = packet::scone_format(payload);
  if (format == packet::SconeFormat::none) [[likely]]
    return;
  const Policies& policies = shard_.registry.policies().current();
  const PolicySettings& settings = policies.settings(policies.choose(view_of(rx)));
  if (!advises_rates(settings) || !is_ue(rx.parsed.dst) || shard_.registry.in_control_group(rx.parsed.dst)) return;
  constexpr std::size_t length_at = 4;
  if (format == packet::SconeFormat::unmatched || packet::load_be16(udp.data() + length_at) != udp.size())
    return shard_.counters.add(Counter::scone_unmatched);
  const Rate rate = advised_rate(settings, advises_link_rates(settings) ? link_rate(rx.parsed.dst, rx.now) : Rate());
  if (rate <= Rate()) return shard_.counters.add(Counter::scone_rate_unknown);
  const std::uint8_t signal = packet::scone_signal_of(rate);
  if (packet::scone_signal(payload) <= signal) return shard_.counters.add(Counter::scone_kept);
  if (!may_change(rx.tag, rx.now)) return shard_.counters.add(Counter::scone_beyond_limit);
  if (settings.observes()) return shard_.counters.add(Counter::scone_observed);
  packet::set_scone_signal(udp, signal);
  shard_.counters.add(Counter::scone_lowered);
  if (rate != settings.scone_rate) shard_.counters.add(Counter::scone_lowered_to_link);
}

}  // namespace sluice::proxy
