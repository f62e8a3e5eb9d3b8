#include "proxy/split/split_flows.hpp"

#include <algorithm>
#include <utility>

#include "proxy/handback/seams.hpp"
#include "proxy/shard/checksum.hpp"

namespace sluice::proxy {
namespace {

/// Closed flows that a burst can leave on the list of marked ones.
constexpr std::uint32_t closed_in_a_burst = 32;

/// The host's MAC addresses, DSCP or TTL are no longer those that were learned: a router has failed over.
bool outdated(const packet::HeaderTemplate& known, const packet::Packet& packet, const packet::Parsed& parsed) {
  constexpr std::uint8_t dscp_mask = 0xfc;
  return !packet::same_macs(known, packet) || known.ttl != parsed.ttl || ((known.tos ^ parsed.tos) & dscp_mask) != 0;
}

/// When one of its legs wants to be looked at.
Instant next_deadline(const Flow& flow) {
  return lesser(flow.legs[0].endpoint.next_deadline(), flow.legs[1].endpoint.next_deadline());
}

}  // namespace

SplitFlows::SplitFlows(const ShardContext& shard, EndToEndFlows& end_to_end, FlowJournal journal,
                       const flow::HashKey& secret)
    : shard_(shard),
      end_to_end_(end_to_end),
      exposure_(shard.config.limits),
      memory_(shard.config, shard.budget),
      receive_windows_(shard.registry, shard.config.limits.max_flows, memory_, exposure_),
      windows_(shard.registry, shard.config.limits.max_flows),
      acks_(shard.config.limits.max_flows),
      stalls_(shard),
      handback_(shard, end_to_end, memory_, exposure_, secret),
      journal_(journal),
      waiting_out_(shard.config.limits.max_flows),
      paced_(shard.config.limits.max_flows),
      begun_(shard.config.limits.max_flows) {
  marked_.reserve(shard.config.limits.max_flows + closed_in_a_burst);
}

std::array<const tcp::EndpointConfig*, 2> SplitFlows::endpoint_configs(FlowId id) {
  const tcp::EndpointConfig& legs = shard_.registry.legs();
  if (!legs.wants_pacing()) return {&legs, &legs};
  std::array<tcp::PacedEndpoint, 2>& places = paced_[id];
  return {&places[0].begin(legs), &places[1].begin(legs)};
}

Bytes SplitFlows::first_window(const Flow& flow, Side from) const {
  return receive_windows_.first(shard_.registry.bearer(flow.bearer), from);
}

void SplitFlows::begin(Flow& flow, FlowId id, Instant now) {
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  if (journal_.keeps()) journal_.begin(id, flow, shard_.registry.key_of(id));
  begun_[id] = tcp::tick::fine(now);
  exposure_.hold(flow);
  flow.leg(Side::radio).endpoint.set_window_source(bearer.window_source(), Bytes{});
  shard_.registry.note_change(flow.bearer);
  bearer.use();
}

void SplitFlows::begin_young(Flow& flow, Instant now) {
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  if (!bearer.treatment().minds_young()) return;
  const FlowShare before = flow.share;
  flow.share.young = true;
  bearer.load.change(before, flow.share);
  bearer.expect_young(now);
}

/// A young flow was served.
void SplitFlows::follow_young(Flow& flow, Bearer& bearer, Instant now) {
  const bool over = flow.release_reason != ReleaseReason::none || relay::both_legs_closed(flow);
  if (!over && flow.sent_to_radio < bearer.treatment().smvs.short_flow) {
    bearer.expect_young(now);
    return;
  }
  const FlowShare before = flow.share;
  flow.share.young = false;
  bearer.load.change(before, flow.share);
  bearer.end_young(now);
}

void SplitFlows::receive(Arrival& arrival, FlowId id) {
  const std::span packets(&arrival.packet, 1);
  const std::span parsed(&arrival.parsed, 1);
  Flow& flow = shard_.registry.flow(id);
  if (arrival.in == Side::radio) {
    receive_some<Side::radio>(packets, parsed, flow, id, arrival.now);
  } else {
    receive_some<Side::core>(packets, parsed, flow, id, arrival.now);
  }
}

std::size_t SplitFlows::receive(Side in, std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at,
                                Instant now) {
  return in == Side::radio ? receive_burst<Side::radio>(burst, known, at, now)
                           : receive_burst<Side::core>(burst, known, at, now);
}

template <Side in>
std::size_t SplitFlows::receive_burst(std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at,
                                      Instant now) {
  Flow* flow = flow_of(known, at);
  do {
    const FlowId id = known.id(at);
    if (const std::size_t train = known.train(at, burst.size()); train > 1) {
      at += receive_train<in>(burst.subspan(at, train), std::span(known.parsed).subspan(at, train), *flow, id, now);
    } else {
      receive_some<in>(burst.subspan(at).template first<1>(), std::span(known.parsed).subspan(at).template first<1>(),
                       *flow, id, now);
      ++at;
    }
    flow = at < burst.size() ? flow_of(known, at) : nullptr;
  } while (flow != nullptr);
  return at;
}

template <Side in>
std::size_t SplitFlows::receive_train(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed,
                                      Flow& flow, FlowId id, Instant now) {
  return receive_some<in>(packets, parsed, flow, id, now);
}

/// Takes the first of a train's segments, and as many of the others as go the same way. Returns how many.
template <Side in>
inline std::size_t SplitFlows::receive_some(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed,
                                            Flow& flow, FlowId id, Instant now) {
  packet::Packet& first = packets.front();
  const packet::ChecksumState checksum = packet::verify_tcp_checksum(first, parsed.front());
  if (!accept_checksum(shard_.config, shard_.counters, in, checksum)) [[unlikely]] {
    first.reset();
    return 1;
  }
  shard_.counters.add(Counter::optimised);
  if (outdated(flow.leg(opposite(in)).headers, first, parsed.front())) [[unlikely]] {
    deliver_rerouted<in>(first, parsed.front(), flow, id, now);
    return 1;
  }
  if (parsed.front().segment.payload_len == 0) {
    if (!hear<in>(first, parsed.front().segment, flow, id, now))
      deliver_segment<in>(first, parsed.front(), flow, id, now);
    return 1;
  }
  if (checksum == packet::ChecksumState::good) {
    if (const std::size_t passed = pass<in>(flow, id, packets, parsed, now); passed != 0) return passed;
  }
  deliver_segment<in>(first, parsed.front(), flow, id, now);
  if (packets.size() == 1) return 1;
  return 1 + deliver_train<in>(packets.subspan(1), parsed.subspan(1), flow, now);
}

/// The first segment has brought the headers up to date, given the flow to be served and told all the news there is.
/// What is left is to see that each is whole, and that there is room for it. Where nothing of the first one waits here
/// (it brought what had come before), those behind it may pass.
template <Side in>
inline std::size_t SplitFlows::deliver_train(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed,
                                             Flow& flow, Instant now) {
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  if (!contains(flow.events, data_to(opposite(in))) || own.endpoint.unread() == Bytes{}) return 0;
  if (!own.endpoint.takes_next(parsed[0].segment) || !own.heard || other.keepalive_passed) return 0;
  Bytes room = own.endpoint.advertised();
  std::size_t count = 0;
  for (; count < packets.size() && !shard_.budget.tight(); ++count) {
    const packet::Parsed& next = parsed[count];
    room -= Bytes(next.segment.payload_len);
    if (room < Bytes{}) break;
    if (packet::verify_tcp_checksum(packets[count], next) != packet::ChecksumState::good) break;
    if (!packet::same_macs(other.headers, packets[count])) break;
    shard_.budget.taken();
    packet::strip_to_payload(packets[count], next);
  }
  if (count == 0) return 0;
  shard_.counters.add(Counter::optimised, count);
  own.endpoint.receive_train(parsed[count - 1].segment, packets.first(count), now);
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  flow.last_activity = now;
  return count;
}

/// The headers are other ones than before: they stay only if the numbers are the host's.
template <Side in>
void SplitFlows::deliver_rerouted(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow, FlowId id,
                                  Instant now) {
  packet::HeaderTemplate& known = flow.leg(opposite(in)).headers;
  const packet::HeaderTemplate before = known;
  known = packet::learn(packet, parsed);
  if (!deliver_segment<in>(packet, parsed, flow, id, now)) known = before;
}

/// A segment without payload that acknowledges something, on a leg that nothing disturbs: what deliver_segment() comes
/// to. False, and nothing has happened, where it is anything else.
template <Side in>
inline bool SplitFlows::hear(packet::Packet& packet, const tcp::Segment& segment, Flow& flow, FlowId id, Instant now) {
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  Bearer* const listening = in == Side::radio ? listener(flow) : nullptr;
  tcp::AckNews news;
  if (!own.endpoint.hear(segment, now, listening != nullptr ? &news : nullptr)) [[unlikely]]
    return false;
  packet.reset();
  if (listening != nullptr) acks_.hear(flow, id, *listening, news, now);
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  flow.last_activity = now;
  if (other.keepalive_passed) [[unlikely]] {
    other.keepalive_passed = false;
    other.endpoint.answer_keepalive();
  }
  relay::note_progress(flow, in, now);
  mark(flow, id, acked_by(in));
  return true;
}

/// Returns whether its numbers are the host's. Whatever concerns more than the segment is learned only then.
template <Side in>
inline bool SplitFlows::deliver_segment(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow, FlowId id,
                                        Instant now) {
  const tcp::Segment& segment = parsed.segment;
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  const auto recoveries = own.endpoint.counters().fast_recoveries;
  const tcp::SeqNum acked = own.endpoint.snd_una();
  StreamEvents events = StreamEvents::none;
  const bool brings = segment.payload_len != 0 || segment.flags.fin();
  if (brings && other.endpoint.snd_una() == own.endpoint.rcv_nxt()) relay::note_progress(flow, opposite(in), now);
  bool believed = false;
  tcp::AckNews news;
  Bearer* const listening = in == Side::radio ? listener(flow) : nullptr;
  tcp::AckNews* const told = listening != nullptr ? &news : nullptr;
  if (segment.payload_len != 0) {
    events = data_to(opposite(in));
    if (!memory_.keeps(flow, in, segment)) [[unlikely]] {
      shard_.counters.add(Counter::payload_refused);
      packet.reset();
      believed = own.endpoint.receive_without_payload(segment, now, told);
    } else {
      shard_.budget.taken();
      packet::strip_to_payload(packet, parsed);
      believed = own.endpoint.receive(segment, std::move(packet), now, told);
    }
    if (believed) [[likely]]
      own.heard = true;
  } else {
    packet.reset();
    believed = own.endpoint.receive(segment, {}, now, told);
  }
  if (news.delivered != 0) acks_.hear(flow, id, *listening, news, now);
  if (!own.endpoint.on_fast_path() && own.endpoint.counters().fast_recoveries != recoveries) [[unlikely]] {
    shard_.counters.add(in == Side::radio ? Counter::fast_recoveries_radio : Counter::fast_recoveries_core);
  }
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  if (believed) [[likely]]
    flow.last_activity = now;
  if (other.keepalive_passed && believed) [[unlikely]] {
    other.keepalive_passed = false;
    other.endpoint.answer_keepalive();
  }
  if (own.endpoint.snd_una() != acked) {
    events = events | acked_by(in);
    relay::note_progress(flow, in, now);
  }
  mark(flow, id, events != StreamEvents::none ? events : StreamEvents::all);
  return believed;
}

void SplitFlows::serve_all_marked(Instant now) {
  for (std::size_t i = 0; i < marked_.size(); ++i) {
    if (i + 1 < marked_.size()) shard_.registry.flows().prefetch(marked_[i + 1]);
    const FlowId id = marked_[i];
    // One that was closed since stays on the list; who has its place now is on it with a mark of its own.
    if (closed_marked_ &&
        (!shard_.registry.flows().contains(id) || shard_.registry.flow(id).events == StreamEvents::none)) [[unlikely]]
      continue;
    serve(shard_.registry.flow(id), id, now);
  }
  marked_.clear();
  closed_marked_ = false;
}

inline void SplitFlows::serve(Flow& flow, FlowId id, Instant now) {
  const StreamEvents events = std::exchange(flow.events, StreamEvents::none);
  if (!relay::on_fast_path(flow) || flow.release_reason != ReleaseReason::none) [[unlikely]] {
    serve_troubled(flow, id, now);
    return;
  }
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  // What comes takes room that its sender knows of: where no law steers it, only what is acknowledged opens a window.
  const bool steered = bearer.steered();
  bool opens = contains(events, StreamEvents::acked_by_radio);
  if (contains(events, StreamEvents::data_to_radio)) {
    opens = opens || (steered && ReceiveWindows::data_opens(flow, bearer));
    relay::pump_undisturbed(flow, Side::radio);
  }
  if (opens) receive_windows_.update_of_server(flow, bearer, now);
  if (contains(events, StreamEvents::data_to_core)) relay::pump_undisturbed(flow, Side::core);
  if (contains(events, steered ? StreamEvents::to_core : StreamEvents::acked_by_core))
    receive_windows_.update_of_ue(flow, bearer, now);
  if (Exposure::waits(flow)) [[unlikely]]
    exposure_.allow(flow, bearer);
  keep_journal(flow, id);
  // Where nothing of that is, it holds and has advertised as much as before, together.
  if (emit(flow, bearer, now) || contains(events, StreamEvents::acked) || steered ||
      flow.leg(Side::radio).endpoint.unsent() != Bytes(flow.share.backlog))
    settle(flow, bearer, events);
  if (flow.share.young) [[unlikely]]
    follow_young(flow, bearer, now);
  reschedule(flow, id, now);
  if (bearer.load.backlogged_flows != 0 && bearer.clocked()) hand_on_room(bearer, now);
}

/// The same for a flow of which a leg is not open yet, in recovery, reordering or ending.
void SplitFlows::serve_troubled(Flow& flow, FlowId id, Instant now) {
  const BearerId of = flow.bearer;
  Bearer& bearer = shard_.registry.bearer(of);
  if (flow.release_reason != ReleaseReason::none) {
    serve_leaving(flow, bearer, id, now);
  } else {
    serve_repairing(flow, bearer, id, now);
  }
  // It may be over, and its bearer with it.
  if (!shard_.registry.bearers().contains(of)) return;
  if (bearer.load.backlogged_flows != 0 && bearer.clocked()) hand_on_room(bearer, now);
}

void SplitFlows::serve_repairing(Flow& flow, Bearer& bearer, FlowId id, Instant now) {
  relay::pump(flow);
  relay::pass_ends(flow);
  relay::pass_keepalives(flow);
  // Who has sent a FIN needs no window.
  if (flow.leg(Side::radio).endpoint.expects_data()) receive_windows_.update_of_ue(flow, bearer, now);
  if (flow.leg(Side::core).endpoint.expects_data() || flow.share.shut)
    receive_windows_.update_of_server(flow, bearer, now);
  emit_with_ends(flow, id, bearer, now);
  if (flow.share.young) follow_young(flow, bearer, now);
  if (relay::finished(flow)) {
    end_finished(flow, id, now);
    return;
  }
  reschedule(flow, id, now);
  stalls_.watch_holes(flow, id);
  if (!flow.waits_out && relay::both_legs_closed(flow)) displace(waiting_out_.enter(flow, id, shard_.registry), now);
}

void SplitFlows::serve_leaving(Flow& flow, Bearer& bearer, FlowId id, Instant now) {
  if (flow.release_reason == ReleaseReason::never_split) {
    close(id, now);
    return;
  }
  relay::pump(flow);
  relay::pass_ends(flow);
  relay::pass_keepalives(flow);
  handback_.advance(flow, now);
  emit_with_ends(flow, id, bearer, now);
  if (relay::finished(flow)) {
    count_end(flow, id);
  } else if (Handback::is_complete(flow)) {
    handback_.release(flow, now);
  } else {
    reschedule(flow, id, now);
    stalls_.watch_holes(flow, id);
    return;
  }
  close(id, now);
}

/// Sends what can be sent, and passes on the end that may have come of it.
void SplitFlows::emit_with_ends(Flow& flow, FlowId id, Bearer& bearer, Instant now) {
  if (Exposure::waits(flow)) exposure_.allow(flow, bearer);
  keep_journal(flow, id);
  emit(flow, bearer, now);
  if (relay::has_news_of_end(flow)) {
    relay::pump(flow);
    relay::pass_ends(flow);
    emit(flow, bearer, now);
  }
  settle(flow, bearer, StreamEvents::all);
}

/// Returns whether something may have gone to the server.
bool SplitFlows::emit(Flow& flow, Bearer& bearer, Instant now) {
  if (bearer.bounds()) [[unlikely]]
    windows_.follow(flow, bearer, now);
  const bool to_server = !flow.leg(Side::core).endpoint.nothing_to_emit(now);
  if (to_server) emit(flow, bearer, Side::core, Bytes::max(), Part::own, now);
  if (flow.leg(Side::radio).endpoint.nothing_to_emit(now)) return to_server;
  // By acknowledgements, what may be sent is not known before what is under way is looked at.
  emit(flow, bearer, Side::radio, bearer.clocked() ? Bytes::max() : bearer.allowance(now), Part::own, now);
  return to_server;
}

void SplitFlows::emit(Flow& flow, Bearer& bearer, Side side, Bytes most, Part part, Instant now) {
  tcp::Endpoint& endpoint = flow.leg(side).endpoint;
  LegOutput output(flow, side, bearer.counts() ? &bearer : nullptr, shard_);
  const std::uint32_t before = endpoint.counters().retransmitted;
  if (side == Side::radio && bearer.bounds()) [[unlikely]]
    most = windows_.room(flow, bearer, now);
  const bool heard = side == Side::radio && bearer.listens();
  const FlowId id = heard ? shard_.registry.flows().index_of(flow) : no_id;
  if (heard && bearer.clocked()) [[unlikely]]
    most = std::min(most, acks_.room(flow, id, bearer, part == Part::all, now));
  const Bytes sent = endpoint.emit_due(now, output, most);
  if (side == Side::radio) note_sent_to_radio(flow, id, bearer, sent, now);
  if (const std::uint32_t repeated = endpoint.counters().retransmitted - before; repeated != 0) [[unlikely]] {
    shard_.counters.add(side == Side::radio ? Counter::retransmitted_radio : Counter::retransmitted_core, repeated);
  }
}

/// `id` is needed only where the bearer listens.
void SplitFlows::note_sent_to_radio(Flow& flow, FlowId id, Bearer& bearer, Bytes sent, Instant now) {
  if (bearer.spend(sent, now)) [[unlikely]]
    shard_.registry.schedule_bearer(bearer.id, bearer.deadline(now));
  flow.sent_to_radio += sent;
  windows_.sent(flow, bearer, sent);
  if (bearer.listens()) [[unlikely]]
    acks_.sync(flow, id, bearer);
}

void SplitFlows::use_room(Bearer& bearer, Instant now) {
  hand_on_room(bearer, now);
  serve_marked(now);
}

/// A few flows each time, those next in turn: what they sent, or what is under way, brings them here again. All of them
/// where nothing is and one waits, since then nothing else would; that one is found, and the next look is short.
void SplitFlows::hand_on_room(Bearer& bearer, Instant now) {
  constexpr std::uint32_t most_flows = 4;
  constexpr std::uint32_t most_looked_at = 32;  // for a young one
  const AckClock& clock = bearer.ack_clock();
  const bool overlooked = clock.flight() <= Bytes{} && clock.waiting() > 0;
  const std::uint32_t count = overlooked ? bearer.flow_count : std::min(bearer.flow_count, most_flows);
  if (clock.young_waiting() > 0)
    hand_on_room(bearer, std::max(count, std::min(bearer.flow_count, most_looked_at)), true, now);
  hand_on_room(bearer, count, false, now);
  shard_.registry.schedule_bearer(bearer.id, clock.room_at(now));
}

/// To the next `count` flows in turn. `young`: to the young of these alone, each as far as its part goes.
void SplitFlows::hand_on_room(Bearer& bearer, std::uint32_t count, bool young, Instant now) {
  FlowId id = bearer.first_flow;
  for (std::uint32_t i = 0; i < count && bearer.allowance(now) >= bearer.treatment().smvs.acks.segment; ++i) {
    Flow& flow = shard_.registry.flow(id);
    const FlowId next = flow.bearer_next;
    const bool chosen = !young || acks_.young_waits(id);
    if (chosen && flow.terminated() && flow.leg(Side::radio).endpoint.can_send_now()) {
      keep_journal(flow, id);  // it may not have been served since something came
      const std::uint64_t before = bearer.sent_total();
      emit(flow, bearer, Side::radio, turn, young ? Part::own : Part::all, now);
      if (bearer.sent_total() != before && marked_.size() < marked_.capacity()) mark(flow, id, StreamEvents::to_radio);
    }
    id = next;
    if (!young) bearer.first_flow = id;
  }
}

/// Tells the bearer and the memory budget what the flow has come to.
void SplitFlows::settle(Flow& flow, Bearer& bearer, StreamEvents events) {
  const tcp::Endpoint& radio = flow.leg(Side::radio).endpoint;
  const bool moving = flow.window_loop != no_id && radio.held() > Bytes{};
  bearer.load.update(flow.share, static_cast<std::uint32_t>(radio.unsent().count()), memory_.note(flow, events),
                     moving);
}

void SplitFlows::reschedule(Flow& flow, FlowId id, Instant now) {
  const Instant due = next_deadline(flow);
  if (flow.deadline <= due && flow.deadline != never) return;  // looked at in time, for idleness too
  schedule(flow, id, due, now);
}

/// Looks at the flow when something is due, or it has been idle for long.
inline void SplitFlows::schedule(Flow& flow, FlowId id, Instant due, Instant now) {
  const Instant idle = std::max(flow.last_activity + shard_.config.timeouts.idle, now + std::chrono::seconds(1));
  shard_.registry.schedule_flow(flow, id, lesser(due, idle));
}

void SplitFlows::on_due(FlowId id, Instant now) {
  Flow& flow = shard_.registry.flow(id);
  const ShardTimeouts& timeouts = shard_.config.timeouts;
  if (!flow.terminated()) {
    if (now - flow.last_activity >= timeouts.handshake) {
      shard_.counters.add(Counter::handshake_timeouts);
      close(id, now);
    } else {
      shard_.registry.schedule_flow(flow, id, flow.last_activity + timeouts.handshake);
    }
    return;
  }
  if (now - flow.last_activity >= timeouts.idle && handback::at_rest(flow)) {
    flow.release_reason = ReleaseReason::released_idle;
    handback_.release(flow, now);
    close(id, now);
    return;
  }
  if (const Instant due = next_deadline(flow); due > now && may_be_put_off(flow)) {
    schedule(flow, id, due, now);
    return;
  }
  if (flow.waits_out && wait_out(flow, id, now)) return;
  stalls_.end(flow, now);
  for (const Side side : {Side::radio, Side::core}) {
    tcp::Endpoint& endpoint = flow.leg(side).endpoint;
    if (endpoint.next_deadline() > now) continue;
    const auto before = endpoint.counters().timeouts;
    endpoint.on_timer(now);
    if (endpoint.counters().timeouts != before) {
      shard_.counters.add(side == Side::radio ? Counter::timeouts_radio : Counter::timeouts_core);
    }
  }
  mark(flow, id, StreamEvents::all);
}

/// Nothing but its timers makes the flow be served, and what it was to be looked at for may have been put off since.
/// Under a law it is served all the same: time alone changes what the law lets the server send, and who uses the room
/// in a window that connections share. Elsewhere what waits for its host has a timer of its own, or it would not be on
/// the fast path.
bool SplitFlows::may_be_put_off(const Flow& flow) {
  return relay::on_fast_path(flow) && flow.release_reason == ReleaseReason::none &&
         !shard_.registry.bearer(flow.bearer).steered();
}

}  // namespace sluice::proxy
