// Packet memory: what connections may hold and promise, what is refused when little is left, and who has to give back.

#include <algorithm>

#include "proxy/relay.hpp"
#include "proxy/shard_impl.hpp"

namespace sluice::proxy {
namespace {

/// What a connection is granted without having shown that it needs it, while the budget has room for that.
constexpr Bytes unasked{1024 * 1024};

/// While little memory is left the connections are gone through this often.
constexpr Duration shed_period = std::chrono::milliseconds(100);

/// Flows that a walk over all of them looks at before packets get their turn again.
constexpr std::uint32_t reclaim_step = 128;

/// A connection whose host has taken nothing for so long may be ended for want of memory.
constexpr Duration no_progress = std::chrono::seconds(5);

/// What one direction holds and has promised.
Bytes committed(const Flow& flow, Side in) {
  return relay::held_towards(flow, opposite(in)) + flow.leg(in).endpoint.promised();
}

}  // namespace

void Shard::Impl::look_at_memory(Instant now) {
  if (!budget_.look(now)) return;
  relay_limit_ =
      std::clamp(budget_.most_unasked(Bytes{}), relay::least_window, std::min(unasked, config_.limits.relay_buffer));
  refuse_flows_ = budget_.used() > config_.limits.refuse_flows_at;
  if (now - shed_ < shed_period) return;
  if (budget_.used() > config_.limits.let_flows_go_at && !sweep_.active) {
    shed_ = now;
    sweep(LetGo::let_go_memory);
  }
  if (budget_.tight() && !reclaim_.active) {
    shed_ = now;
    begin_reclaim();
  }
}

/// What the direction that comes in on `in` may hold and promise: by need as far as the budget goes, beyond the need
/// while there is plenty; two segments in any case, or it would never move again.
Bytes Shard::Impl::relay_limit(Flow& flow, const Bearer& bearer, Side in, Instant now) {
  const Bytes own = committed(flow, in);
  const Bytes needed = std::min({need_of(flow, in, now), config_.limits.relay_buffer, budget_.most(own)});
  const Bytes plenty = std::min({unasked, config_.limits.relay_buffer, budget_.most_unasked(own)});
  return std::max(std::min(std::max(needed, plenty), budget_.most_of_ue(bearer.committed, own)), relay::least_window);
}

/// What the path needs, once the direction carries more than a first window.
Bytes Shard::Impl::need_of(Flow& flow, Side in, Instant now) {
  const Leg& to = flow.leg(opposite(in));
  const tcp::SeqNum delivered = to.endpoint.snd_una();
  if (flow.demands == no_id) {
    if (flow.sent_from(in, delivered) < Demand::first) return Demand::first;
    flow.demands = demands_.emplace();
    if (flow.demands == no_id) return Demand::first;  // cannot be: there is a place for every flow
    for (const Side out : {Side::radio, Side::core}) {
      demands_[flow.demands][static_cast<std::size_t>(out)] = Demand(flow.leg(out).endpoint.snd_una(), now);
    }
  }
  Demand& demand = demands_[flow.demands][static_cast<std::size_t>(opposite(in))];
  demand.follow(delivered, flow.leg(in).endpoint.srtt() + to.endpoint.least_rtt(), now);
  return demand.bytes();
}

/// Tells the budget and the bearer what the flow has come to hold and to promise.
void Shard::Impl::note_memory(Flow& flow, Bearer& bearer, Streams stirred) {
  Bytes all;
  for (const Side in : {Side::radio, Side::core}) {
    Leg& leg = flow.leg(in);
    const Bytes promised = leg.endpoint.promised();
    // What was promised to a host that sends nothing is not counted for long.
    if (leg.heard && contains(stirred, stream_to(opposite(in)))) {
      budget_.promise(leg.promise, static_cast<std::uint32_t>(promised.count()));
    }
    all += promised + relay::held_towards(flow, opposite(in));
  }
  const auto now = static_cast<std::uint32_t>(all.count());
  bearer.committed += Bytes(now) - Bytes(flow.committed);
  flow.committed = now;
}

void Shard::Impl::forget_memory(Flow& flow, Bearer& bearer) {
  for (Leg& leg : flow.legs) budget_.forget(leg.promise);
  bearer.committed -= Bytes(flow.committed);
  flow.committed = 0;
  if (flow.demands != no_id) demands_.erase(flow.demands);
  flow.demands = no_id;
}

/// Little memory is left: whether payload that has come is kept. What comes before its turn is not, it may wait for
/// long; nor, when nothing is left, what belongs to a connection that holds two segments already. None of it was
/// acknowledged, so its sender sends it again.
bool Shard::Impl::keeps_payload(const Flow& flow, Side in, const tcp::Segment& segment) const {
  if (segment.seq > flow.leg(in).endpoint.rcv_nxt()) return false;
  if (!budget_.exhausted()) return true;
  return !budget_.reserve_touched() && relay::held_towards(flow, opposite(in)) < relay::least_window;
}

void Shard::Impl::begin_reclaim() {
  // Those that hold at least half of what the largest one held are next; none in the first walk.
  reclaim_ = {0, Bytes{}, reclaim_.largest > Bytes{} ? reclaim_.largest / 2 : Bytes::max(), true};
}

/// Goes on with a walk over all flows while memory is short: what came before its turn is forgotten, and connections
/// that make no progress are ended, the largest first. Each walk takes those that hold at least half of what the
/// largest of the walk before held, so that a few walks are enough and nobody small is ended for nothing.
void Shard::Impl::reclaim_on(Instant now) {
  flow::Slab<Flow>& flows = registry_.flows();
  const std::uint32_t end = std::min(reclaim_.next + reclaim_step, flows.reach());
  for (; reclaim_.next < end && budget_.tight(); ++reclaim_.next) {
    if (flows.contains(reclaim_.next) && flows[reclaim_.next].terminated()) {
      reclaim_from(flows[reclaim_.next], reclaim_.next, now);
    }
  }
  reclaim_.active = reclaim_.next < flows.reach() && budget_.tight();
  if (!budget_.tight()) reclaim_ = {};
}

void Shard::Impl::reclaim_from(Flow& flow, FlowId id, Instant now) {
  for (Leg& leg : flow.legs) {
    if (!leg.endpoint.reassembling()) continue;
    leg.endpoint.forget_out_of_order();
    counters_.add(Counter::out_of_order_forgotten);
  }
  for (const Side out : {Side::radio, Side::core}) {
    if (relay::stalled_for(flow, out, now) < no_progress) continue;
    const Bytes held = relay::held_towards(flow, out);
    reclaim_.largest = std::max(reclaim_.largest, held);
    if (held < reclaim_.take_from) continue;
    counters_.add(Counter::flows_reset_memory);
    relay::abandon(flow);
    mark(flow, id, Streams::both);
    return;
  }
}

}  // namespace sluice::proxy
