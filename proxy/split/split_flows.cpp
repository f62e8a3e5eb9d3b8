#include "proxy/split/split_flows.hpp"

#include <algorithm>
#include <utility>

#include "proxy/handback/seams.hpp"

namespace sluice::proxy {
namespace {

/// Closed flows that a burst can leave on the list of marked ones.
constexpr std::uint32_t closed_in_a_burst = 32;

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
inline void SplitFlows::follow_young(Flow& flow, Bearer& bearer, bool over, Instant now) {
  if (!over && flow.sent_to_radio < bearer.treatment().smvs.short_flow) {
    bearer.expect_young(now);
  } else {
    end_young(flow, bearer, now);
  }
}

void SplitFlows::end_young(Flow& flow, Bearer& bearer, Instant now) {
  const FlowShare before = flow.share;
  flow.share.young = false;
  bearer.load.change(before, flow.share);
  bearer.end_young(now);
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

/// The host behind `in`, whose window no law steers, is about to be told of it. Whether memory is to be asked what it
/// has for that: since it was, room was regained.
template <Side in>
inline bool SplitFlows::window_is_due(const Flow& flow, Instant now) const {
  const Leg& leg = flow.leg(in);
  return leg.regained && !leg.endpoint.nothing_to_emit(now) && !memory_.limit_is_fresh(flow, in, now);
}

/// Nothing is left to be done but to send the host behind `in` what is due to it. serve() comes to the same.
template <Side in>
inline void SplitFlows::send_due(Flow& flow, FlowId id, Instant now) {
  Leg& from = flow.leg(in);
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  if (!bearer.steered() && window_is_due<in>(flow, now)) {
    if constexpr (in == Side::core) {
      receive_windows_.update_of_server(flow, bearer, now);
    } else {
      receive_windows_.update_of_ue(flow, bearer, now);
    }
  }
  keep_journal(flow, id);
  const tcp::SeqNum before = from.endpoint.rcv_edge();
  LegOutput output(flow, in, bearer.counts() ? &bearer : nullptr, shard_);
  from.endpoint.emit_due(now, output, Bytes::max());
  memory_.note_told(from);
  bearer.load.commit(flow.share, from.endpoint.rcv_edge() - before);
  reschedule(flow, id, now);
}

inline void SplitFlows::serve(Flow& flow, FlowId id, Instant now) {
  const StreamEvents events = std::exchange(flow.events, StreamEvents::none);
  if (events == due_to(Side::core)) return send_due<Side::core>(flow, id, now);
  if (events == due_to(Side::radio)) return send_due<Side::radio>(flow, id, now);
  if (!relay::on_fast_path(flow) || flow.release_reason != ReleaseReason::none) [[unlikely]] {
    serve_troubled(flow, id, now);
    return;
  }
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  // What comes takes room that its sender knows of. Where no law steers it, what is acknowledged opens a window, and
  // memory is asked anew when that is told.
  const bool steered = bearer.steered();
  bool opens = contains(events, StreamEvents::acked_by_radio);
  if (contains(events, StreamEvents::data_to_radio)) {
    opens = opens || (steered ? ReceiveWindows::data_opens(flow, bearer) : window_is_due<Side::core>(flow, now));
    relay::pump_undisturbed(flow, Side::radio);
  }
  if (opens) receive_windows_.update_of_server(flow, bearer, now);
  if (contains(events, StreamEvents::data_to_core)) relay::pump_undisturbed(flow, Side::core);
  if (contains(events, steered ? StreamEvents::to_core : StreamEvents::acked_by_core) ||
      (contains(events, StreamEvents::data_to_core) && window_is_due<Side::radio>(flow, now)))
    receive_windows_.update_of_ue(flow, bearer, now);
  if (Exposure::waits(flow)) [[unlikely]]
    exposure_.allow(flow, bearer);
  keep_journal(flow, id);
  // Where nothing of that is, it holds and has advertised as much as before, together.
  if (emit(flow, bearer, now) || contains(events, StreamEvents::acked) || steered ||
      flow.leg(Side::radio).endpoint.unsent() != Bytes(flow.share.backlog))
    settle(flow, bearer, events);
  if (flow.share.young) [[unlikely]]
    follow_young(flow, bearer, /*over=*/false, now);
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
  if (is_said(flow, bearer, now)) {
    keep_journal(flow, id);
    settle(flow, bearer, StreamEvents::all);
  } else {
    relay_ends(flow, id, bearer, now);
  }
  if (flow.share.young)
    follow_young(flow, bearer, flow.release_reason != ReleaseReason::none || relay::both_legs_closed(flow), now);
  if (relay::finished(flow)) {
    end_finished(flow, id, now);
  } else if (!flow.waits_out && relay::both_legs_closed(flow)) {
    begin_to_wait_out(flow, id, now);
  } else {
    reschedule(flow, id, now);
    stalls_.watch_holes(flow, id);
  }
}

/// The hosts have closed the connection, each has all that the other one has sent, and nothing is left to be told.
inline bool SplitFlows::is_said(const Flow& flow, const Bearer& bearer, Instant now) {
  for (const Leg& leg : flow.legs) {
    const tcp::Endpoint& endpoint = leg.endpoint;
    if (!endpoint.has_finished() || !endpoint.nothing_to_emit(now)) return false;
    if (endpoint.unread() != Bytes{} || leg.reset_pending) return false;
  }
  return !flow.share.shut && !Exposure::waits(flow) && !bearer.bounds();
}

/// Payload, FINs and windows go on, and both legs send.
void SplitFlows::relay_ends(Flow& flow, FlowId id, Bearer& bearer, Instant now) {
  relay::pump(flow);
  relay::pass_ends(flow);
  relay::pass_keepalives(flow);
  // Who has sent a FIN needs no window.
  if (flow.leg(Side::radio).endpoint.expects_data()) receive_windows_.update_of_ue(flow, bearer, now);
  if (flow.leg(Side::core).endpoint.expects_data() || flow.share.shut)
    receive_windows_.update_of_server(flow, bearer, now);
  emit_with_ends(flow, id, bearer, now);
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
  if (relay::has_news_of_end(flow)) [[unlikely]]
    pass_news_of_end(flow, bearer, now);
  settle(flow, bearer, StreamEvents::all);
}

void SplitFlows::pass_news_of_end(Flow& flow, Bearer& bearer, Instant now) {
  relay::pump(flow);
  relay::pass_ends(flow);
  emit(flow, bearer, now);
}

/// Returns whether something may have gone to the server, or the UE may have been told of its window.
bool SplitFlows::emit(Flow& flow, Bearer& bearer, Instant now) {
  if (bearer.bounds()) [[unlikely]]
    windows_.follow(flow, bearer, now);
  const bool to_server = !flow.leg(Side::core).endpoint.nothing_to_emit(now);
  if (to_server) emit(flow, bearer, Side::core, Bytes::max(), Part::own, now);
  if (flow.leg(Side::radio).endpoint.nothing_to_emit(now)) return to_server;
  const bool tells_ue = flow.leg(Side::radio).endpoint.owes_acknowledgement();
  // By acknowledgements, what may be sent is not known before what is under way is looked at.
  emit(flow, bearer, Side::radio, bearer.clocked() ? Bytes::max() : bearer.allowance(now), Part::own, now);
  return to_server || tells_ue;
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
  count_sent_to_radio(flow, bearer, sent, now);
  if (bearer.listens()) [[unlikely]]
    acks_.sync(flow, id, bearer);
}

void SplitFlows::count_sent_to_radio(Flow& flow, Bearer& bearer, Bytes sent, Instant now) {
  if (bearer.spend(sent, now)) [[unlikely]]
    shard_.registry.schedule_bearer(bearer.id, bearer.deadline(now));
  flow.sent_to_radio += sent;
  windows_.sent(flow, bearer, sent);
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
  if (is_looked_at_in_time(flow, due)) return;
  schedule(flow, id, due, now);
}

inline void SplitFlows::schedule(Flow& flow, FlowId id, Instant due, Instant now) {
  shard_.registry.schedule_flow(flow, id, when_to_look(flow, due, now));
}

/// When something is due, or the flow has been idle for long.
Instant SplitFlows::when_to_look(const Flow& flow, Instant due, Instant now) const {
  const Instant idle = std::max(flow.last_activity + shard_.config.timeouts.idle, now + std::chrono::seconds(1));
  return lesser(due, idle);
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
/// What waits for its host has a timer of its own, or it would not be on the fast path.
bool SplitFlows::may_be_put_off(const Flow& flow) {
  return relay::on_fast_path(flow) && flow.release_reason == ReleaseReason::none &&
         !time_alone_matters(flow, shard_.registry.bearer(flow.bearer));
}

/// By reports, time changes what the law lets the server send, and who uses the room in a window that connections
/// share. By acknowledgements the window is that of the newest one until the bearer is looked at, and nobody has a use
/// for room who is not in line for it; but a server without a window may get one of what others have given back, and
/// while the radio tells no rate the window is what the server shows to need in a time.
bool SplitFlows::time_alone_matters(const Flow& flow, const Bearer& bearer) {
  if (!bearer.steered()) return false;
  return !bearer.clocked() || bearer.load.backlogged_flows != 0 || flow.share.shut || bearer.mean_rate() <= Rate();
}

}  // namespace sluice::proxy
