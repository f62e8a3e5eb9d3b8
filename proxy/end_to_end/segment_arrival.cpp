// What passes end to end: what each segment tells, what the law says to it, and the window that goes on in it.

#include <algorithm>
#include <utility>

#include "dataplane/packet/checksum.hpp"
#include "proxy/end_to_end/end_to_end_flows.hpp"

namespace sluice::proxy {
namespace {

constexpr std::uint16_t most_held = 256;
/// So far behind what was acknowledged a segment may lie: a repetition, or one that was overtaken.
constexpr Bytes most_behind{1 << 20};
/// A host may take back a window, and probes the edge with a byte beyond it.
constexpr Bytes beyond_the_edge{UINT16_MAX};
constexpr std::int64_t least_segments = 2;
constexpr std::int64_t first_segments = 10;  ///< RFC 6928
constexpr std::uint8_t duplicates_of_a_loss = 3;
/// When reports stay away, what waits goes on with the ACKs that come, so many of the oldest with each. All at once
/// would be a burst into a queue of which nothing is known.
constexpr std::size_t per_ack_without_law = 2;

/// As the SYNs leave it.
KnownConnection from_the_start(EndToEndFlow& flow) {
  KnownConnection known;
  for (const Side receiver : {Side::radio, Side::core}) {
    const auto at = static_cast<std::size_t>(receiver);
    known.next.at(at) = flow.syn_of(opposite(receiver)).isn + 1;
    known.edge.at(at) = known.next.at(at) + flow.syn_of(receiver).window;
  }
  return known;
}

/// The reset that ends a handshake is exact (RFC 9293 section 3.10.7.3, RFC 5961 section 3.2).
bool refuses(const EndToEndFlow& flow, Side in, const tcp::Segment& reset) {
  const tcp::SeqNum initiator = flow.syn_of(flow.initiator).isn;
  if (in == flow.initiator) return reset.seq == initiator + 1;
  const bool answered = flow.phase == EndToEndPhase::syn_ack && reset.seq == flow.syn_of(in).isn + 1;
  return answered || (reset.flags.ack() && reset.ack == initiator + 1);
}

}  // namespace

/// Where a segment lies, by the furthest that was seen in each direction.
EndToEndFlows::Numbers EndToEndFlows::numbers_of(const EndToEndFlow& flow, Side in, const tcp::Segment& segment) {
  control::StreamPosition sent = flow.towards(opposite(in)).position;
  control::StreamPosition received = flow.towards(in).position;
  return {sent.of(segment.seq.raw()), received.of(segment.ack.raw())};
}

/// The receiving host would take it, as far as can be told (RFC 5961): it lies in the window that this one was
/// told, or not far behind what it has acknowledged, and acknowledges what has passed. A FIN takes a place of its
/// own behind the last byte. What acknowledges more than has passed is not of this connection, or went another way than
/// its data. A reset must be exact: behind what has passed, or where the other host stands.
bool EndToEndFlows::is_plausible(const EndToEndFlow& flow, Side in, const tcp::Segment& segment,
                                 const Numbers& numbers) {
  const DataWay& sent = flow.towards(opposite(in));
  const DataWay& received = flow.towards(in);
  if (segment.flags.rst()) {
    const Bytes fin((flow.fins & bit(in)) != 0 ? 1 : 0);
    return numbers.seq == sent.sent + fin || numbers.seq == sent.acked;
  }
  if (!segment.flags.ack()) return false;
  const bool in_window = numbers.seq >= sent.acked - most_behind &&
                         numbers.seq + Bytes(segment.payload_len) <= sent.window.edge() + beyond_the_edge;
  // Before the seam of a handback lies whatever the relay still holds.
  const bool recent = flow.successor || numbers.ack >= received.acked - most_behind;
  return in_window && recent && numbers.ack <= received.sent + Bytes(1);
}

void EndToEndFlows::note_unsplittable(EndToEndId id, Side in, const tcp::Segment& segment) {
  EndToEndFlow& flow = flows_[id];
  if (flow.phase == EndToEndPhase::syn || !is_plausible(flow, in, segment, numbers_of(flow, in, segment))) return;
  flow.splittable = false;
  leave_unsplit(flow);
}

void EndToEndFlows::receive(EndToEndId id, Side in, packet::Packet&& packet, const packet::Parsed& parsed,
                            bool believed, bool in_need, Instant now) {
  EndToEndFlow& flow = flows_[id];
  const tcp::Segment& segment = parsed.segment;
  if (!believed) {
    parts_.counters.add(Counter::forward_regulated_unread);
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    return;
  }
  const bool regulated = can_regulate(parts_.registry.bearer(flow.bearer).treatment().mode);
  parts_.counters.add(regulated ? Counter::forward_regulated : Counter::forward_tracked);
  if (segment.flags.syn() || segment.flags.rst()) [[unlikely]]
    return receive_syn_or_reset(flow, id, in, std::move(packet), parsed, now);
  const Numbers numbers = numbers_of(flow, in, segment);
  if (flow.phase == EndToEndPhase::syn || !is_plausible(flow, in, segment, numbers)) [[unlikely]] {
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    return;
  }
  if (flow.half_open()) [[unlikely]]
    track_handshake(flow, in, numbers, now);
  if (!flow.half_open()) flow.last_activity = now;
  receive_ack(flow, id, in, std::move(packet), parsed, numbers.ack, in_need, now);
  if (segment.payload_len != 0) receive_data(flow, in, parsed, numbers);
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
    learn_syn(flow, in, segment, now);
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    return;
  }
  const bool ends =
      flow.half_open() ? refuses(flow, in, segment) : is_plausible(flow, in, segment, numbers_of(flow, in, segment));
  if (ends) release(flow, id, control::AckRelease::all(), now);
  pass(flow, in, std::move(packet), parsed.ip_length, now);
  if (ends) close(id, now);
}

/// It is complete with an ACK that only somebody who has seen the SYN-ACK can know.
void EndToEndFlows::track_handshake(EndToEndFlow& flow, Side in, const Numbers& numbers, Instant now) {
  if (in != flow.initiator || numbers.ack < Bytes{} || numbers.seq < Bytes{}) return;
  flow.round_trip += now - flow.handshake;
  establish(flow);
}

/// Windows in SYNs are never scaled (RFC 7323 section 2.2), and nothing is written into them.
void EndToEndFlows::learn_syn(EndToEndFlow& flow, Side in, const tcp::Segment& segment, Instant now) {
  if (flow.phase != EndToEndPhase::syn) return;
  const bool answer = in != flow.initiator;
  if (segment.flags.ack() != answer) return;
  const tcp::SeqNum isn = flow.syn_of(flow.initiator).isn;
  if (answer ? segment.ack != isn + 1 : segment.seq != isn) return;
  flow.syn_of(in) = {segment.seq, segment.window, segment.syn};
  if (in == Side::radio) flow.segment = std::max(segment.syn.mss, least_segment);
  if (answer) {
    flow.round_trip = now - flow.handshake;
    begin(flow, from_the_start(flow));
    flow.phase = EndToEndPhase::syn_ack;
  }
  flow.handshake = flow.last_activity = now;
}

void EndToEndFlows::receive_data(EndToEndFlow& flow, Side in, const packet::Parsed& parsed, const Numbers& numbers) {
  DataWay& way = flow.towards(opposite(in));
  const Bytes payload(parsed.segment.payload_len);
  const Bytes end = numbers.seq + payload;
  if (end <= way.sent) return;
  static_cast<void>(way.position.of(parsed.segment.seq.raw()));
  way.sent = end;
  if (!flow.governed) return;
  // Either way: a share counted in packets is the same for uploads and downloads.
  flow.governed->carried(payload, Bytes(parsed.ip_length));
  if (in == Side::core) flow.governed->on_sent(parts_.registry.bearer(flow.bearer), end);
}

void EndToEndFlows::receive_ack(EndToEndFlow& flow, EndToEndId id, Side in, packet::Packet&& packet,
                                const packet::Parsed& parsed, Bytes ack, bool in_need, Instant now) {
  const tcp::Segment& segment = parsed.segment;
  DataWay& way = flow.towards(in);
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  const Bytes newly = std::max(ack - way.acked, Bytes{});
  if (in == Side::radio && !flow.governed && bearer.windowed()) begin_law(flow, bearer, now);
  way.acked = std::max(way.acked, ack);
  const bool bare = segment.payload_len == 0 && !segment.flags.fin();
  control::AckRelease go_on = control::AckRelease::all();
  if (in == Side::radio) {
    flow.duplicate_acks = bare && newly == Bytes{} && way.sent > way.acked
                              ? static_cast<std::uint8_t>(std::min(flow.duplicate_acks + 1, 255))
                              : std::uint8_t{0};
    control::AckView view{now, ack, newly, way.window.in_bytes(segment.window), true, false};
    view.in_loss = flow.duplicate_acks == duplicates_of_a_loss;
    go_on = ask_law(flow, bearer, view);
  }
  if (bearer.treatment().observes()) {
    observe(flow, bearer, in, ack, segment.window, bare && ack > go_on.up_to, now);
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    return;
  }
  const bool may_wait = bare && in == Side::radio && !in_need && !parts_.budget.tight() && flow.held_count < most_held;
  const bool first_in_line = flow.held.empty() && (ack <= go_on.up_to || go_on.at_least > 0);
  if (may_wait && !first_in_line) {
    hold(flow, id, std::move(packet), parsed.l4_offset, ack, now);
    release(flow, id, go_on, now);
    return;
  }
  if (in == Side::radio) release(flow, id, control::AckRelease::all(), now);
  rewrite(flow, in, packet, parsed.l4_offset, ack, now);
  pass(flow, in, std::move(packet), parsed.ip_length, now);
}

/// On a connection that carries data already the law goes on from its part of what the link was measured to take.
void EndToEndFlows::begin_law(EndToEndFlow& flow, Bearer& bearer, Instant now) {
  const DataWay& way = flow.towards(Side::radio);
  flow.governed.emplace(bearer, control::LawStart{flow.round_trip, Bytes(flow.segment)});
  const bool running = flow.running || way.acked > Bytes{};
  if (running && flow.round_trip > Duration::zero()) {
    const control::QueueView& queue = bearer.queue().view(now);
    const auto window = static_cast<double>(bearer.seed_window(flow.round_trip).count());
    flow.governed->seed(Bytes(window / queue.flows), queue);
  }
  flow.governed->on_released(way.acked, way.window.edge() - way.acked);
  flow.governed->on_sent(bearer, way.sent);
}

control::AckRelease EndToEndFlows::ask_law(EndToEndFlow& flow, Bearer& bearer, const control::AckView& ack) {
  if (!flow.governed) return control::AckRelease::all();
  if (!bearer.windowed()) return {Bytes(-1), per_ack_without_law};
  static_cast<void>(flow.governed->on_report(bearer, ack.now));
  return flow.governed->on_ack(bearer, ack);
}

/// Computes the window that would be written, and leaves everything as it is.
void EndToEndFlows::observe(EndToEndFlow& flow, Bearer& bearer, Side in, Bytes ack, std::uint16_t offered, bool waits,
                            Instant now) {
  DataWay& way = flow.towards(in);
  const std::uint16_t field = way.window.field(ack, offered, Bytes::max());
  if (in != Side::radio || !flow.governed || !bearer.windowed()) return;
  const Bytes window = std::max(flow.governed->window(bearer, ack, now), Bytes(flow.segment) * least_segments);
  bearer.observed.add(std::min(window, way.window.in_bytes(offered)), way.sent - way.acked, waits);
  flow.governed->on_released(ack, way.window.in_bytes(field));
}

/// Writes the window that goes into an ACK. Of ACKs towards the UE only those of a law for both ways are rewritten; the
/// other laws know the radio queue, where the UE's own data does not wait.
void EndToEndFlows::rewrite(EndToEndFlow& flow, Side in, packet::Packet& packet, std::uint16_t l4_offset, Bytes ack,
                            Instant now) {
  constexpr std::uint16_t window_at = 14;
  constexpr std::uint16_t checksum_at = 16;
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  DataWay& way = flow.towards(in);
  std::uint8_t* const header = packet.data() + l4_offset;
  const std::uint16_t offered = packet::load_be16(header + window_at);
  Bytes window = Bytes::max();
  if (in == Side::radio) {
    window = window_towards_radio(flow, bearer, ack, way.window.in_bytes(offered), now);
  } else if (flow.governed && bearer.windowed() && control::text_of(bearer.window_law()).both_ways) {
    window = law_window(flow, bearer, ack, now);
  }
  const std::uint16_t field = way.window.field(ack, offered, window);
  if (in == Side::radio && flow.governed) flow.governed->on_released(ack, way.window.in_bytes(field));
  if (field == offered) return;
  const std::uint16_t before = packet::load16(header + window_at);
  packet::store_be16(header + window_at, field);
  const std::uint16_t after = packet::load16(header + window_at);
  packet::store16(header + checksum_at, packet::update_checksum(packet::load16(header + checksum_at), before, after));
  parts_.counters.add(Counter::windows_rewritten);
}

Bytes EndToEndFlows::law_window(EndToEndFlow& flow, Bearer& bearer, Bytes ack, Instant now) {
  return std::max(flow.governed->window(bearer, ack, now), Bytes(flow.segment) * least_segments);
}

/// From what was advertised behind `ack`; with less than a connection may begin with nothing might come that opens it.
void EndToEndFlows::begin_opening(EndToEndFlow& flow, Opening why, Bytes ack, Bytes at_least) {
  flow.opening = why;
  flow.opening_at = ack;
  const Bytes least = std::max(at_least, Bytes(flow.segment) * first_segments);
  flow.opening_window = std::max(flow.towards(Side::radio).window.edge() - ack, least);
}

/// What the law wants; where there is none, or it has just begun, no more than opens by and by.
Bytes EndToEndFlows::window_towards_radio(EndToEndFlow& flow, Bearer& bearer, Bytes ack, Bytes offered, Instant now) {
  const bool law = flow.governed && bearer.windowed();
  if (law && flow.opening == Opening::reports_late) flow.opening = Opening::no;
  if (!law && flow.governed && flow.opening == Opening::no) {
    begin_opening(flow, Opening::reports_late, ack, bearer.seed_window(flow.round_trip));
  }
  const Bytes window = law ? law_window(flow, bearer, ack, now) : Bytes::max();
  if (flow.opening == Opening::no) return window;
  const std::int64_t slowness = flow.opening == Opening::switched ? 8 : 1;
  const Bytes open = flow.opening_window + std::max(ack - flow.opening_at, Bytes{}) / slowness;
  if (flow.opening == Opening::switched && open >= std::min(window, offered)) flow.opening = Opening::no;
  return std::min(window, open);
}

/// `ip_length`: what stands in the radio queue, when it goes there.
void EndToEndFlows::pass(EndToEndFlow& flow, Side in, packet::Packet&& packet, std::uint16_t ip_length, Instant now) {
  if (in == Side::core) parts_.registry.bearer(flow.bearer).injected(now, Bytes(ip_length));
  parts_.queue.push(opposite(in), std::move(packet), now);
}

}  // namespace sluice::proxy
