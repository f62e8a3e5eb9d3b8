// Service of split connections: the work done for each scheduled flow before the burst ends, and the flow timer. Shard,
// classifier and ReportDispatcher call serve_pending(), Shard calls on_due(); receive paths only schedule. Invariant:
// the journal is written before an ACK is sent, and the flow's share in its bearer is correct after each service.
#include "proxy/engine/split/split_flows.hpp"

#include <algorithm>
#include <utility>

#include "proxy/engine/relay/leg_output.hpp"
#include "proxy/engine/split/handback_point.hpp"
#include "proxy/engine/split/short_flow.hpp"

namespace sluice::proxy {
namespace {

/// True if the endpoint has unsent data whose next segment does not fit the window of its peer.
bool is_limited_by_peer(const tcp::Endpoint& endpoint) {
  if (endpoint.unsent() == Bytes{}) return false;
  const Bytes next = std::min(endpoint.unsent(), Bytes(endpoint.effective_mss()));
  return Bytes(endpoint.snd_nxt() - endpoint.snd_una()) + next > endpoint.snd_window();
}

}  // namespace

SplitFlows::SplitFlows(const ShardContext& shard, EndToEndFlows& end_to_end, UplinkAqm& uplink, FlowJournal journal,
                       const flow::HashKey& secret)
    : shard_(shard),
      ack_limit_(shard.config.limits),
      buffer_quota_(shard.config, shard.budget),
      receive_windows_(shard.registry, shard.config.limits, buffer_quota_, ack_limit_),
      flow_controllers_(shard.registry, shard.config.limits.max_flows),
      budget_sharing_(shard.config.limits.max_flows),
      flow_timers_(shard, buffer_quota_),
      journal_(journal),
      pending_(shard.config.limits.max_flows),
      end_to_end_(end_to_end),
      uplink_(uplink),
      stall_timeout_(shard_),
      handback_(shard_, end_to_end, buffer_quota_, ack_limit_, secret),
      time_wait_(shard.config.limits.max_flows),
      paced_(shard.config.limits.max_flows),
      accurate_(shard.config.limits.max_flows),
      begun_(shard.config.limits.max_flows) {}

handshake::LegConfigs SplitFlows::endpoint_configs(const Flow& flow, FlowId id) {
  const tcp::EndpointConfig& legs = shard_.registry.policies().legs();
  const std::array<packet::LinkLimit, 2>& ports = shard_.queue.ports();
  std::array<const tcp::EndpointConfig*, 2> configs = {&legs, &legs};
  if (legs.wants_pacing()) {
    for (std::size_t side = 0; side < configs.size(); ++side) configs.at(side) = &paced_[id].at(side).begin(legs);
  }
  if (flow.handshake.agrees_on_accurate_ecn()) [[unlikely]] {
    for (std::size_t side = 0; side < configs.size(); ++side)
      configs.at(side) = &accurate_[id].at(side).begin(*configs.at(side));
  }
  return {configs, ports};
}

void SplitFlows::set_port(Side side, const packet::LinkLimit& limit, Instant now) {
  shard_.queue.set_port(side, limit);
  shard_.registry.flows().for_each([&](FlowId id, Flow& flow) {
    if (!flow.terminated()) return;
    Leg& leg = flow.leg(side);
    const tcp::SynOptions& host =
        side == flow.initiator ? flow.handshake.initiator_options : flow.handshake.responder_options;
    leg.endpoint.port_carries(host.mss, limit.mss(leg.headers), now);
    schedule(flow, id, StreamEvents::all);
  });
  serve_pending(now);
  shard_.queue.flush(now);
}

Bytes SplitFlows::first_window(const Flow& flow, Side from) const {
  return receive_windows_.first(shard_.registry.bearer(flow.bearer), from);
}

void SplitFlows::begin(Flow& flow, FlowId id, Instant now) {
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  if (journal_.keeps()) journal_.begin(id, flow, shard_.registry.key_of(id));
  begun_[id] = tcp::tick::ms(now);
  shard_.records.open(ConnectionRecords::Table::split, id, now);
  ack_limit_.hold(flow);
  flow.leg(Side::radio).endpoint.set_window_source(bearer.rate_control().window_source(), Bytes{});
  shard_.registry.record_change(flow.bearer);
  bearer.use();
}

void SplitFlows::write_journal(Flow& flow, FlowId id, bool exposed) {
  flow.journaled = exposed;
  journal_.record(id, flow, exposed);
}

void SplitFlows::serve_all_pending(Instant now) {
  pending_.serve_all(shard_.registry, [&](Flow& flow, FlowId id) { serve(flow, id, now); });
}

void SplitFlows::serve_one(FlowId id, Instant now) {
  pending_.serve_one(shard_.registry, id, [&](Flow& flow, FlowId of) { serve(flow, of, now); });
}

/// True if the buffer quota must be computed again before a segment to the host behind `in` advertises a window. That
/// is so if acknowledged bytes have opened the window since the quota was computed. In addition, the receive-buffer
/// demand must not have been measured in the last 10 ms.
template <Side in>
inline bool SplitFlows::window_is_due(const Flow& flow, Instant now) const {
  const Leg& leg = flow.leg(in);
  return leg.space_added && !leg.endpoint.nothing_to_emit(now) && !buffer_quota_.limit_is_fresh(flow, in, now);
}

/// Sends the ACK or window update that is due to the host behind `in`. A fast variant of serve() for flows without
/// other work.
template <Side in>
inline void SplitFlows::send_due(Flow& flow, FlowId id, Instant now) {
  Leg& from = flow.leg(in);
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  if (!bearer.rate_control().is_rate_controlled() && window_is_due<in>(flow, now)) {
    if constexpr (in == Side::core) {
      receive_windows_.update_of_server(flow, bearer, now);
    } else {
      receive_windows_.update_of_ue(flow, bearer, now);
    }
  }
  keep_journal(flow, id);
  const tcp::SeqNum before = from.endpoint.rcv_adv();
  LegOutput output(flow, in, bearer.counts() ? &bearer : nullptr, shard_);
  from.endpoint.emit_due(now, output, Bytes::max());
  buffer_quota_.record_advertised(from);
  bearer.load.reserve(flow.share, from.endpoint.rcv_adv() - before);
  flow_timers_.update(flow, id, now);
}

inline void SplitFlows::serve(Flow& flow, FlowId id, Instant now) {
  const StreamEvents events = std::exchange(flow.events, StreamEvents::none);
  if (events == due_to(Side::core)) return send_due<Side::core>(flow, id, now);
  if (events == due_to(Side::radio)) return send_due<Side::radio>(flow, id, now);
  if (!relay::on_fast_path(flow) || flow.release_reason != ReleaseReason::none) [[unlikely]] {
    serve_slow_path(flow, id, now);
    return;
  }
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  // Received data uses window that its sender knows of. Without a controller, acknowledged data opens a window, and the
  // quota is read again when that window is advertised.
  const bool rate_controlled = bearer.rate_control().is_rate_controlled();
  bool opens = contains(events, StreamEvents::acked_by_radio);
  if (contains(events, StreamEvents::data_to_radio)) {
    opens = opens ||
            (rate_controlled ? ReceiveWindowControl::data_opens(flow, bearer) : window_is_due<Side::core>(flow, now));
    relay::pump_fast_path(flow, Side::radio);
  }
  if (opens) receive_windows_.update_of_server(flow, bearer, now);
  if (contains(events, StreamEvents::data_to_core)) relay::pump_fast_path(flow, Side::core);
  if (contains(events, rate_controlled ? StreamEvents::to_core : StreamEvents::acked_by_core) ||
      (contains(events, StreamEvents::data_to_core) && window_is_due<Side::radio>(flow, now)))
    receive_windows_.update_of_ue(flow, bearer, now);
  if (UndeliveredAckLimit::waits(flow)) [[unlikely]]
    ack_limit_.allow(flow, bearer);
  keep_journal(flow, id);
  // Without any of these conditions, held and advertised bytes have the same sum as before.
  if (emit(flow, bearer, now) || contains(events, StreamEvents::acked) || rate_controlled ||
      flow.leg(Side::radio).endpoint.unsent() != Bytes(flow.share.backlog))
    update_accounting(flow, bearer, events);
  if (flow.share.short_flow) [[unlikely]]
    short_flow::follow(flow, bearer, /*over=*/false, now);
  flow_timers_.update(flow, id, now);
  if (bearer.has_waiting_flows()) distribute_budget(bearer, now);
}

/// Processes the pending events of a flow on the slow path. The reason is that its release is requested, or that a leg
/// is not established, in recovery, reordering or closing.
void SplitFlows::serve_slow_path(Flow& flow, FlowId id, Instant now) {
  const BearerId of = flow.bearer;
  Bearer& bearer = shard_.registry.bearer(of);
  const ServedFlow served{flow, id, bearer, now};
  const bool stays = flow.release_reason != ReleaseReason::none ? serve_releasing(served) : serve_repairing(served);
  // The flow may be closed, and its bearer with it.
  if (!stays && !shard_.registry.bearers().contains(of)) return;
  if (bearer.has_waiting_flows()) distribute_budget(bearer, now);
}

/// Processes the pending events of a flow of which a leg is in recovery, reordering or closing, and which is not being
/// released. Returns false if the flow was closed.
bool SplitFlows::serve_repairing(const ServedFlow& served) {
  const auto& [flow, id, bearer, now] = served;
  if (is_fully_closed(flow, bearer, now)) {
    keep_journal(flow, id);
    update_accounting(flow, bearer, StreamEvents::all);
  } else {
    relay_ends(served);
  }
  if (flow.share.short_flow)
    short_flow::follow(flow, bearer, flow.release_reason != ReleaseReason::none || relay::both_legs_closed(flow), now);
  if (relay::finished(flow)) {
    end_finished(flow, id, now);
    return false;
  }
  if (!flow.in_time_wait && relay::both_legs_closed(flow)) {
    enter_time_wait(flow, id, now);
  } else {
    flow_timers_.update(flow, id, now);
    stall_timeout_.watch_holes(flow, id);
  }
  return true;
}

/// True if both FINs are acknowledged, and neither leg has data, ACK, window update or RST to send. False while ACKs
/// are withheld, a per-flow window controller runs, or Node-B reports must still update a window.
inline bool SplitFlows::is_fully_closed(const Flow& flow, const Bearer& bearer, Instant now) {
  for (const Leg& leg : flow.legs) {
    const tcp::Endpoint& endpoint = leg.endpoint;
    if (!endpoint.has_finished() || !endpoint.nothing_to_emit(now)) return false;
    if (endpoint.unread() != Bytes{} || leg.reset_pending) return false;
  }
  return !flow.share.window_closed && !UndeliveredAckLimit::waits(flow) && !bearer.rate_control().limits_inflight();
}

/// Relays payload, FIN, RST, keep-alives and windows, then makes both legs send.
void SplitFlows::relay_ends(const ServedFlow& served) {
  const auto& [flow, id, bearer, now] = served;
  relay::pump(flow);
  relay::pass_ends(flow);
  relay::pass_keepalives(flow);
  // A host that has sent a FIN needs no window.
  if (flow.leg(Side::radio).endpoint.expects_data()) receive_windows_.update_of_ue(flow, bearer, now);
  if (flow.leg(Side::core).endpoint.expects_data() || flow.share.window_closed)
    receive_windows_.update_of_server(flow, bearer, now);
  emit_with_ends(served);
}

bool SplitFlows::serve_releasing(const ServedFlow& served) {
  const auto& [flow, id, bearer, now] = served;
  if (flow.release_reason == ReleaseReason::never_split) {
    close(id, now);
    return false;
  }
  relay::pump(flow);
  relay::pass_ends(flow);
  relay::pass_keepalives(flow);
  handback_.advance(flow, now);
  emit_with_ends(served);
  if (handback::level_marks(flow, now)) emit(flow, bearer, now);
  if (relay::finished(flow)) {
    count_end(flow, id);
  } else if (Handback::is_complete(flow)) {
    handback_.release(flow, now);
  } else {
    flow_timers_.update(flow, id, now);
    if (const Instant due = handback::next_question(flow); due != never) flow_timers_.arm(flow, id, due, now);
    stall_timeout_.watch_holes(flow, id);
    return true;
  }
  close(id, now);
  return false;
}

/// Sends on both legs. If a leg has then ended abnormally (by a reset, a timeout or an abort), resets the other leg.
void SplitFlows::emit_with_ends(const ServedFlow& served) {
  const auto& [flow, id, bearer, now] = served;
  if (UndeliveredAckLimit::waits(flow)) ack_limit_.allow(flow, bearer);
  keep_journal(flow, id);
  emit(flow, bearer, now);
  if (relay::has_unrelayed_end(flow)) [[unlikely]]
    relay_abnormal_end(served);
  update_accounting(flow, bearer, StreamEvents::all);
}

void SplitFlows::relay_abnormal_end(const ServedFlow& served) {
  const auto& [flow, id, bearer, now] = served;
  relay::pump(flow);
  relay::pass_ends(flow);
  emit(flow, bearer, now);
}

void SplitFlows::use_budget(Bearer& bearer, Instant now) {
  distribute_budget(bearer, now);
  serve_pending(now);
}

/// Updates the flow's part in the sums of its bearer (BearerLoad), such as unsent bytes and advertised windows. Also
/// updates the reservation of the advertised windows in the buffer budget. `events` are the events on the flow's
/// streams since the last update.
void SplitFlows::update_accounting(Flow& flow, Bearer& bearer, StreamEvents events) {
  const tcp::Endpoint& radio = flow.leg(Side::radio).endpoint;
  // Others share the link's rate without a flow that the UE's own window limits.
  const bool transferring = flow.window_loop != no_id && radio.held() > Bytes{} && !is_limited_by_peer(radio);
  bearer.load.update(flow.share, static_cast<std::uint32_t>(radio.unsent().count()), buffer_quota_.record(flow, events),
                     transferring);
  // A flow that does not share the link's rate leaves none of it to the others.
  if (flow.limited_elsewhere && !transferring) [[unlikely]]
    BudgetSharing::record_bottleneck(flow, bearer, false);
}

void SplitFlows::release_idle(Flow& flow, FlowId id, Instant now) {
  flow.release_reason = ReleaseReason::released_idle;
  if (flow.phase == FlowPhase::split && handback::marks_differ(flow)) {
    flow.last_activity = now;  // if no host answers, the connection is released after the same time
    schedule(flow, id, StreamEvents::all);
    return;
  }
  handback_.release(flow, now);
  close(id, now);
}

void SplitFlows::on_due(FlowId id, Instant now) {
  Flow& flow = shard_.registry.flow(id);
  const ShardTimeouts& timeouts = shard_.config.timeouts;
  if (!flow.terminated()) {
    if (now - flow.last_activity >= timeouts.handshake) {
      shard_.counters.add(Counter::handshake_timeouts);
      close(id, now);
    } else {
      shard_.registry.timers().schedule(flow, id, flow.last_activity + timeouts.handshake);
    }
    return;
  }
  if (now - flow.last_activity >= timeouts.idle && handback::at_rest(flow)) {
    release_idle(flow, id, now);
    return;
  }
  if (const Instant due = FlowTimers::next_deadline(flow); due > now && flow_timers_.can_be_postponed(flow, now)) {
    flow_timers_.arm(flow, id, due, now);
    return;
  }
  if (flow.in_time_wait && on_time_wait_timer(flow, id, now)) return;
  stall_timeout_.end(flow, now);
  for (const Side side : {Side::radio, Side::core}) {
    tcp::Endpoint& endpoint = flow.leg(side).endpoint;
    if (endpoint.next_deadline() > now) continue;
    const auto before = endpoint.counters().timeouts;
    endpoint.on_timer(now);
    if (endpoint.counters().timeouts != before) {
      shard_.counters.add(side == Side::radio ? Counter::timeouts_radio : Counter::timeouts_core);
    }
  }
  schedule(flow, id, StreamEvents::all);
}

}  // namespace sluice::proxy
