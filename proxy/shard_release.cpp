// Handing split connections back to their hosts: who is asked to go, what is still ours meanwhile, and the end.

#include <algorithm>
#include <utility>

#include "proxy/handover.hpp"
#include "proxy/relay.hpp"
#include "proxy/shard_impl.hpp"
#include "proxy/surprise.hpp"

namespace sluice::proxy {
namespace {

/// Flows that a walk over all of them looks at before packets get their turn again.
constexpr std::uint32_t sweep_step = 128;

}  // namespace

void Shard::Impl::release(const std::optional<IpAddress>& ue, Instant now) {
  if (!ue) {
    sweep(LetGo::let_go_command);
    return;
  }
  const BearerId bearer = registry_.find_bearer(*ue);
  if (bearer == flow::no_flow) return;
  registry_.for_each_flow_of(bearer, [this](Flow& flow, FlowId id) { ask_to_go(flow, id, LetGo::let_go_command); });
  serve_marked(now);
  queue_.flush(now);
}

void Shard::Impl::drain(bool on) {
  draining_ = on;
  sweep(on ? LetGo::let_go_drain : LetGo::no);
}

void Shard::Impl::abort_all() {
  draining_ = true;
  sweep(LetGo::let_go_drain);
  sweep_.ends = true;
}

void Shard::Impl::sweep(LetGo reason) {
  sweep_ = {.reason = reason, .active = true};
}

void Shard::Impl::sweep_on(Instant now) {
  flow::Slab<Flow>& flows = registry_.flows();
  const std::uint32_t end = std::min(sweep_.next + sweep_step, flows.reach());
  for (; sweep_.next < end; ++sweep_.next) {
    if (!flows.contains(sweep_.next)) continue;
    if (!sweep_.ends) {
      ask_to_go(flows[sweep_.next], sweep_.next, sweep_.reason);
    } else if (!end_now(flows[sweep_.next], sweep_.next, now)) {
      sweep_.again = true;
    }
  }
  if (sweep_.next < flows.reach()) return;
  sweep_.active = std::exchange(sweep_.again, false);
  sweep_.next = 0;
}

/// What one host was told that the other one has: where nothing is missing there, plain forwarding takes over in this
/// moment. Otherwise both are told that the connection is over. False when there was no buffer to say so.
bool Shard::Impl::end_now(Flow& flow, FlowId id, Instant now) {
  if (!flow.terminated()) {
    close(id, now);
    return true;
  }
  if (!relay::owes(flow)) {
    if (flow.let_go == LetGo::no) flow.let_go = LetGo::let_go_drain;
    let_go(flow, now);
    close(id, now);
    return true;
  }
  Bearer& bearer = registry_.bearer(flow.bearer);
  for (const Side side : {Side::radio, Side::core}) {
    flow.leg(side).reset_pending = false;
    flow.leg(side).endpoint.abort();
    emit(flow, bearer, side, Bytes::max(), now);
  }
  if (!relay::quiet(flow)) return false;
  counters_.add(Counter::flows_reset_by_stop);
  close(id, now);
  return true;
}

void Shard::Impl::on_surprise(Side in, const packet::Packet& packet, packet::ParseResult result,
                              const packet::Parsed& parsed, Instant now) {
  const auto begun = read_surprise(packet, parsed, result);
  if (!begun) return;
  const flow::FlowKey key = key_of(in, *begun);
  const Registry::ConnectionId id = registry_.find(key);
  if (id == flow::no_flow) return released_.surprised(key, in, begun->segment, now);
  if (registry_.is_regulated(id)) return regulator_.surprised(registry_.regulated(id), in, begun->segment);
  Flow& flow = registry_.flow(id);
  if (flow.phase == FlowPhase::handing_over) {
    Leg& own = flow.leg(in);
    const bool believed = handover::judge(flow, in, begun->segment, own.endpoint.rcv_edge()).believed;
    own.passed_by = own.passed_by || believed;
    return;
  }
  if (flow.terminated()) {
    if (!flow.leg(in).endpoint.is_plausible(begun->segment)) return;
    const bool news = flow.let_go != LetGo::let_go_surprise;
    if (news && flow.surprises < Released::most_surprises) ++flow.surprises;
    flow.let_go = LetGo::let_go_surprise;
  } else {
    if (!handshake::is_plausible(flow, in, begun->segment)) return;
    flow.let_go = LetGo::forget;
  }
  mark(flow, id, Streams::both);
  // The seam has to be set before anything that came behind the surprise is looked at.
  serve_marked(now);
  // What it brings lies behind the seam.
  if (const Registry::ConnectionId left = registry_.find(key); left == flow::no_flow) {
    released_.surprised(key, in, begun->segment, now);
  } else if (registry_.flow(left).phase == FlowPhase::handing_over) {
    registry_.flow(left).leg(in).passed_by = true;
  }
}

void Shard::Impl::ask_to_go(Flow& flow, FlowId id, LetGo reason) {
  if (reason == LetGo::let_go_memory && !(flow.terminated() && relay::empty(flow))) return;
  if (reason == LetGo::no) {
    // A handover that has begun goes on: its segments are with the other host already. What the policies want stays.
    if (flow.phase == FlowPhase::split && flow.let_go != LetGo::let_go_switch) {
      flow.let_go = reason;
      hold_acknowledgements(flow);
    }
  } else if (flow.let_go == LetGo::no) {
    flow.let_go = flow.terminated() ? reason : LetGo::forget;
    if (flow.let_go == LetGo::let_go_drain) hold_acknowledgements(flow);
  }
  mark(flow, id, Streams::both);
}

StayingFlows Shard::Impl::staying() const {
  StayingFlows staying;
  registry_.flows().for_each([&](FlowId, const Flow& flow) {
    if (!flow.terminated()) return;
    const Obstacle obstacle = flow.let_go == LetGo::no ? Obstacle::none : handover::obstacle(flow);
    ++staying.by_obstacle[static_cast<std::size_t>(obstacle)];
    ++staying.total;
    if (handover::breaks_without_us(flow)) ++staying.broken_by_a_stop;
  });
  return staying;
}

/// Begins the handover, or sees to it that it can be begun.
void Shard::Impl::lead_out(Flow& flow, Instant now) {
  const Obstacle obstacle = handover::obstacle(flow);
  const bool to_heir = flow.let_go == LetGo::let_go_switch;
  const bool at_once = flow.let_go == LetGo::let_go_surprise && obstacle != Obstacle::closing;
  // What the server sends from then on must not overtake what waits here.
  const bool drained = !to_heir || flow.leg(Side::radio).endpoint.unsent() == Bytes{};
  if (relay::quiet(flow) || !(at_once || (obstacle == Obstacle::none && drained))) {
    handover::promise_no_more(flow, relay_limit_, to_heir ? Bytes{} : relay_limit_);
  } else if (to_heir) {
    handover::begin_for_heir(flow);
    flow.heir = regulator_.adopt(handover::known(flow), handover::most_for_heir(flow), now);
  } else {
    handover::begin(flow);
  }
}

void Shard::Impl::serve_leaving(Flow& flow, Bearer& bearer, FlowId id, Instant now) {
  if (flow.let_go == LetGo::forget) {
    close(id, now);
    return;
  }
  relay::pump(flow);
  relay::pass_ends(flow);
  relay::pass_questions(flow);
  if (flow.phase == FlowPhase::split) lead_out(flow, now);
  if (flow.heir != no_id) {
    regulator_.promised(flow.heir, handover::make_room(flow, regulator_.opening_window(flow.heir)));
  }
  emit_with_ends(flow, id, bearer, now);
  if (relay::finished(flow)) {
    count_end(flow);
  } else if (relay::quiet(flow) || (flow.phase == FlowPhase::handing_over && handover::delivered(flow))) {
    let_go(flow, now);
  } else {
    reschedule(flow, id, now);
    look_after_holes(flow, id);
    return;
  }
  close(id, now);
}

/// The flow is about to be forgotten; its connection goes on between its hosts, and is followed where it may come back.
void Shard::Impl::let_go(const Flow& flow, Instant now) {
  counters_.add(counter_of(flow.let_go));
  if (relay::quiet(flow) || flow.heir != no_id) return;
  counters_.add(Counter::released_forgotten, released_.add(flow, now));
}

/// Splits a connection that passes from this segment on; false where it has no place.
bool Shard::Impl::take_up(const FollowedConnection& connection, const flow::FlowKey& key, PolicyIndex policy, Side in,
                          const tcp::Segment& segment, Instant now) {
  const FlowId id = registry_.open(key, policy, now);
  if (id == no_id) return false;
  Flow& flow = registry_.flow(id);
  connection.restore(in, segment, flow, endpoint_configs(id), now);
  ids_stale_ = true;
  begin_split(flow, id, registry_.bearer(flow.bearer));
  return true;
}

/// One that was let go; false also where its policy is another now.
bool Shard::Impl::take_up_released(std::uint32_t released, Side in, const packet::Parsed& parsed,
                                   const flow::FlowKey& key, Instant now) {
  const PolicyIndex policy = policies_->choose(view_of(in, parsed));
  if (!policies_->treatment(policy).splits()) return false;
  if (!take_up(released_.connection(released), key, policy, in, parsed.segment, now)) return false;
  registry_.flow(registry_.find(key)).surprises = released_.surprises(released) & 15U;
  released_.forget(released);
  counters_.add(Counter::flows_taken_up);
  return true;
}

/// Of a connection that passes end to end although its policy splits: it is split when both directions are quiet.
void Shard::Impl::let_pass_until_split(Side in, packet::Packet&& packet, packet::ParseResult result,
                                       const packet::Parsed& parsed, const flow::FlowKey& key, RegulatedId id,
                                       Instant now) {
  if (result == packet::ParseResult::tcp && !handshake_damaged(in, packet, parsed)) {
    const bool welcome = !draining_ && !refuse_flows_ && registry_.has_room();
    if (welcome && regulator_.may_be_split(id, in, parsed.segment)) {
      const PolicyIndex policy = regulator_.policy_of(id);
      const FollowedConnection connection = regulator_.give_up(id, now);
      ids_stale_ = true;
      if (take_up(connection, key, policy, in, parsed.segment, now)) {
        counters_.add(Counter::flows_split_by_switch);
        take_in(in, std::move(packet), parsed, registry_.find(key), now);
      } else {  // cannot be: there is room, and its name is free
        forward(in, std::move(packet), result, parsed, Counter::forward_flow_limit, now);
      }
      return;
    }
    regulator_.follow(id, in, packet, parsed);
  }
  let_pass(in, std::move(packet), result, parsed, id, now);
}

void Shard::Impl::pass_over(Side in, packet::Packet&& packet, packet::ParseResult result, const packet::Parsed& parsed,
                            FlowId id, Instant now) {
  Flow& flow = registry_.flow(id);
  if (!checksum_acceptable(in, packet::verify_tcp_checksum(packet, parsed))) return;
  tcp::Endpoint& own = flow.leg(in).endpoint;
  tcp::SeqNum edge = own.rcv_edge();
  if (flow.heir != no_id) edge = tcp::later(edge, regulator_.edge_towards(flow.heir, opposite(in)));
  const handover::Verdict verdict = handover::judge(flow, in, parsed.segment, edge);
  if (verdict.believed || verdict.feed) flow.last_activity = now;
  if (verdict.feed) {
    packet::Packet payload;
    if (verdict.whole && parsed.segment.payload_len != 0) {
      packet::strip_to_payload(packet, parsed);
      payload = std::move(packet);
    }
    const tcp::SeqNum acked = own.snd_una();
    own.receive(verdict.ours, std::move(payload), now);
    if (own.snd_una() != acked) relay::note_progress(flow, in, now);
    mark(flow, id, Streams::both);
  }
  if (verdict.forward && flow.heir != no_id) {
    let_pass(in, std::move(packet), result, parsed, flow.heir, now);
    if (!regulator_.contains(flow.heir)) flow.heir = no_id;
  } else if (verdict.forward) {
    if (verdict.believed) {
      handover::note_promise(flow, in, parsed.segment);
      if (parsed.segment.payload_len != 0) flow.leg(in).passed_by = true;
    }
    forward(in, std::move(packet), result, parsed, Counter::forward_handover, now);
  } else {
    counters_.add(Counter::optimised);
  }
}

}  // namespace sluice::proxy
