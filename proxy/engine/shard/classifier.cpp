// Entry of received frames into a shard: parses each burst, looks up the connections and dispatches each frame.
// Shard::receive() calls it once per burst. The fast path is a segment of a split connection (SplitFlows::receive).
// Invariant: a connection id found at the start of a burst is used only while no connection was removed since;
// otherwise the lookup is repeated. Every frame is counted once as received and leaves the burst.
#include "proxy/engine/shard/classifier.hpp"

#include <algorithm>

#include "dataplane/packet/mss_option.hpp"
#include "proxy/engine/flow_table/checksum.hpp"
#include "proxy/engine/shard/unsplittable.hpp"
#include "proxy/engine/split/icmp_errors.hpp"

namespace sluice::proxy {
namespace {

/// Parses a frame that is not of the most common form. A segment with a signature (TCP MD5 or TCP-AO) gets the same
/// parse result as a SYN with unknown options. The proxy then does not process it, because only its hosts can verify
/// the signature. See RxPacket::is_signed().
packet::ParseResult parse_uncommon(std::span<const std::uint8_t> frame, packet::Parsed& parsed) {
  constexpr std::uint8_t signatures = packet::UnknownOptions::md5 | packet::UnknownOptions::authentication;
  const packet::ParseResult result = packet::parse_any(frame, parsed);
  if (result == packet::ParseResult::tcp && (parsed.unknown_options.bits & signatures) != 0) [[unlikely]]
    return packet::ParseResult::tcp_options_unknown;
  return result;
}

}  // namespace

void Classifier::receive(Side in, std::span<packet::Packet> burst, Instant now) {
  shard_.counters.add(in == Side::radio ? Counter::received_radio : Counter::received_core, burst.size());
  if (burst.size() == 1) {
    receive_one(in, burst.front(), now);
  } else {
    receive_many(in, burst, now);
  }
}

void Classifier::receive_many(Side in, std::span<packet::Packet> burst, Instant now) {
  while (!burst.empty()) {
    const std::size_t count = std::min(burst.size(), ParsedBurst::most);
    receive_chunk(in, burst.first(count), now);
    burst = burst.subspan(count);
  }
}

/// Parses the packets of a burst and looks up their connections. Consecutive packets of one connection share one
/// lookup.
void Classifier::look_up(Side in, std::span<const packet::Packet> burst) {
  auto& [parsed, results, places, keys, ids, tags] = known_;
  for (const packet::Packet& packet : burst) __builtin_prefetch(packet.data());
  keys.begin(burst.size());
  std::size_t count = 0;
  flow::ShortKey before = flow::ShortKey::of_none();
  for (std::size_t i = 0; i < burst.size(); ++i) {
    const std::span<const std::uint8_t> frame = burst[i].bytes();
    if (packet::parse_fast(frame, parsed[i]) || packet::parse_fast_syn(frame, parsed[i])) [[likely]] {
      results[i] = packet::ParseResult::tcp;
      const flow::ShortKey key = key_of_common(in, frame);
      if (!(key == before)) keys.set(count++, key);
      before = key;
    } else {
      results[i] = parse_uncommon(frame, parsed[i]);
      const flow::FlowKey key = key_of(in, parsed[i]);
      if (count == 0 || !(keys.key(count - 1) == key)) keys.set(count++, key);
      before = keys.is_long(count - 1) ? flow::ShortKey::of_none() : keys.short_key(count - 1);
    }
    places[i] = static_cast<std::uint8_t>(count - 1);
  }
  keys.shrink(count);
  shard_.registry.connections().find_burst(keys, ids, tags);
}

/// Parses one packet and looks up its connection, without the loop and the prefetching of look_up().
void Classifier::look_up_one(Side in, const packet::Packet& packet) {
  packet::Parsed& parsed = known_.parsed[0];
  const std::span<const std::uint8_t> frame = packet.bytes();
  known_.places[0] = 0;
  if (packet::parse_fast(frame, parsed) || packet::parse_fast_syn(frame, parsed)) [[likely]] {
    known_.results[0] = packet::ParseResult::tcp;
    find_one(key_of_common(in, frame));
  } else {
    known_.results[0] = parse_uncommon(frame, parsed);
    find_one(key_of(in, parsed));
  }
}

template <typename Key>
inline void Classifier::find_one(const Key& key) {
  const flow::KeyTag tag = shard_.registry.connections().tag_of(key);
  known_.tags[0] = static_cast<std::uint32_t>(tag);
  known_.ids[0] = shard_.registry.connections().find(key, tag);
}

/// Handles a burst of one packet, which is the most frequent size at low load. Needs no second lookup, because no
/// earlier packet of the burst can add or remove a connection.
inline void Classifier::receive_one(Side in, packet::Packet& packet, Instant now) {
  look_up_one(in, packet);
  if (parts_.flows.takes(known_, 0)) [[likely]] {
    parts_.flows.receive(in, {&packet, 1}, known_, 0, now);
  } else {
    RxPacket rx{in, packet, known_.results[0], known_.parsed[0], known_.tag(0), now};
    handle(rx, known_.id(0));
    packet.reset();  // frees the packet if no handler took it
  }
  serve_pending(now);
}

/// Handles at most ParsedBurst::most packets. Looks up all their connections first. If a packet causes a connection to
/// be added or removed, the connections of later packets are looked up again where needed.
void Classifier::receive_chunk(Side in, std::span<packet::Packet> burst, Instant now) {
  look_up(in, burst);
  Registry& registry = shard_.registry;
  if (registry.flows().size() != 0 && grouping_.is_interleaved(known_, registry.connections())) {
    grouping_.group(burst, known_, registry.connections(), cross_traffic(in));
  }
  const std::uint32_t changes = registry.connections().changes();
  removals_ = registry.connections().removals();
  if (parts_.end_to_end.any()) prefetch_end_to_end();
  for (std::size_t i = 0; i < burst.size();) {
    const bool changed = registry.connections().changes() != changes;
    if ((!changed || registry.connections().removals() == removals_) && parts_.flows.takes(known_, i)) [[likely]] {
      i = parts_.flows.receive(in, burst, known_, i, now);
    } else {
      RxPacket rx{in, burst[i], known_.results[i], known_.parsed[i], known_.tag(i), now};
      handle(rx, changed ? find(i) : known_.id(i));
      burst[i].reset();  // frees the packet if no handler took it
      ++i;
    }
  }
  serve_pending(now);
}

/// Returns whether grouping a burst's segments by flow may move segments before cross traffic (packets of no split
/// connection) that arrived on `in`. It must not if a rate controller may limit that traffic.
inline BurstGrouping::CrossTrafficHandling Classifier::cross_traffic(Side in) const {
  return in == Side::core && parts_.forwarder.counts_radio() ? BurstGrouping::CrossTrafficHandling::limited
                                                             : BurstGrouping::CrossTrafficHandling::passed;
}

void Classifier::prefetch_end_to_end() const {
  const Registry& registry = shard_.registry;
  for (const ConnectionId id : std::span(known_.ids).first(known_.keys.size())) {
    if (registry.connections().is_end_to_end(id)) parts_.end_to_end.prefetch(registry.connections().end_to_end(id));
  }
}

void Classifier::receive_observed(Side in, std::span<packet::Packet> burst, Instant now, PacketObserver& observer) {
  shard_.counters.add(in == Side::radio ? Counter::received_radio : Counter::received_core, burst.size());
  while (!burst.empty()) {
    const std::size_t count = std::min(burst.size(), ParsedBurst::most);
    receive_chunk_observed(in, burst.first(count), now, observer);
    burst = burst.subspan(count);
  }
}

/// Processes packets like receive_chunk(), and also notifies the observer. It is a separate function, because a test
/// for an observer in receive_chunk() would cost time for every frame.
void Classifier::receive_chunk_observed(Side in, std::span<packet::Packet> burst, Instant now,
                                        PacketObserver& observer) {
  look_up(in, burst);
  for (std::size_t i = 0; i < burst.size(); ++i) {
    RxPacket rx{in, burst[i], known_.results[i], known_.parsed[i], known_.tag(i), now};
    observer.received(rx, shard_.counters);
    handle(rx, find(i));
    observer.on_done();
    burst[i].reset();
  }
  serve_pending(now);
}

/// Looks up again the connection of the packet at index `at` of the burst, and returns the connection's id.
ConnectionId Classifier::find(std::size_t at) const {
  return shard_.registry.connections().find(known_.keys.key(known_.places[at]), known_.tag(at));
}

inline void Classifier::handle(RxPacket& rx, ConnectionId id) {
  Registry& registry = shard_.registry;
  if (rx.is_tcp() && rx.segment().flags.syn()) [[unlikely]] {
    if (shard_.config.clamp_mss) clamp_mss(rx);
    if (parts_.flows.has_pending()) id = find_after_reset(rx, id);
  }
  if (rx.is_tcp() && registry.connections().is_flow(id) && registry.flow(id).phase == FlowPhase::split &&
      !is_reused(rx, registry.flow(id))) [[likely]] {
    parts_.flows.receive(rx, id);
  } else if (rx.is_tcp() && registry.connections().is_end_to_end(id)) {
    handle_end_to_end(rx, registry.connections().end_to_end(id));
  } else if (rx.is_tcp() && id == flow::no_flow) {
    handle_new(rx);
  } else {
    handle_other(rx, id);
  }
}

/// Lowers the MSS that a SYN announces to the largest one that both ports carry, as routers do (MSS clamping). Larger
/// segments of the other host would be lost at a port. This applies to split and forwarded connections alike. A SYN
/// with a signature is not changed, because the signature may cover the option. SYNs that the proxy does not parse,
/// such as fragments, stay as they are, too.
[[gnu::cold, gnu::noinline]] void Classifier::clamp_mss(RxPacket& rx) const {
  constexpr std::uint8_t signatures = packet::UnknownOptions::md5 | packet::UnknownOptions::authentication;
  std::uint16_t most = packet::LinkLimit::none;
  for (const packet::LinkLimit& port : shard_.queue.ports())
    most = std::min(most, port.mss(rx.packet.bytes(), rx.parsed.l4_offset + packet::tcp_length));
  if (rx.segment().syn.mss <= most || (rx.parsed.unknown_options.bits & signatures) != 0) return;
  if (packet::lower_mss(rx.packet, rx.parsed, most)) shard_.counters.add(Counter::mss_clamped);
}

/// Returns the id of the connection to which a SYN belongs. `id` is the connection that had the SYN's addresses and
/// ports when the burst began. If the sender of the SYN has reset that connection earlier in the burst, the reset is
/// forwarded first. The SYN then begins a new connection.
ConnectionId Classifier::find_after_reset(const RxPacket& rx, ConnectionId id) {
  Registry& registry = shard_.registry;
  if (!registry.connections().is_flow(id)) return id;
  const Flow& flow = registry.flow(id);
  if (flow.phase != FlowPhase::split || !flow.leg(rx.in).endpoint.is_over()) return id;
  parts_.flows.serve_one(id, rx.now);
  return registry.connections().find(rx.key(), rx.tag);
}

/// True if a SYN has the addresses and ports of a connection whose two legs are both closed. The SYN then begins a new
/// connection.
inline bool Classifier::is_reused(const RxPacket& rx, const Flow& flow) const {
  const tcp::Flags flags = rx.segment().flags;
  return flags.syn() && !flags.ack() && relay::both_legs_closed(flow) &&
         !is_damaged(shard_.config, rx.in, rx.packet, rx.parsed, false);
}

void Classifier::handle_other(RxPacket& rx, ConnectionId id) {
  if (!rx.is_tcp()) {
    handle_unparsed(rx);
  } else if (shard_.registry.flow(id).phase == FlowPhase::split) {
    parts_.flows.close(id, rx.now);
    handle_new(rx);
  } else if (shard_.registry.flow(id).phase == FlowPhase::handing_back) {
    parts_.handback_router.pass_during_handback(rx, id);
  } else {
    parts_.handshakes.on_handshake_segment(rx, id);
  }
}

void Classifier::handle_unparsed(RxPacket& rx) {
  const Counter counter = counter_of_unread(rx);
  if (packet::disposition(rx.result) == packet::Disposition::drop) {
    shard_.counters.add(counter);
    return;
  }
  parts_.handback_router.on_unsplittable(rx);
  if (rx.result == packet::ParseResult::icmp) icmp_errors::receive(shard_, parts_.flows, rx);
  parts_.forwarder.forward(rx, counter);
}

void Classifier::handle_new(RxPacket& rx) {
  if (parts_.crashed_connections && end_crashed(rx)) return;
  if (parts_.handback_router.track_released(rx)) return;
  parts_.handshakes.on_untracked(rx);
}

void Classifier::handle_end_to_end(RxPacket& rx, EndToEndId id) {
  if (rx.segment().flags.syn()) [[unlikely]] {
    const bool is_own = parts_.end_to_end.is_own_syn(id, rx.in, rx.segment());
    if (!is_own && parts_.handshakes.on_conflicting_syn(rx)) return;
    const bool unclear = is_own && parts_.end_to_end.leaves_options_unclear(id, rx.in, rx.segment());
    if (unclear && parts_.handshakes.leave_to_hosts(rx, Counter::forward_handshake_unclear)) return;
    const bool is_small = is_own && parts_.end_to_end.announces_small_mss(id, rx.in, rx.segment());
    if (is_small && parts_.handshakes.leave_to_hosts(rx, Counter::forward_small_mss)) return;
  }
  if (parts_.end_to_end.to_be_split(id)) [[unlikely]] {
    parts_.handback_router.pass_until_split(rx, id);
  } else {
    parts_.forwarder.pass_end_to_end(rx, id);
  }
}

bool Classifier::end_crashed(const RxPacket& rx) {
  CrashedConnections& crashed_connections = *parts_.crashed_connections;
  const std::uint32_t id = crashed_connections.find(rx.key());
  if (id == CrashedConnections::none) return false;
  if (rx.segment().flags.syn() && !crashed_connections.is_own_syn(id, rx.in, rx.segment())) {
    crashed_connections.forget(id);  // the SYN reuses the addresses for a new connection
    return false;
  }
  const packet::ChecksumState checksum = packet::verify_tcp_checksum(rx.packet, rx.parsed);
  // The record of whether this host leaves checksums unfinished was lost with the connection. Such a checksum is
  // accepted, because nothing of the segment is forwarded.
  if (checksum != packet::ChecksumState::good &&
      !accept_unfinished(shard_.config, shard_.counters, rx.in, checksum, true))
    return true;
  shard_.counters.add(Counter::drop_orphan);
  if (crashed_connections.answer(id, rx.in, rx.segment(), rx.now, shard_)) {
    shard_.counters.add(Counter::orphans_reset);
  }
  return true;
}

}  // namespace sluice::proxy
