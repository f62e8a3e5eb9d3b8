// Receive path of connections that pass end to end: what each segment updates, and whether it is forwarded now or
// delayed. Shard's forwarder calls EndToEndFlows::receive(). Invariant: only plausible segments with a good checksum
// (RFC 5961) update state; all others pass unchanged.

#include <algorithm>
#include <utility>

#include "proxy/engine/end_to_end/end_to_end_flows.hpp"

namespace sluice::proxy {
namespace {

/// Maximum number of delayed ACKs of one connection.
constexpr std::uint16_t max_held = 256;
/// Number of duplicate ACKs that indicate a loss (RFC 5681 section 3.2).
constexpr std::uint8_t duplicates_of_a_loss = 3;

}  // namespace

void EndToEndFlows::receive(EndToEndId id, Side in, packet::Packet&& packet, const packet::Parsed& parsed,
                            bool is_valid, bool in_need, Instant now) {
  EndToEndFlow& flow = flows_[id];
  const tcp::Segment& segment = parsed.segment;
  const Bearer& bearer = parts_.registry.bearer(flow.bearer);
  parts_.records.count(ConnectionRecords::Table::end_to_end, id, in, parsed.ip_length);
  if (!is_valid) {
    parts_.counters.add(Counter::forward_regulated_unread);
    parts_.counters.add_passed_bytes(Counter::forward_regulated_unread, packet.size());
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    return;
  }
  const Counter counter = bearer.settings().can_regulate() ? Counter::forward_regulated : Counter::forward_tracked;
  parts_.counters.add(counter);
  if (bearer.rate_control().is_rate_controlled()) {
    parts_.counters.add_controlled_bytes(true, packet.size());
  } else {
    parts_.counters.add_passed_bytes(counter, packet.size());
  }
  if (segment.flags.syn() || segment.flags.rst()) [[unlikely]]
    return receive_syn_or_reset(flow, id, in, std::move(packet), parsed, now);
  const SegmentNumbers numbers = numbers_of(flow, in, segment);
  if (flow.phase == EndToEndPhase::syn || !is_plausible(flow, in, segment, numbers)) [[unlikely]] {
    record_announced(flow, id, in, segment, now);
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    return;
  }
  if (flow.half_open()) [[unlikely]]
    track_handshake(flow, in, numbers, now);
  if (!flow.half_open()) flow.last_activity = now;
  receive_ack(flow, id, in, std::move(packet), parsed, numbers.ack, in_need, now);
  if (segment.payload_len != 0) receive_data(flow, id, in, parsed, numbers, now);
  if (segment.flags.fin()) {
    flow.fins |= bit(in);
    if (flow.fins == (bit(Side::radio) | bit(Side::core))) flow.phase = EndToEndPhase::closing;
    schedule(flow, id);
  }
}

void EndToEndFlows::receive_syn_or_reset(EndToEndFlow& flow, EndToEndId id, Side in, packet::Packet&& packet,
                                         const packet::Parsed& parsed, Instant now) {
  const tcp::Segment& segment = parsed.segment;
  if (!segment.flags.rst()) {
    flow.learn_syn(in, segment, now);
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    return;
  }
  const bool ends = flow.half_open() ? flow.is_refused_by(in, segment)
                                     : is_plausible(flow, in, segment, numbers_of(flow, in, segment));
  if (ends) held_.release(flow, id, control::AckRelease::all(), now);
  pass(flow, in, std::move(packet), parsed.ip_length, now);
  if (ends) close(id, now, "reset");
}

/// Records the right edge of the receive window in a segment that is forwarded unchanged. Later ACKs must not move that
/// edge left (RFC 9293 section 3.8.6). ACKs that the proxy withholds are forwarded before the segment, so that ACKs
/// stay in order.
void EndToEndFlows::record_announced(EndToEndFlow& flow, EndToEndId id, Side in, const tcp::Segment& segment,
                                     Instant now) {
  if (flow.phase == EndToEndPhase::syn) return;
  const SegmentNumbers numbers = numbers_of(flow, in, segment);
  if (!may_announce(flow, in, segment, numbers)) return;
  if (in == Side::radio) held_.release(flow, id, control::AckRelease::all(), now);
  DataWay& way = flow.towards(in);
  // A segment without a verified checksum or with a wrong number could otherwise move the edge without limit.
  const Bytes ack = std::min(numbers.ack, way.sent + Bytes(max_beyond_edge));
  way.window.advertise(ack + way.window.in_bytes(segment.window));
}

/// Completes the handshake if the segment is the initiator's ACK of the SYN-ACK. A matching acknowledgement number
/// shows that the initiator has received the SYN-ACK.
void EndToEndFlows::track_handshake(EndToEndFlow& flow, Side in, const SegmentNumbers& numbers, Instant now) {
  if (in != flow.initiator || numbers.ack < Bytes{} || numbers.seq < Bytes{}) return;
  const Duration second_half = now - flow.handshake;
  flow.core_trip = flow.initiator == Side::radio ? flow.round_trip : second_half;
  flow.round_trip += second_half;
  establish(flow);
}

void EndToEndFlows::receive_data(EndToEndFlow& flow, EndToEndId id, Side in, const packet::Parsed& parsed,
                                 const SegmentNumbers& numbers, Instant now) {
  DataWay& way = flow.towards(opposite(in));
  const Bytes payload(parsed.segment.payload_len);
  const Bytes end = numbers.seq + payload;
  if (in == Side::core && EndToEndAckControl::watches(flow)) watch_data(flow, id, parsed, end, now);
  if (end <= way.sent) return parts_.records.count_repeated(id, opposite(in));
  static_cast<void>(way.position.of(parsed.segment.seq.raw()));
  way.sent = end;
  if (!flow.controller) return;
  // Both directions count, because the payload share of packets is the same for uploads and downloads.
  flow.controller->carried(payload, Bytes(parsed.ip_length));
  if (in == Side::core) flow.controller->on_sent(parts_.registry.bearer(flow.bearer), end);
}

void EndToEndFlows::watch_data(EndToEndFlow& flow, EndToEndId id, const packet::Parsed& parsed, Bytes end,
                               Instant now) {
  const bool counted = ack_control_.due(flow) != never;
  ack_control_.on_data(flow, parts_.registry.bearer(flow.bearer), parsed, end, now);
  if (!counted) schedule(flow, id);
}

void EndToEndFlows::receive_ack(EndToEndFlow& flow, EndToEndId id, Side in, packet::Packet&& packet,
                                const packet::Parsed& parsed, Bytes ack, bool in_need, Instant now) {
  const tcp::Segment& segment = parsed.segment;
  DataWay& way = flow.towards(in);
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  const Bytes newly = std::max(ack - way.acked, Bytes{});
  if (in == Side::radio && !flow.controller && bearer.rate_control().has_flow_windows())
    rewriter_.begin_controller(flow, bearer, now);
  if (in == Side::radio && EndToEndAckControl::limits_connections(bearer) && !flow.half_open()) [[unlikely]] {
    if (!EndToEndAckControl::watches(flow)) ack_control_.begin(flow, bearer, now);
    const bool nothing_left = ack_control_.on_ack(flow, bearer, segment, ack, now);
    if (nothing_left) schedule(flow, id);
    if (bearer.has_cross_traffic_queue()) parts_.registry.wake_cross_traffic(bearer.id);
  }
  way.acked = std::max(way.acked, ack);
  const bool bare = segment.payload_len == 0 && !segment.flags.fin();
  control::AckRelease releasable = control::AckRelease::all();
  if (in == Side::radio) {
    flow.duplicate_acks = bare && newly == Bytes{} && way.sent > way.acked
                              ? static_cast<std::uint8_t>(std::min(flow.duplicate_acks + 1, 255))
                              : std::uint8_t{0};
    control::AckView view{now, ack, newly, way.window.in_bytes(segment.window), true, false};
    view.in_loss = flow.duplicate_acks == duplicates_of_a_loss;
    releasable = rewriter_.pass_to_controller(flow, bearer, view);
  }
  if (bearer.settings().observes()) {
    rewriter_.observe(flow, bearer, in, ack, segment.window, bare && ack > releasable.up_to, now);
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    return;
  }
  const bool may_wait = bare && in == Side::radio && !in_need && !parts_.budget.is_low() && flow.held_count < max_held;
  const bool first_in_line = flow.held.empty() && (ack <= releasable.up_to || releasable.at_least > 0);
  if (may_wait && !first_in_line) {
    held_.hold(flow, id, std::move(packet), parsed.l4_offset, ack, now);
    schedule(flow, id);
    held_.release(flow, id, releasable, now);
    return;
  }
  if (in == Side::radio) held_.release(flow, id, control::AckRelease::all(), now);
  rewriter_.rewrite(flow, in, packet, parsed.l4_offset, ack, now);
  pass(flow, in, std::move(packet), parsed.ip_length, now);
}

/// Forwards a segment. If a controller may limit the UE, the bearer counts a segment to it as `ip_length` bytes sent,
/// because these bytes pass the radio queue.
void EndToEndFlows::pass(EndToEndFlow& flow, Side in, packet::Packet&& packet, std::uint16_t ip_length, Instant now) {
  if (Bearer& bearer = parts_.registry.bearer(flow.bearer); in == Side::core && bearer.counts()) {
    const Bearer::Traffic traffic =
        EndToEndAckControl::watches(flow) ? Bearer::Traffic::controlled : Bearer::Traffic::cross;
    bearer.on_sent(now, Bytes(ip_length), traffic);
  }
  parts_.queue.push(opposite(in), std::move(packet), now);
}

}  // namespace sluice::proxy
