// Receive path of connections in transition between split and end to end. The classifier calls it for flows in
// FlowPhase::handing_back, for released connections, for candidates for splitting, and for fragments. Invariant: each
// byte is delivered either by the proxy's leg or by forwarding, depending on its position relative to the handback
// point (handback_point.hpp).
#include "proxy/engine/shard/handback_router.hpp"

#include <utility>

#include "dataplane/packet/ecn_field.hpp"
#include "dataplane/tcp/accurate_ecn.hpp"
#include "proxy/engine/end_to_end/handshake.hpp"
#include "proxy/engine/flow_table/checksum.hpp"
#include "proxy/engine/shard/unsplittable.hpp"
#include "proxy/engine/split/handback_point.hpp"

namespace sluice::proxy {

void HandbackRouter::pass_during_handback(RxPacket& rx, FlowId id) {
  const Side in = rx.in;
  Flow& flow = shard_.registry.flow(id);
  const packet::ChecksumState checksum = packet::verify_tcp_checksum(rx.packet, rx.parsed);
  if (!accept_checksum(shard_.config, shard_.counters, in, checksum, flow.handshake)) return;
  tcp::Endpoint& own = flow.leg(in).endpoint;
  const handback::Verdict verdict = handback::judge(flow, in, rx.segment(), advertised_to(flow, in));
  if (verdict.is_valid || verdict.is_for_proxy) flow.last_activity = rx.now;
  const bool of_own_data = own.held() != Bytes{};
  if (verdict.is_for_proxy) {
    packet::Packet payload;
    if (verdict.whole && rx.segment().payload_len != 0) {
      packet::strip_to_payload(rx.packet, rx.parsed);
      payload = std::move(rx.packet);
    }
    const tcp::SeqNum acked = own.snd_una();
    own.receive(verdict.ours, std::move(payload), rx.now);
    if (own.snd_una() != acked) relay::record_progress(flow, in, rx.now);
    flows_.schedule(flow, id, StreamEvents::all);
  }
  if (verdict.is_valid || verdict.forward) {
    const bool differed = handback::marks_differ(flow);
    join_marks(rx, flow, verdict, {of_own_data, checksum == packet::ChecksumState::good});
    if (differed && !handback::marks_differ(flow)) flows_.schedule(flow, id, StreamEvents::all);
  }
  if (verdict.forward && flow.successor != no_id) {
    forwarder_.pass_end_to_end(rx, flow.successor, UplinkAqm::Kind::counted);
    if (!end_to_end_.contains(flow.successor)) flow.successor = no_id;
    if (verdict.is_valid) record_passed(flow, in, rx.segment());
  } else if (verdict.forward) {
    if (verdict.is_valid) record_passed(flow, in, rx.segment());
    forwarder_.forward(rx, Counter::forward_handback);
  } else {
    shard_.counters.add(Counter::optimised);
    shard_.counters.add_controlled_bytes(false, rx.parsed.frame_length());
  }
}

/// Records the ACK number, window and data of a segment that is forwarded during a handback. The proxy's own segments
/// to the same host must not contain older numbers. The segment must be valid.
void HandbackRouter::record_passed(Flow& flow, Side in, const tcp::Segment& segment) const {
  tcp::Endpoint& other = flow.leg(opposite(in)).endpoint;
  if (flow.successor != no_id) {
    other.record_advertised(end_to_end_.edge_towards(flow.successor, in));
  } else {
    handback::record_advertised(flow, in, segment);
  }
  handback::record_acknowledged(flow, in, segment);
  handback::record_sent(flow, in, segment.seq + segment.length());
  if (segment.payload_len != 0) flow.leg(in).passed_by = true;
}

/// Records a segment of a kind that a split does not support, and that is forwarded during a handback. Its data may lie
/// behind the handback point, the sequence number up to which the proxy delivers data.
void HandbackRouter::record_unread(Flow& flow, Side in, const tcp::Segment& segment, Instant now) {
  if (!handback::judge(flow, in, segment, advertised_to(flow, in)).is_valid) return;
  if (flow.successor != no_id) end_to_end_.record_unsplittable(flow.successor, in, segment, now);
  record_passed(flow, in, segment);
  // The length of the data is unknown. The larger MSS bounds it, because a host may not have received a repeated SYN
  // with a smaller one.
  const Handshake& seen = flow.handshake;
  const std::uint16_t mss = std::max(seen.responder_options.mss, seen.initiator_options.mss);
  handback::record_sent(flow, in, segment.seq + mss);
  flow.leg(in).passed_by = true;
}

/// Returns the rightmost window edge that was advertised to the host on side `host`. The proxy or, during a handback,
/// the other host has advertised it.
tcp::SeqNum HandbackRouter::advertised_to(const Flow& flow, Side host) const {
  const tcp::SeqNum edge = flow.leg(host).endpoint.rcv_adv();
  if (flow.successor == no_id) return edge;
  return tcp::later(edge, end_to_end_.edge_towards(flow.successor, opposite(host)));
}

/// Continues the counts of ECN marks (RFC 9768) across the handback of a connection to its hosts. In the name of a
/// host, the proxy may have reported more marks than that host has counted. Until the host has counted as many, the ACE
/// field of its forwarded segments keeps the value that the proxy sent before. If the receiver of this segment is such
/// a host, data in the segment is marked CE, so that the host's count rises. After a FIN or RST nothing is rewritten or
/// marked, because the hosts do not use the counts any more.
void HandbackRouter::join_marks(RxPacket& rx, const Flow& flow, const handback::Verdict& verdict, SegmentContext how) {
  tcp::AccurateEcn* const from = flow.leg(rx.in).endpoint.accurate_ecn();
  tcp::AccurateEcn* const to = flow.leg(opposite(rx.in)).endpoint.accurate_ecn();
  if (from == nullptr || to == nullptr) return;
  const tcp::Segment& segment = rx.segment();
  if (verdict.forward && (segment.flags.rst() || segment.flags.fin())) {
    from->end_join();
    to->end_join();
  }
  if (!verdict.is_valid) return;
  const std::uint8_t own = tcp::ace_of(segment.flags);
  const std::uint8_t ace = from->pass(segment, how.of_own_data, rx.now);
  if (!verdict.forward) return;
  if (ace != own) packet::write_ace(rx.packet.data() + rx.parsed.l4_offset, ace, how.summed);
  const bool capable = segment.ecn == tcp::ecn_scalable || segment.ecn == tcp::ecn_capable;
  // The count of the other host is not known while data of the proxy is in flight to it, which may be marked, too.
  const bool known = flow.leg(opposite(rx.in)).endpoint.held() == Bytes{};
  if (segment.payload_len == 0 || !known || !to->owes_mark()) return;
  to->pass_data(segment.ecn != 0);
  if (capable && packet::mark_congestion_experienced(rx.packet.data() + rx.parsed.ip_offset))
    to->mark_own(segment.seq + segment.payload_len);
}

bool HandbackRouter::track_if_released(RxPacket& rx) {
  Released& released = flows_.handback().released();
  const std::uint32_t id = released.find(rx.key());
  if (id == Released::none) return false;
  const tcp::Segment& segment = rx.segment();
  bool sound = true;
  const Counter reason = forwarded_since(released.reason(id));
  if (segment.flags.syn()) {
    const TrackedConnection& connection = released.connection(id);
    const bool own =
        rx.in == connection.initiator && !segment.flags.ack() && segment.seq == connection.handshake.initiator_isn;
    if (!own && handshakes_.on_conflicting_syn(rx)) return true;
  } else if (sound = is_sound(released.connection(id), rx); sound && rx.result == packet::ParseResult::tcp) {
    const bool may_split = handshakes_.accepts_new() && released.may_split_again(id, rx.now);
    TrackedConnection& connection = released.connection(id);
    if (may_split && connection.may_be_split(rx.in, segment) && split_released(id, rx)) {
      flows_.receive(rx, shard_.registry.connections().find(rx.key()));
      return true;
    }
    if (segment.payload_len != 0) released.record_data(id, rx.now);
    if (connection.track(rx.in, segment) == TrackedConnection::Tracked::ends_connection) released.forget(id);
  }
  forwarder_.forward(rx, reason, sound ? Forwarder::Checksum::finish : Forwarder::Checksum::keep);
  return true;
}

/// True if the segment's checksum is correct. An unfinished checksum (left to an offload) counts as correct if the
/// host's SYN had one too. The SYN of a connection that an earlier run had split is unknown. For such a connection an
/// unfinished checksum is accepted and recorded until its sequence numbers are known.
bool HandbackRouter::is_sound(TrackedConnection& connection, const RxPacket& rx) const {
  Handshake& shown = connection.handshake;
  if (connection.numbers_unknown && shard_.config.accepts_partial_checksums(rx.in) &&
      is_unfinished(rx.packet, rx.parsed))
    shown.record_checksum(rx.in, true, true);
  return !is_damaged(shard_.config, rx.in, rx.packet, rx.parsed, shown.leaves_unfinished(rx.in));
}

/// Creates a split flow for a connection that has passed end to end. The caller must then pass this segment to the flow
/// as the first one. Returns false if the flow table is full.
bool HandbackRouter::split_again(const TrackedConnection& connection, PolicyIndex policy, const RxPacket& rx) {
  const FlowId id = shard_.registry.open(rx.key(), policy, rx.now);
  if (id == no_id) return false;
  Flow& flow = shard_.registry.flow(id);
  connection.restore(rx.in, rx.segment(), flow, flows_.endpoint_configs(flow, id), rx.now);
  flows_.begin(flow, id, rx.now);
  return true;
}

/// Splits a connection again that was handed back to its hosts before. `released` is its index in the table Released.
/// The split begins with this segment. Returns false if the flow table is full, or if the policy no longer requires a
/// split.
bool HandbackRouter::split_released(std::uint32_t released, const RxPacket& rx) {
  const Policies& policies = shard_.registry.policies().current();
  const PolicyIndex policy = policies.choose(view_of(rx));
  if (!policies.settings(policy).splits()) return false;
  Released& all = flows_.handback().released();
  if (!split_again(all.connection(released), policy, rx)) return false;
  shard_.registry.flow(shard_.registry.connections().find(rx.key())).unsplittable_seen =
      all.unsplittable_seen(released) & 15U;
  all.forget(released);
  shard_.counters.add(Counter::flows_split_again);
  return true;
}

void HandbackRouter::pass_until_split(RxPacket& rx, EndToEndId id) {
  const bool shown = end_to_end_.leaves_unfinished(id, rx.in);
  const bool sound =
      rx.result == packet::ParseResult::tcp && !is_damaged(shard_.config, rx.in, rx.packet, rx.parsed, shown);
  if (sound && handshakes_.accepts_new() && shard_.registry.has_space() &&
      end_to_end_.may_be_split(id, rx.in, rx.segment())) {
    const PolicyIndex policy = end_to_end_.policy_of(id);
    const TrackedConnection connection = end_to_end_.give_up(id, rx.now);
    if (split_again(connection, policy, rx)) {
      shard_.counters.add(Counter::flows_split_by_switch);
      flows_.receive(rx, shard_.registry.connections().find(rx.key()));
    } else {  // cannot happen: there is a free place, and the key is free
      forwarder_.forward(rx, Counter::forward_flow_limit);
    }
    return;
  }
  if (sound) end_to_end_.track(id, rx.in, rx.packet, rx.parsed);
  forwarder_.pass_end_to_end(rx, id);
}

void HandbackRouter::on_unsplittable(const RxPacket& rx) {
  const Side in = rx.in;
  const auto begun = read_unsplittable(rx.packet, rx.parsed, rx.result);
  if (!begun || (rx.is_signed() && is_damaged(shard_.config, rx.in, rx.packet, rx.parsed, true))) return;
  Registry& registry = shard_.registry;
  Released& released = flows_.handback().released();
  const flow::FlowKey key = key_of(in, *begun);
  const ConnectionId id = registry.connections().find(key);
  if (id == flow::no_flow) return released.record_unsplittable(key, in, begun->segment, rx.now);
  if (registry.connections().is_end_to_end(id))
    return end_to_end_.record_unsplittable(registry.connections().end_to_end(id), in, begun->segment, rx.now);
  Flow& flow = registry.flow(id);
  if (flow.phase == FlowPhase::handing_back) return record_unread(flow, in, begun->segment, rx.now);
  if (flow.terminated()) {
    if (!flow.leg(in).endpoint.is_plausible(begun->segment)) return;
    const bool news = flow.release_reason != ReleaseReason::released_unsplittable;
    if (news && flow.unsplittable_seen < Released::max_unsplittable) ++flow.unsplittable_seen;
    flow.release_reason = ReleaseReason::released_unsplittable;
  } else {
    if (!handshake::is_plausible(flow, in, begun->segment)) return;
    handshakes_.record_unsplit(key, counter_of_unread(rx), rx.now);
    flow.release_reason = ReleaseReason::never_split;
  }
  flows_.schedule(flow, id, StreamEvents::all);
  // The handback point must be set before later segments of the same burst are processed.
  flows_.serve_pending(rx.now);
  // The data of this segment lies behind the handback point.
  if (const ConnectionId left = registry.connections().find(key); left == flow::no_flow) {
    released.record_unsplittable(key, in, begun->segment, rx.now);
  } else if (registry.flow(left).phase == FlowPhase::handing_back) {
    record_unread(registry.flow(left), in, begun->segment, rx.now);
  }
}

}  // namespace sluice::proxy
