#include "proxy/regulator.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/packet/checksum.hpp"

namespace sluice::proxy {
namespace {

/// Of an ACK that waits, in its note: where its TCP header begins, what it acknowledges, since when.
struct HeldAck {
  packet::PacketNote& note;
  [[nodiscard]] std::uint16_t l4_offset() const { return static_cast<std::uint16_t>(note.scratch32); }
  [[nodiscard]] Bytes ack() const { return Bytes(note.scratch64); }
};

constexpr std::uint16_t most_held = 256;
/// Older than this no segment of a connection is, and no window reaches farther (RFC 7323 section 2.3).
constexpr Bytes widest_window{1 << 30};
/// After both FINs: late retransmissions have passed by then.
constexpr Duration closing_time = std::chrono::seconds(10);
constexpr std::int64_t least_segments = 2;
constexpr std::uint8_t duplicates_of_a_loss = 3;
/// When reports stay away, what waits goes on with the ACKs that come, so many of the oldest with each. All at once
/// would be a burst into a queue of which nothing is known.
constexpr std::size_t per_ack_without_law = 2;

std::uint8_t bit(Side side) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(side));
}

}  // namespace

Regulator::Regulator(const ShardConfig& config, const Parts& parts, std::uint64_t seed, Instant origin)
    : config_(config),
      parts_(parts),
      flows_(config.limits.max_flows),
      table_(config.limits.max_flows, seed),
      wheel_(config.limits.max_flows, origin) {}

Regulator::~Regulator() = default;

RegulatedId Regulator::open(const flow::FlowKey& key, Side from, PolicyIndex policy, std::uint8_t dscp, Instant now) {
  const BearerId bearer = parts_.registry.bearer_of(key.ue, policy, now);
  if (bearer == no_id) return none;
  const RegulatedId id = flows_.emplace();
  if (id == flow::Slab<RegulatedFlow>::none) return none;
  if (!table_.insert(key, id)) {
    flows_.erase(id);
    return none;
  }
  RegulatedFlow& flow = flows_[id];
  flow.key = key;
  flow.initiator = from;
  flow.bearer = bearer;
  flow.dscp = dscp;
  flow.last_activity = now;
  ++parts_.registry.bearer(bearer).guests;
  schedule(flow, id);
  return id;
}

bool Regulator::is_over(RegulatedId id, const tcp::Segment& syn) {
  RegulatedFlow& flow = flows_[id];
  if (!syn.flags.syn() || syn.flags.ack()) return false;
  return flow.phase != RegulatedPhase::syn && syn.seq != flow.syn_of(flow.initiator).isn;
}

void Regulator::close(RegulatedId id, Instant now) {
  RegulatedFlow& flow = flows_[id];
  release(flow, id, control::AckRelease::all(), now);
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  if (flow.governed) flow.governed->leave(bearer);
  parts_.registry.leave_guest(flow.bearer, now);
  table_.erase(flow.key);
  wheel_.cancel(id);
  flows_.erase(id);
}

void Regulator::rebind(const Policies& policies, Instant now) {
  flows_.for_each([&](RegulatedId id, RegulatedFlow& flow) {
    release(flow, id, control::AckRelease::all(), now);
    Bearer& before = parts_.registry.bearer(flow.bearer);
    if (flow.governed) flow.governed->leave(before);
    flow.governed.reset();
    const PolicyIndex policy = policies.choose({flow.key.ue, flow.key.server, flow.key.server_port, flow.dscp});
    const BearerId to = parts_.registry.bearer_of(flow.key.ue, policy, now);
    if (to == no_id) return;  // no room for another bearer: it stays where it is, under its old law
    --before.guests;
    ++parts_.registry.bearer(to).guests;
    flow.bearer = to;
  });
}

void Regulator::take(RegulatedId id, Side in, packet::Packet&& packet, const packet::Parsed& parsed, bool believed,
                     bool in_need, Instant now) {
  RegulatedFlow& flow = flows_[id];
  const tcp::Segment& segment = parsed.segment;
  if (!believed) {
    parts_.counters.add(Counter::forward_regulated_unread);
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    return;
  }
  parts_.counters.add(Counter::forward_regulated);
  flow.last_activity = now;
  if (segment.flags.syn() || segment.flags.rst() || flow.phase == RegulatedPhase::syn || !segment.flags.ack()) {
    release(flow, id, control::AckRelease::all(), now);
    if (segment.flags.syn()) learn_syn(flow, in, segment, now);
    const bool over = segment.flags.rst();
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    if (over) close(id, now);
    return;
  }
  if (in == flow.initiator && flow.handshake != Instant{}) {
    flow.round_trip += now - std::exchange(flow.handshake, Instant{});
  }
  take_ack(flow, id, in, std::move(packet), parsed, in_need, now);
  if (segment.payload_len != 0) take_data(flow, in, segment, parsed.ip_length);
  if (segment.flags.fin()) {
    flow.fins |= bit(in);
    if (flow.fins == (bit(Side::radio) | bit(Side::core))) flow.phase = RegulatedPhase::closing;
    schedule(flow, id);
  }
}

/// Windows in SYNs are never scaled (RFC 7323 section 2.2), and nothing is written into them.
void Regulator::learn_syn(RegulatedFlow& flow, Side in, const tcp::Segment& segment, Instant now) {
  if (flow.phase != RegulatedPhase::syn) return;
  if (segment.flags.ack() == (in == flow.initiator)) return;
  SynNote& note = flow.syn_of(in);
  note = {segment.seq, segment.window, segment.syn.window_scale, segment.syn.has_window_scale};
  if (in == Side::radio) flow.segment = std::max<std::uint16_t>(segment.syn.mss, 88);
  if (segment.flags.ack()) {
    if (segment.ack != flow.syn_of(flow.initiator).isn + 1) return;
    flow.round_trip = now - flow.handshake;
    begin(flow);
  }
  flow.handshake = now;
}

/// Both sides have said how their windows are to be read.
void Regulator::begin(RegulatedFlow& flow) {
  const bool scaling = flow.syns[0].has_scale && flow.syns[1].has_scale;
  for (const Side receiver : {Side::radio, Side::core}) {
    const SynNote& own = flow.syn_of(receiver);
    DataWay& way = flow.towards(receiver);
    way.position = control::StreamPosition(flow.syn_of(opposite(receiver)).isn.raw() + 1);
    way.window = control::AdvertisedWindow(scaling ? own.scale : std::uint8_t{0});
    way.window.promised(Bytes(own.window));
  }
  flow.phase = RegulatedPhase::open;
  parts_.registry.bearer(flow.bearer).used = true;
  parts_.counters.add(Counter::flows_regulated);
}

void Regulator::take_data(RegulatedFlow& flow, Side in, const tcp::Segment& segment, std::uint16_t ip_length) {
  DataWay& way = flow.towards(opposite(in));
  control::StreamPosition position = way.position;
  const Bytes end = position.of(segment.seq.raw()) + Bytes(segment.payload_len);
  if (end <= way.sent || end > way.window.edge() + widest_window) return;
  way.position = position;
  way.sent = end;
  if (in != Side::core || !flow.governed) return;
  flow.governed->carried(Bytes(segment.payload_len), Bytes(ip_length));
  flow.governed->on_sent(parts_.registry.bearer(flow.bearer), end);
}

void Regulator::take_ack(RegulatedFlow& flow, RegulatedId id, Side in, packet::Packet&& packet,
                         const packet::Parsed& parsed, bool in_need, Instant now) {
  const tcp::Segment& segment = parsed.segment;
  DataWay& way = flow.towards(in);
  control::StreamPosition position = way.position;
  const Bytes ack = position.of(segment.ack.raw());
  // A FIN takes a place of its own behind the last byte. What acknowledges more than has passed is not of this
  // connection, or went another way than its data: it tells nothing.
  const bool fits = ack <= way.sent + Bytes(1) && ack >= way.acked - widest_window;
  if (!fits) {
    release(flow, id, control::AckRelease::all(), now);
    pass(flow, in, std::move(packet), parsed.ip_length, now);
    return;
  }
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  const Bytes newly = std::max(ack - way.acked, Bytes{});
  way.acked = std::max(way.acked, ack);
  const bool bare = segment.payload_len == 0 && !segment.flags.fin();
  control::AckRelease go_on = control::AckRelease::all();
  if (in == Side::radio) {
    if (!flow.governed && bearer.windowed()) {
      flow.governed.emplace(bearer, control::LawStart{flow.round_trip, Bytes(flow.segment)});
      if (way.acked > Bytes{}) flow.governed->seed(way.window.edge() - way.acked);
      flow.governed->on_sent(bearer, way.sent);
    }
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
  const bool may_wait = bare && in == Side::radio && !in_need && flow.held_count < most_held;
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

control::AckRelease Regulator::ask_law(RegulatedFlow& flow, Bearer& bearer, const control::AckView& ack) {
  if (!flow.governed) return control::AckRelease::all();
  if (!bearer.windowed()) return {Bytes(-1), per_ack_without_law};
  static_cast<void>(flow.governed->on_report(bearer, ack.now));
  return flow.governed->on_ack(bearer, ack);
}

/// Computes the window that would be written, and leaves everything as it is.
void Regulator::observe(RegulatedFlow& flow, Bearer& bearer, Side in, Bytes ack, std::uint16_t offered, bool waits,
                        Instant now) {
  DataWay& way = flow.towards(in);
  const std::uint16_t field = way.window.field(ack, offered, Bytes::max());
  if (in != Side::radio || !flow.governed || !bearer.windowed()) return;
  const Bytes window = std::max(flow.governed->window(bearer, ack, now), Bytes(flow.segment) * least_segments);
  bearer.observe(std::min(window, way.window.in_bytes(offered)), way.sent - way.acked, waits);
  flow.governed->on_released(ack, way.window.in_bytes(field));
}

/// Writes the window that goes into an ACK. Of ACKs towards the UE only those of the fair share are rewritten, which
/// counts flows whatever their direction; the other laws know the radio queue, where the UE's own data does not wait.
void Regulator::rewrite(RegulatedFlow& flow, Side in, packet::Packet& packet, std::uint16_t l4_offset, Bytes ack,
                        Instant now) {
  constexpr std::uint16_t window_at = 14;
  constexpr std::uint16_t checksum_at = 16;
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  DataWay& way = flow.towards(in);
  std::uint8_t* const header = packet.data() + l4_offset;
  const std::uint16_t offered = packet::load_be16(header + window_at);
  Bytes window = Bytes::max();
  if (flow.governed && bearer.windowed() &&
      (in == Side::radio || bearer.window_law() == control::WindowLaw::fair_share)) {
    window = std::max(flow.governed->window(bearer, ack, now), Bytes(flow.segment) * least_segments);
    flow.fallen = false;
  } else if (flow.governed && in == Side::radio) {
    window = window_without_law(flow, bearer, ack);
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

/// Reports are late. The whole window at once would be promised for good, and flood the queue when the reports are back
/// a moment later: it opens as slow start would, from what there was.
Bytes Regulator::window_without_law(RegulatedFlow& flow, const Bearer& bearer, Bytes ack) {
  if (!flow.fallen) {
    flow.fallen = true;
    flow.fallen_at = ack;
    flow.fallen_window = std::max(flow.towards(Side::radio).window.edge() - ack, bearer.seed_window(flow.round_trip));
  }
  return flow.fallen_window + std::max(ack - flow.fallen_at, Bytes{});
}

void Regulator::hold(RegulatedFlow& flow, RegulatedId id, packet::Packet&& packet, std::uint16_t l4_offset, Bytes ack,
                     Instant now) {
  packet::PacketNote& note = packet.note();
  note.received = now;
  note.scratch32 = l4_offset;
  note.scratch64 = static_cast<std::uint64_t>(ack.count());
  if (flow.held.empty()) join_holding(flow, id);
  flow.held.push_back(std::move(packet));
  ++flow.held_count;
  parts_.counters.add(Counter::acks_held);
  schedule(flow, id);
}

void Regulator::release(RegulatedFlow& flow, RegulatedId id, const control::AckRelease& release, Instant now) {
  std::size_t at_least = release.at_least;
  while (!flow.held.empty()) {
    if (HeldAck{flow.held.front().note()}.ack() > release.up_to) {
      if (at_least == 0) return;
    }
    if (at_least > 0) --at_least;
    release_front(flow, id, now);
  }
}

void Regulator::release_front(RegulatedFlow& flow, RegulatedId id, Instant now) {
  packet::Packet packet = flow.held.pop_front();
  const HeldAck held{packet.note()};
  --flow.held_count;
  if (flow.held.empty()) leave_holding(flow, id);
  rewrite(flow, Side::radio, packet, held.l4_offset(), held.ack(), now);
  pass(flow, Side::radio, std::move(packet), 0, now);
}

/// `ip_length`: what stands in the radio queue, when it goes there.
void Regulator::pass(RegulatedFlow& flow, Side in, packet::Packet&& packet, std::uint16_t ip_length, Instant now) {
  if (in == Side::core) parts_.registry.bearer(flow.bearer).injected(now, Bytes(ip_length));
  parts_.queue.push(opposite(in), std::move(packet), now);
}

void Regulator::join_holding(RegulatedFlow& flow, RegulatedId id) {
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  flow.holding_previous = no_id;
  flow.holding_next = bearer.first_holding;
  if (bearer.first_holding != no_id) flows_[bearer.first_holding].holding_previous = id;
  bearer.first_holding = id;
}

void Regulator::leave_holding(RegulatedFlow& flow, RegulatedId id) {
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  if (bearer.first_holding == id) bearer.first_holding = flow.holding_next;
  if (flow.holding_previous != no_id) flows_[flow.holding_previous].holding_next = flow.holding_next;
  if (flow.holding_next != no_id) flows_[flow.holding_next].holding_previous = flow.holding_previous;
  flow.holding_next = flow.holding_previous = no_id;
}

void Regulator::on_report(BearerId id, Instant now) {
  Bearer& bearer = parts_.registry.bearer(id);
  for (RegulatedId next = bearer.first_holding; next != no_id;) {
    const RegulatedId holding = next;
    RegulatedFlow& flow = flows_[holding];
    next = flow.holding_next;
    if (flow.governed && bearer.windowed()) release(flow, holding, flow.governed->on_report(bearer, now), now);
  }
}

void Regulator::advance(Instant now) {
  wheel_.advance(now, [&](RegulatedId id) { on_due(id, now); });
}

void Regulator::on_due(RegulatedId id, Instant now) {
  RegulatedFlow& flow = flows_[id];
  while (!flow.held.empty() && flow.held.front().note().received + longest_hold(flow) <= now) {
    parts_.counters.add(Counter::acks_overdue);
    release_front(flow, id, now);
  }
  if (now >= forgotten_at(flow)) {
    close(id, now);
    return;
  }
  schedule(flow, id);
}

Instant Regulator::forgotten_at(const RegulatedFlow& flow) const {
  switch (flow.phase) {
    case RegulatedPhase::syn:
      return flow.last_activity + config_.timeouts.handshake;
    case RegulatedPhase::closing:
      return flow.last_activity + closing_time;
    case RegulatedPhase::open:
      break;
  }
  return flow.last_activity + config_.timeouts.idle;
}

Duration Regulator::longest_hold(const RegulatedFlow& flow) const {
  return parts_.registry.bearer(flow.bearer).treatment().laws.hold;
}

void Regulator::schedule(const RegulatedFlow& flow, RegulatedId id) {
  Instant when = forgotten_at(flow);
  if (!flow.held.empty()) when = std::min(when, flow.held.front().note().received + longest_hold(flow));
  wheel_.schedule(id, when);
}

void Regulator::describe(std::vector<FlowInfo>& out, std::size_t limit) {
  flows_.for_each([&](RegulatedId, RegulatedFlow& flow) {
    if (out.size() >= limit) return;
    FlowInfo info;
    info.ue = flow.key.ue;
    info.server = flow.key.server;
    info.ue_port = flow.key.ue_port;
    info.server_port = flow.key.server_port;
    info.phase = flow.phase == RegulatedPhase::syn ? "handshake" : "regulated";
    for (std::size_t i = 0; i < flow.ways.size(); ++i) {
      info.in_flight[i] = std::max(flow.ways[i].sent - flow.ways[i].acked, Bytes{});
      info.peer_window[i] = flow.ways[i].window.edge() - flow.ways[i].acked;
    }
    info.acks_held = flow.held_count;
    out.push_back(info);
  });
}

}  // namespace sluice::proxy
