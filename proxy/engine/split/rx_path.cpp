// Receive path of split connections: verifies the checksum, selects cut-through, the pure-ACK fast path or the slow
// path, and schedules the flow. SplitFlows::receive() calls it for a burst or a single packet. Invariant: headers,
// timestamps and liveness are learned only from segments whose numbers the host itself can know (RFC 5961).
#include <utility>

#include "dataplane/packet/ecn_field.hpp"
#include "proxy/engine/flow_table/checksum.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {
namespace {

/// True if the segment's MAC addresses, VLAN tags, DSCP or TTL differ from the leg's header template, for example after
/// a router has failed. DF and flow label are compared only in data segments, because kernels use other values in
/// SYN-ACKs and RSTs.
bool outdated(const Leg& leg, const packet::Packet& packet, const packet::Parsed& parsed) {
  constexpr std::uint8_t dscp_mask = 0xfc;
  const packet::HeaderTemplate& known = leg.headers;
  if (!packet::same_link(known, packet)) return true;
  if (packet::same_ip_fields(known, parsed)) [[likely]]
    return false;
  if (known.ttl != parsed.ttl || ((known.tos ^ parsed.tos) & dscp_mask) != 0) return true;
  if (parsed.segment.payload_len == 0) return false;
  return (known.dont_fragment != parsed.dont_fragment && !leg.allows_fragmentation) ||
         known.flow_label != parsed.flow_label;
}

}  // namespace

/// Returns the bearer of the flow if the bearer's controller gets ACKs of the UE as input, else null.
inline Bearer* SplitFlows::ack_controlled_bearer(const Flow& flow) const {
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  return bearer.rate_control().uses_ack_feedback() ? &bearer : nullptr;
}

/// Slow path: passes one segment to the TCP endpoint that faces its sender, and schedules the flow. Returns true if the
/// endpoint accepts the segment's sequence and ACK numbers (RFC 9293 section 3.10.7.4). Only an accepted segment may
/// change the flow's other state, such as its header template.
template <Side in>
inline bool SplitFlows::deliver_segment(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow, FlowId id,
                                        Instant now) {
  const tcp::Segment& segment = parsed.segment;
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  const auto recoveries = own.endpoint.counters().fast_recoveries;
  const auto misplaced = own.endpoint.misplaced_acks();
  const tcp::SeqNum acked = own.endpoint.snd_una();
  StreamEvents events = StreamEvents::none;
  const bool brings = segment.payload_len != 0 || segment.flags.fin();
  if (brings && other.endpoint.snd_una() == own.endpoint.rcv_nxt()) relay::record_progress(flow, opposite(in), now);
  bool accepted = false;
  tcp::AckSample ack_sample;
  Bearer* const fed = in == Side::radio ? ack_controlled_bearer(flow) : nullptr;
  tcp::AckSample* const sample = fed != nullptr ? &ack_sample : nullptr;
  if (segment.payload_len != 0) {
    events = data_to(opposite(in));
    if (!buffer_quota_.accepts_payload(flow, in, segment)) [[unlikely]] {
      shard_.counters.add(Counter::payload_refused);
      packet.reset();
      accepted = own.endpoint.receive_without_payload(segment, now, sample);
    } else {
      shard_.budget.on_taken();
      packet::strip_to_payload(packet, parsed);
      accepted = own.endpoint.receive(segment, std::move(packet), now, sample);
    }
    if (accepted) [[likely]]
      own.has_sent_data = true;
  } else {
    packet.reset();
    accepted = own.endpoint.receive(segment, {}, now, sample);
  }
  if constexpr (in == Side::radio) {
    if (ack_sample.delivered != 0) feed_controller(flow, id, *fed, ack_sample, now);
  }
  if (!own.endpoint.on_fast_path() && own.endpoint.counters().fast_recoveries != recoveries) [[unlikely]] {
    shard_.counters.add(in == Side::radio ? Counter::fast_recoveries_radio : Counter::fast_recoveries_core);
  }
  if (own.endpoint.misplaced_acks() != misplaced) [[unlikely]] {
    shard_.counters.add(in == Side::radio ? Counter::acks_misplaced_radio : Counter::acks_misplaced_core);
  }
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  if (accepted) [[likely]]
    flow.last_activity = now;
  if (other.keepalive_passed && accepted) [[unlikely]] {
    other.keepalive_passed = false;
    other.endpoint.answer_keepalive();
  }
  if (own.endpoint.snd_una() != acked) {
    events = events | acked_by(in);
    relay::record_progress(flow, in, now);
  }
  pending_.schedule(flow, id, events != StreamEvents::none ? events : StreamEvents::all);
  return accepted;
}

/// Processes a segment whose headers differ from the leg's header template, for example after a route change. The
/// template is updated only if the segment's sequence and ACK numbers are valid.
template <Side in>
void SplitFlows::deliver_rerouted(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow, FlowId id,
                                  Instant now) {
  const Leg& leg = flow.leg(opposite(in));
  packet::HeaderTemplate& known = flow.leg(opposite(in)).headers;
  const packet::HeaderTemplate before = known;
  known = packet::learn(packet, parsed);
  if (leg.allows_fragmentation) known.dont_fragment = false;
  if (parsed.segment.payload_len == 0) {
    known.dont_fragment = before.dont_fragment;
    known.flow_label = before.flow_label;
  }
  if (!deliver_segment<in>(packet, parsed, flow, id, now)) known = before;
}

/// Passes consecutive segments to the endpoint together. They continue an earlier segment of the burst, for which
/// deliver_segment() has scheduled the flow. Only their checksums, link headers and the window are checked. Returns how
/// many were processed. Returns zero if the earlier segment brought no new data in order. The caller must then process
/// the next segment separately, because it may be forwarded in its received frame (cut-through).
template <Side in>
inline std::size_t SplitFlows::deliver_train(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed,
                                             Flow& flow, FlowId id, Instant now) {
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  if (!contains(flow.events, data_to(opposite(in))) || own.endpoint.unread() == Bytes{}) return 0;
  if (!own.endpoint.is_plain_next_segment(parsed[0].segment) || !own.has_sent_data || other.keepalive_passed) return 0;
  Bytes room = own.endpoint.advertised();
  std::size_t count = 0;
  for (; count < packets.size() && !shard_.budget.is_low(); ++count) {
    const packet::Parsed& next = parsed[count];
    room -= Bytes(next.segment.payload_len);
    if (room < Bytes{}) break;
    if (packet::verify_tcp_checksum(packets[count], next) != packet::ChecksumState::good) break;
    if (!packet::same_link(other.headers, packets[count])) break;
    shard_.budget.on_taken();
    packet::strip_to_payload(packets[count], next);
  }
  if (count == 0) return 0;
  shard_.counters.add(Counter::optimised, count);
  count_received(flow, id, in, parsed.first(count), now);
  own.endpoint.receive_run(parsed[count - 1].segment, packets.first(count), now);
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  flow.last_activity = now;
  return count;
}

/// Processes a data segment as if it had arrived with a CE mark (RFC 3168). The endpoint then reports congestion to the
/// UE.
template <Side in>
void SplitFlows::deliver_marked(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow, FlowId id,
                                Instant now) {
  packet::Parsed marked = parsed;
  marked.segment.ecn = packet::EcnField::congestion_experienced;
  deliver_segment<in>(packet, marked, flow, id, now);
}

/// Processes the first segment of a GRO run (consecutive segments of a flow) and those after it that can be processed
/// together with it. Returns how many were processed.
template <Side in>
inline std::size_t SplitFlows::receive_some(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed,
                                            Flow& flow, FlowId id, Instant now) {
  packet::Packet& first = packets.front();
  const packet::ChecksumState checksum = packet::verify_tcp_checksum(first, parsed.front());
  if (!accept_checksum(shard_.config, shard_.counters, in, checksum, flow.handshake)) [[unlikely]] {
    first.reset();
    return 1;
  }
  UplinkAqm::Signal signal = UplinkAqm::Signal::none;
  if (in == Side::radio && shard_.registry.policies().controls_uplink() && parsed.front().segment.payload_len != 0 &&
      flow.release_reason == ReleaseReason::none) [[unlikely]] {
    signal = uplink_.signal_for(parsed.front(), id, shard_.registry.bearer(flow.bearer), now);
    if (signal == UplinkAqm::Signal::drop) {
      first.reset();
      return 1;
    }
  }
  shard_.counters.add(Counter::optimised);
  count_received(flow, id, in, parsed.first(1), now);
  if (outdated(flow.leg(opposite(in)), first, parsed.front())) [[unlikely]] {
    deliver_rerouted<in>(first, parsed.front(), flow, id, now);
    return 1;
  }
  if (parsed.front().segment.payload_len == 0) {
    if (!receive_pure_ack<in>(first, parsed.front().segment, flow, id, now))
      deliver_segment<in>(first, parsed.front(), flow, id, now);
    return 1;
  }
  if (signal == UplinkAqm::Signal::mark) [[unlikely]] {
    deliver_marked<in>(first, parsed.front(), flow, id, now);
    return 1;
  }
  if (checksum == packet::ChecksumState::good) {
    if (const std::size_t passed = cut_through<in>(flow, id, packets, parsed, now); passed != 0) return passed;
  }
  deliver_segment<in>(first, parsed.front(), flow, id, now);
  if (packets.size() == 1) return 1;
  return 1 + deliver_train<in>(packets.subspan(1), parsed.subspan(1), flow, id, now);
}

template <Side in>
std::size_t SplitFlows::receive_run(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed,
                                    Flow& flow, FlowId id, Instant now) {
  return receive_some<in>(packets, parsed, flow, id, now);
}

// The receive path is compiled once for each side, because the addresses of both legs are then constants.
template <Side in>
std::size_t SplitFlows::receive_burst(std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at,
                                      Instant now) {
  Flow* flow = flow_of(known, at);
  do {
    const FlowId id = known.id(at);
    const std::size_t gro_run = known.is_followed(at, burst.size()) ? known.gro_run(at, burst.size()) : 1;
    if (gro_run > 1) {
      at += receive_run<in>(burst.subspan(at, gro_run), std::span(known.parsed).subspan(at, gro_run), *flow, id, now);
    } else {
      receive_some<in>(burst.subspan(at).template first<1>(), std::span(known.parsed).subspan(at).template first<1>(),
                       *flow, id, now);
      ++at;
    }
    flow = at < burst.size() ? flow_of(known, at) : nullptr;
  } while (flow != nullptr);
  return at;
}

void SplitFlows::receive(RxPacket& rx, FlowId id) {
  const std::span packets(&rx.packet, 1);
  const std::span parsed(&rx.parsed, 1);
  Flow& flow = shard_.registry.flow(id);
  if (rx.in == Side::radio) {
    receive_some<Side::radio>(packets, parsed, flow, id, rx.now);
  } else {
    receive_some<Side::core>(packets, parsed, flow, id, rx.now);
  }
}

std::size_t SplitFlows::receive(Side in, std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at,
                                Instant now) {
  return in == Side::radio ? receive_burst<Side::radio>(burst, known, at, now)
                           : receive_burst<Side::core>(burst, known, at, now);
}

}  // namespace sluice::proxy
