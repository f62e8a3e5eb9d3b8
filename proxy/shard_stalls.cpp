// Split connections that make no progress: what waits for a host that takes nothing, or for a hole that nobody fills,
// does not wait for ever. A host alone would keep such a connection for as long as its probes are answered; but there
// the memory is that of the hosts, here it is everybody's.

#include <algorithm>

#include "proxy/relay.hpp"
#include "proxy/shard_impl.hpp"

namespace sluice::proxy {

/// Of a connection that a timer has brought by. A host that is gone, and does not answer, is found out before by its
/// leg (tcp.max_retransmissions).
void Shard::Impl::end_what_stalls(Flow& flow, Instant now) {
  forget_overdue(flow, now);
  for (const Side out : {Side::radio, Side::core}) {
    if (!has_stalled(flow, out, now)) continue;
    counters_.add(flow.leg(out).reset_pending ? Counter::flows_orphaned : Counter::flows_stalled);
    relay::abandon(flow);
    return;
  }
}

bool Shard::Impl::has_stalled(const Flow& flow, Side out, Instant now) const {
  const ShardTimeouts& timeouts = config_.timeouts;
  return relay::stalled_for(flow, out, now) >= (flow.leg(out).reset_pending ? timeouts.orphaned : timeouts.stalled);
}

/// What was never acknowledged may be forgotten, reported or not (RFC 2018 section 8).
void Shard::Impl::forget_overdue(Flow& flow, Instant now) {
  for (Leg& leg : flow.legs) {
    const Instant since = leg.endpoint.out_of_order_since();
    if (since == never || now - since < config_.timeouts.out_of_order) continue;
    leg.endpoint.forget_out_of_order();
    counters_.add(Counter::out_of_order_forgotten);
  }
}

/// A leg that only waits for a hole to be filled has no timer that would bring it by in time.
void Shard::Impl::look_after_holes(Flow& flow, FlowId id) {
  for (const Leg& leg : flow.legs) {
    const Instant since = leg.endpoint.out_of_order_since();
    if (since == never) continue;
    const Instant due = since + config_.timeouts.out_of_order;
    if (due < flow.deadline) registry_.schedule_flow(flow, id, due);
  }
}

}  // namespace sluice::proxy
