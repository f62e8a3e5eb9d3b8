// Table and life cycle of the connections that pass end to end: creation, policy change, timers and removal.
// HandshakeTracker and Handback create them, Shard calls advance(). Invariant: each connection is counted in exactly
// one bearer and has one table entry. A successor (it continues a flow that is being handed back) gets its entry in
// inherit().
#include "proxy/engine/end_to_end/end_to_end_flows.hpp"

#include <algorithm>

#include "proxy/engine/base/phases.hpp"

namespace sluice::proxy {
namespace {

/// Time after the newest segment for which the state of a connection is kept once both hosts have sent a FIN. Late
/// retransmissions are thus still recognized.
constexpr Duration closing_time = std::chrono::seconds(10);

}  // namespace

EndToEndFlows::EndToEndFlows(const ShardConfig& config, const Parts& parts, Instant origin)
    : config_(config),
      parts_(parts),
      flows_(config.limits.max_flows),
      ack_control_(config.limits.max_flows),
      rewriter_(parts_, ack_control_),
      held_(flows_, parts_, rewriter_),
      candidates_(config.limits.max_flows),
      half_open_(config.limits.max_flows),
      wheel_(config.limits.max_flows, origin) {}

EndToEndId EndToEndFlows::open(const FirstSyn& first, PolicyIndex policy, Instant now) {
  const EvictionQueue::Entry begun =
      half_open_.begin([&] { return enter(first.key, policy, now); },
                       [&](const EvictionQueue::Entry& oldest) { displace(oldest, now); });
  if (begun.id == none) return none;
  EndToEndFlow& flow = flows_[begun.id];
  flow.ticket = begun.ticket;
  flow.initiator = first.from;
  flow.dscp = first.dscp;
  flow.unfinished = first.unfinished ? bit(first.from) : std::uint8_t{0};
  flow.record_syn(first.from, {first.isn, first.window, first.options});
  // Some copy of the SYN may have offered accurate ECN, and such a connection is not split later.
  if (first.ecn_unclear) flow.syn_of(first.from).options.accurate_ecn = true;
  flow.handshake = flow.last_activity = first.at;
  schedule(flow, begun.id);
  return begun.id;
}

/// Allocates an end-to-end connection and its table entry. Returns `none` if a table is full.
EndToEndId EndToEndFlows::enter(const flow::FlowKey& key, PolicyIndex policy, Instant now) {
  // The connection is allocated before the bearer, because a bearer without connections would never be removed.
  const EndToEndId id = flows_.emplace();
  if (id == flow::Slab<EndToEndFlow>::none) return none;
  const BearerId bearer = parts_.registry.bearer_of(key.ue, policy, now);
  if (bearer == no_id || !parts_.registry.connections().enter_end_to_end(key, id)) {
    flows_.erase(id);
    return none;
  }
  EndToEndFlow& flow = flows_[id];
  flow.key = key;
  flow.last_activity = now;
  parts_.records.open(ConnectionRecords::Table::end_to_end, id, now);
  enter_bearer(flow, bearer);
  return id;
}

void EndToEndFlows::displace(const EvictionQueue::Entry& oldest, Instant now) {
  if (oldest.id == none || !flows_.contains(oldest.id)) return;
  const EndToEndFlow& flow = flows_[oldest.id];
  if (!flow.half_open() || flow.ticket != oldest.ticket) return;
  parts_.counters.add(Counter::handshakes_displaced);
  close(oldest.id, now);
}

EndToEndId EndToEndFlows::adopt(const KnownConnection& known, Bytes window, Instant now) {
  const EndToEndId id = flows_.emplace();
  if (id == flow::Slab<EndToEndFlow>::none) return none;
  EndToEndFlow& flow = flows_[id];
  parts_.records.open(ConnectionRecords::Table::end_to_end, id, now);
  flow.key = known.key;
  flow.syns = known.syns;
  flow.initiator = known.initiator;
  flow.dscp = known.dscp;
  flow.fins = known.fins;
  flow.unfinished = known.unfinished;
  flow.running = known.running;
  flow.round_trip = known.round_trip;
  flow.segment = std::max(flow.syn_of(Side::radio).options.mss, min_segment);
  flow.last_activity = now;
  flow.successor = true;
  ++successors_;
  enter_bearer(flow, known.bearer);
  flow.begin(known);
  establish(flow);
  if (known.running) flow.begin_opening(Opening::switched, Bytes{}, window);
  return id;
}

void EndToEndFlows::record_advertised(EndToEndId id, tcp::SeqNum edge) {
  DataWay& way = flows_[id].towards(Side::radio);
  control::StreamPosition position = way.position;
  way.window.advertise(position.of(edge.raw()));
}

void EndToEndFlows::inherit(EndToEndId id, Instant now) {
  EndToEndFlow& flow = flows_[id];
  flow.successor = false;
  --successors_;
  if (!parts_.registry.connections().enter_end_to_end(flow.key, id))
    return close(id, now);  // cannot happen: the key is free by now
  schedule(flow, id);
}

void EndToEndFlows::enter_bearer(EndToEndFlow& flow, BearerId bearer) {
  flow.bearer = bearer;
  ++parts_.registry.bearer(bearer).end_to_end_count;
}

void EndToEndFlows::record_end(const EndToEndFlow& flow, EndToEndId id, const char* reason) const {
  ConnectionRecord record;
  record.key = flow.key;
  record.initiator = flow.initiator;
  record.handling = "end to end";
  record.reason = reason != nullptr ? reason : flow.phase == EndToEndPhase::closing ? "closed" : "idle";
  record.last = flow.last_activity;
  record.rtt = {flow.core_trip > Duration::zero() ? flow.round_trip - flow.core_trip : Duration::zero(),
                flow.core_trip};
  const Bearer& bearer = parts_.registry.bearer(flow.bearer);
  if (EndToEndAckControl::watches(flow)) {
    const control::DelayBasedController& law = bearer.ack_controller().law();
    record.rtt[static_cast<std::size_t>(Side::radio)] = law.srtt();
    record.queueing_delay = std::max(law.srtt() - law.base_delay(), Duration::zero());
  }
  parts_.records.end(ConnectionRecords::Table::end_to_end, id, record);
}

void EndToEndFlows::close(EndToEndId id, Instant now, const char* reason) {
  EndToEndFlow& flow = flows_[id];
  if (parts_.records.on() && !flow.half_open() && !flow.successor) [[unlikely]]
    record_end(flow, id, reason);
  held_.release(flow, id, control::AckRelease::all(), now);
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  if (flow.controller) flow.controller->leave(bearer);
  ack_control_.forget(flow, bearer);
  parts_.registry.drop_end_to_end(flow.bearer, now);
  if (flow.successor) {
    --successors_;
  } else {
    parts_.registry.connections().erase(flow.key);
  }
  candidates_.give_up(flow);
  wheel_.cancel(id);
  flows_.erase(id);
}

void EndToEndFlows::rebind(const Policies& policies, Instant now) {
  flows_.for_each([&](EndToEndId id, EndToEndFlow& flow) {
    held_.release(flow, id, control::AckRelease::all(), now);
    Bearer& before = parts_.registry.bearer(flow.bearer);
    if (flow.controller) flow.controller->leave(before);
    flow.controller.reset();
    ack_control_.forget(flow, before);
    flow.running = flow.running || flow.towards(Side::radio).acked > Bytes{};
    if (flow.running && !flow.successor) flow.begin_opening(Opening::switched, flow.towards(Side::radio).acked, {});
    const PolicyIndex policy = policies.choose({flow.key.ue, flow.key.server, flow.key.server_port, flow.dscp});
    const BearerId to = parts_.registry.bearer_of(flow.key.ue, policy, now);
    if (to == no_id) return;  // no place for another bearer: the flow keeps its old one
    --before.end_to_end_count;
    enter_bearer(flow, to);
    const bool splits = flow.splittable && parts_.registry.bearer(to).settings().splits();
    if (!splits) candidates_.give_up(flow);
    flow.to_be_split = splits;
  });
}

/// Changes the phase to open, because the handshake is complete, or to closing if both hosts have sent a FIN. The
/// bearer is then kept for timeouts.idle after its last connection.
void EndToEndFlows::establish(EndToEndFlow& flow) {
  const bool both_closed = flow.fins == (bit(Side::radio) | bit(Side::core));
  flow.phase = both_closed ? EndToEndPhase::closing : EndToEndPhase::open;
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  bearer.use();
  if (bearer.settings().can_regulate()) parts_.counters.add(Counter::flows_regulated);
}

void EndToEndFlows::record_unsplittable(EndToEndId id, Side in, const tcp::Segment& segment, Instant now) {
  EndToEndFlow& flow = flows_[id];
  record_announced(flow, id, in, segment, now);
  if (flow.phase == EndToEndPhase::syn || !is_plausible(flow, in, segment, numbers_of(flow, in, segment))) return;
  flow.splittable = false;
  candidates_.give_up(flow);
}

TrackedConnection EndToEndFlows::give_up(EndToEndId id, Instant now) {
  EndToEndFlow& flow = flows_[id];
  held_.release(flow, id, control::AckRelease::all(), now);
  const TrackedConnection connection = candidates_.where(flow);
  close(id, now, "split");
  return connection;
}

void EndToEndFlows::on_due(EndToEndId id, Instant now) {
  EndToEndFlow& flow = flows_[id];
  held_.release_overdue(flow, id, now);
  if (EndToEndAckControl::watches(flow) && now >= ack_control_.due(flow))
    ack_control_.release_share(flow, parts_.registry.bearer(flow.bearer));
  if (now >= forgotten_at(flow)) {
    close(id, now);
    return;
  }
  schedule(flow, id);
}

void EndToEndFlows::schedule(const EndToEndFlow& flow, EndToEndId id) {
  const Instant silent = EndToEndAckControl::watches(flow) ? ack_control_.due(flow) : never;
  wheel_.schedule(id, std::min({forgotten_at(flow), held_.due(flow), silent}));
}

Instant EndToEndFlows::forgotten_at(const EndToEndFlow& flow) const {
  if (flow.successor) return never;  // removed by the split flow that it succeeds
  switch (flow.phase) {
    case EndToEndPhase::syn:
    case EndToEndPhase::syn_ack:
      return flow.last_activity + config_.timeouts.handshake;
    case EndToEndPhase::closing:
      return flow.last_activity + closing_time;
    case EndToEndPhase::open:
      break;
  }
  return flow.last_activity + config_.timeouts.idle;
}

const char* EndToEndFlows::name_of_phase(const EndToEndFlow& flow) const {
  if (flow.half_open()) return to_string(Phase::handshake);
  const PolicySettings& settings = parts_.registry.bearer(flow.bearer).settings();
  if (settings.observes()) return to_string(Phase::observed);
  return to_string(settings.can_regulate() ? Phase::regulated : Phase::bypassed);
}

void EndToEndFlows::describe(std::vector<FlowInfo>& out, std::size_t limit) {
  flows_.for_each([&](EndToEndId, EndToEndFlow& flow) {
    if (out.size() >= limit || flow.successor) return;
    FlowInfo info;
    info.ue = flow.key.ue;
    info.server = flow.key.server;
    info.ue_port = flow.key.ue_port;
    info.server_port = flow.key.server_port;
    info.phase = name_of_phase(flow);
    const bool unsplit = parts_.registry.bearer(flow.bearer).settings().splits();
    if (unsplit) info.blocker = "end to end";
    if (flow.was_split) info.reason = to_string(ReleaseReason::released_switch).data();
    for (std::size_t i = 0; i < flow.ways.size(); ++i) {
      info.in_flight[i] = std::max(flow.ways[i].sent - flow.ways[i].acked, Bytes{});
      info.peer_window[i] = flow.ways[i].window.edge() - flow.ways[i].acked;
    }
    info.acks_held = flow.held_count;
    out.push_back(info);
  });
}

}  // namespace sluice::proxy
