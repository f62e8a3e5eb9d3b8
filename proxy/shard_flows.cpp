// Serving split connections: relay, windows, sending, timers, and the end.

#include <algorithm>
#include <utility>

#include "proxy/handover.hpp"
#include "proxy/leg_output.hpp"
#include "proxy/relay.hpp"
#include "proxy/shard_impl.hpp"

namespace sluice::proxy {
namespace {

/// Until a host has sent something, the window that the handshake itself promised it is as good as ours, and an update
/// would be a packet for nothing; unless it is too small to begin with.
bool window_matters(const Flow& flow, Side from) {
  if (flow.leg(from).heard) return true;
  const tcp::Endpoint& endpoint = flow.leg(from).endpoint;
  return endpoint.rcv_nxt() != flow.first_byte_from(from) ||
         Bytes(endpoint.rcv_edge() - endpoint.rcv_nxt()) < relay::least_window;
}

/// What the host behind `in` may be promised: no more than the other one takes itself, until it has shown that it sends
/// more. A connection that carries little can so be handed back at any time.
Bytes promise_to(const Flow& flow, Side in, Bytes most) {
  const Bytes sent = flow.sent_from(in, flow.leg(in).endpoint.rcv_nxt());
  return std::min(most, std::max(sent, flow.leg(opposite(in)).endpoint.snd_window()));
}

}  // namespace

void Shard::Impl::mark(Flow& flow, FlowId id, Streams streams) {
  if (flow.stirred == Streams::none) marked_.push_back(id);
  flow.stirred = flow.stirred | streams;
}

void Shard::Impl::serve_marked(Instant now) {
  for (std::size_t i = 0; i < marked_.size(); ++i) {
    if (i + 1 < marked_.size()) registry_.flows().prefetch(marked_[i + 1]);
    const FlowId id = marked_[i];
    // One that was closed since stays on the list; who has its place now is on it with a mark of its own.
    if (closed_marked_ && !(registry_.flows().contains(id) && registry_.flow(id).stirred != Streams::none)) [[unlikely]]
      continue;
    serve(registry_.flow(id), id, now);
  }
  marked_.clear();
  closed_marked_ = false;
}

inline void Shard::Impl::serve(Flow& flow, FlowId id, Instant now) {
  const Streams stirred = std::exchange(flow.stirred, Streams::none);
  if (!relay::calm(flow) || flow.let_go != LetGo::no) [[unlikely]] {
    serve_troubled(flow, id, now);
    return;
  }
  Bearer& bearer = registry_.bearer(flow.bearer);
  if (contains(stirred, Streams::to_radio)) {
    relay::pump_towards(flow, Side::radio);
    update_window_of_server(flow, bearer, now);
  }
  if (contains(stirred, Streams::to_core)) {
    relay::pump_towards(flow, Side::core);
    update_window_of_ue(flow, bearer, now);
  }
  keep_journal(flow, id);
  emit(flow, bearer, now);
  note_backlog(flow, bearer);
  note_memory(flow, bearer, stirred);
  reschedule(flow, id, now);
}

/// The same for a flow of which a leg is not open yet, in recovery, reordering or ending.
void Shard::Impl::serve_troubled(Flow& flow, FlowId id, Instant now) {
  Bearer& bearer = registry_.bearer(flow.bearer);
  if (flow.let_go != LetGo::no) {
    serve_leaving(flow, bearer, id, now);
    return;
  }
  relay::pump(flow);
  relay::pass_ends(flow);
  relay::pass_questions(flow);
  update_window_of_ue(flow, bearer, now);
  update_window_of_server(flow, bearer, now);
  emit_with_ends(flow, id, bearer, now);
  if (relay::finished(flow)) {
    count_end(flow);
    close(id, now);
    return;
  }
  reschedule(flow, id, now);
  look_after_holes(flow, id);
}

/// Sends what can be sent, and passes on the end that may have come of it.
void Shard::Impl::emit_with_ends(Flow& flow, FlowId id, Bearer& bearer, Instant now) {
  if (exposure_capped(flow)) allow_acknowledgements(flow, bearer);
  keep_journal(flow, id);
  emit(flow, bearer, now);
  if (relay::has_news_of_end(flow)) {
    relay::pump(flow);
    relay::pass_ends(flow);
    emit(flow, bearer, now);
  }
  note_backlog(flow, bearer);
  note_memory(flow, bearer, Streams::both);
}

void Shard::Impl::emit(Flow& flow, Bearer& bearer, Instant now) {
  if (bearer.bounds()) [[unlikely]]
    follow_law(flow, bearer, now);
  if (!flow.leg(Side::core).endpoint.nothing_to_emit(now)) emit(flow, bearer, Side::core, Bytes::max(), now);
  if (!flow.leg(Side::radio).endpoint.nothing_to_emit(now)) emit(flow, bearer, Side::radio, bearer.allowance(), now);
}

void Shard::Impl::emit(Flow& flow, Bearer& bearer, Side side, Bytes most, Instant now) {
  tcp::Endpoint& endpoint = flow.leg(side).endpoint;
  LegOutput output(flow, side, counted(bearer), parts_);
  const std::uint32_t before = endpoint.counters().retransmitted;
  if (side == Side::radio && bearer.bounds()) [[unlikely]]
    most = room_in_window(flow, bearer, now);
  const Bytes sent = endpoint.emit(now, output, most);
  if (side == Side::radio) {
    bearer.spend(sent);
    flow.sent_to_radio += sent;
    if (flow.governed != no_id) [[unlikely]]
      note_sent(flow, bearer, sent);
  }
  if (const std::uint32_t repeated = endpoint.counters().retransmitted - before; repeated != 0) [[unlikely]] {
    counters_.add(side == Side::radio ? Counter::retransmitted_radio : Counter::retransmitted_core, repeated);
  }
}

void Shard::Impl::update_window_of_ue(Flow& flow, const Bearer& bearer, Instant now) {
  if (!window_matters(flow, Side::radio)) return;
  const Bytes most = promise_to(flow, Side::radio, relay_limit(flow, bearer, Side::radio, now));
  open_window(flow, Side::radio, most - relay::held_towards(flow, Side::core));
}

void Shard::Impl::update_window_of_server(Flow& flow, Bearer& bearer, Instant now) {
  if (!window_matters(flow, Side::core)) return;
  const Bytes held = relay::held_towards(flow, Side::radio);
  const Bytes limit = relay_limit(flow, bearer, Side::core, now);
  if (!bearer.steered()) {
    open_window(flow, Side::core, promise_to(flow, Side::core, limit) - held);
    note_shut(flow, bearer, false);
    return;
  }
  control::ReceiveWindowLoop* const loop = second_loop(flow, bearer, held);
  if (loop == nullptr) {
    open_window(flow, Side::core, first_window(flow, Side::core) - held);
    return;
  }
  const Bytes room = std::min(limit - held, steered_room(flow, bearer, *loop));
  open_window(flow, Side::core, room, tcp::WindowUpdates::prompt);
  // With nothing under way nothing of this flow's own would bring it back here.
  note_shut(flow, bearer, room < Bytes(flow.leg(Side::core).endpoint.effective_mss()));
}

void Shard::Impl::note_shut(Flow& flow, Bearer& bearer, bool shut) {
  bearer.shut_flows += (shut ? 1U : 0U) - (flow.shut ? 1U : 0U);
  flow.shut = shut;
}

Bytes Shard::Impl::first_window(const Flow& flow, Side from) const {
  const Bearer& bearer = registry_.bearer(flow.bearer);
  const Treatment& treatment = bearer.treatment();
  const Bytes most = std::clamp(budget_.most_of_ue(bearer.committed, Bytes{}), relay::least_window, relay_limit_);
  const bool steered = needs_feedback(treatment.mode) && from == Side::core;
  return steered ? std::min(most, treatment.smvs.receive_window.initial) : most;
}

/// None while the connection carries little: its first window is all it takes.
control::ReceiveWindowLoop* Shard::Impl::second_loop(Flow& flow, const Bearer& bearer, Bytes held) {
  if (flow.window_loop == no_id) {
    const control::ReceiveWindowParameters& parameters = bearer.treatment().smvs.receive_window;
    if (held + flow.sent_from(Side::core, flow.leg(Side::core).endpoint.rcv_nxt()) < parameters.initial / 2)
      return nullptr;
    flow.window_loop = window_loops_.emplace(parameters);
    if (flow.window_loop == no_id) return nullptr;
  }
  return &window_loops_[flow.window_loop];
}

/// What the second loop promises the server.
Bytes Shard::Impl::steered_room(const Flow& flow, const Bearer& bearer, control::ReceiveWindowLoop& loop) {
  const tcp::Endpoint& server = flow.leg(Side::core).endpoint;
  const Bytes promised(server.rcv_edge() - server.rcv_nxt());
  const std::uint32_t sharing = std::max<std::uint32_t>(bearer.moving_flows, 1);
  // What awaits an acknowledgement at the UE is the first loop's affair; the second holds what is not sent yet.
  const control::ReceiveWindowObservation seen{.buffered = flow.leg(Side::radio).endpoint.unsent(),
                                               .promised = promised,
                                               .radio_error = control::OnWire(bearer.radio_error().amount() / sharing),
                                               .drain = control::OnWire(bearer.mean_rate() * (1.0 / sharing)),
                                               .server_rtt = server.srtt(),
                                               .framing = bearer.framing()};
  return promised + loop.advance(seen);
}

void Shard::Impl::note_backlog(Flow& flow, Bearer& bearer) {
  const tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
  const bool moving = flow.window_loop != no_id && relay::held_towards(flow, Side::radio) > Bytes{};
  bearer.moving_flows += (moving ? 1U : 0U) - (flow.moving ? 1U : 0U);
  flow.moving = moving;
  const auto unsent = static_cast<std::uint32_t>(endpoint.unsent().count());
  if (unsent == flow.backlog) return;
  bearer.backlog += Bytes(unsent) - Bytes(flow.backlog);
  bearer.backlogged_flows += (unsent != 0 ? 1U : 0U) - (flow.backlog != 0 ? 1U : 0U);
  flow.backlog = unsent;
}

void Shard::Impl::reschedule(Flow& flow, FlowId id, Instant now) {
  const Instant due = std::min(flow.legs[0].endpoint.next_deadline(), flow.legs[1].endpoint.next_deadline());
  if (flow.deadline <= due && flow.deadline != never) return;  // looked at in time, for idleness too
  const Instant idle = std::max(flow.last_activity + config_.timeouts.idle, now + std::chrono::seconds(1));
  registry_.schedule_flow(flow, id, std::min(due, idle));
}

void Shard::Impl::on_flow_due(FlowId id, Instant now) {
  Flow& flow = registry_.flow(id);
  if (!flow.terminated()) {
    if (now - flow.last_activity >= config_.timeouts.handshake) {
      counters_.add(Counter::handshake_timeouts);
      close(id, now);
    } else {
      registry_.schedule_flow(flow, id, flow.last_activity + config_.timeouts.handshake);
    }
    return;
  }
  if (now - flow.last_activity >= config_.timeouts.idle && handover::at_rest(flow)) {
    flow.let_go = LetGo::let_go_idle;
    let_go(flow, now);
    close(id, now);
    return;
  }
  end_what_stalls(flow, now);
  for (const Side side : {Side::radio, Side::core}) {
    tcp::Endpoint& endpoint = flow.leg(side).endpoint;
    if (endpoint.next_deadline() > now) continue;
    const auto timeouts = endpoint.counters().timeouts;
    endpoint.on_timer(now);
    if (endpoint.counters().timeouts != timeouts) {
      counters_.add(side == Side::radio ? Counter::timeouts_radio : Counter::timeouts_core);
    }
  }
  mark(flow, id, Streams::both);
}

void Shard::Impl::count_end(const Flow& flow) {
  bool reset = false;
  bool timed_out = false;
  bool abandoned = true;  // counted when it was
  for (const Leg& leg : flow.legs) {
    reset = reset || leg.endpoint.close_reason() == tcp::CloseReason::reset_by_peer;
    timed_out = timed_out || leg.endpoint.close_reason() == tcp::CloseReason::timed_out;
    abandoned = abandoned && leg.endpoint.close_reason() == tcp::CloseReason::aborted;
  }
  if (abandoned) return;
  counters_.add(timed_out ? Counter::flows_timed_out : reset ? Counter::flows_reset : Counter::flows_closed);
}

void Shard::Impl::close(FlowId id, Instant now) {
  Flow& flow = registry_.flow(id);
  Bearer& bearer = registry_.bearer(flow.bearer);
  bearer.backlog -= Bytes(flow.backlog);
  if (flow.backlog != 0) --bearer.backlogged_flows;
  if (flow.moving) --bearer.moving_flows;
  if (flow.shut) --bearer.shut_flows;
  for (const Leg& leg : flow.legs) bearer.exposed -= Bytes(leg.exposed);
  forget_memory(flow, bearer);
  if (flow.window_loop != no_id) window_loops_.erase(flow.window_loop);
  if (flow.governed != no_id) forget_law(flow, bearer);
  closed_marked_ = closed_marked_ || flow.stirred != Streams::none;
  const RegulatedId heir = flow.heir;
  const bool over = flow.terminated() && relay::quiet(flow);
  if (flow.terminated()) journal_.end(id);
  registry_.close(id, now);
  ids_stale_ = true;
  if (heir == no_id) return;
  if (over) {
    regulator_.close(heir, now);
  } else {
    regulator_.inherit(heir, now);
  }
}

}  // namespace sluice::proxy
