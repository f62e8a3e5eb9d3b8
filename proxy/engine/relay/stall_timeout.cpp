#include "proxy/engine/relay/stall_timeout.hpp"

#include "proxy/engine/relay/relay.hpp"

namespace sluice::proxy {

void StallTimeout::end(Flow& flow, Instant now) {
  forget_overdue(flow, now);
  for (const Side out : {Side::radio, Side::core}) {
    if (!has_stalled(flow, out, now)) continue;
    const bool sender_is_gone = flow.leg(out).reset_pending;
    shard_.counters.add(sender_is_gone ? Counter::flows_orphaned : Counter::flows_stalled);
    relay::abandon(flow, sender_is_gone ? ResetReason::reset_orphaned : ResetReason::reset_stalled);
    return;
  }
}

bool StallTimeout::has_stalled(const Flow& flow, Side out, Instant now) const {
  const ShardTimeouts& timeouts = shard_.config.timeouts;
  return relay::stall_time(flow, out, now) >= (flow.leg(out).reset_pending ? timeouts.orphaned : timeouts.stalled);
}

/// Drops out-of-order data that has waited longer than timeouts.out_of_order for the gap before it. TCP allows this
/// even if SACK has reported the data (RFC 2018 section 8).
void StallTimeout::forget_overdue(Flow& flow, Instant now) {
  for (Leg& leg : flow.legs) {
    const Instant since = leg.endpoint.out_of_order_since();
    if (since == never || now - since < shard_.config.timeouts.out_of_order) continue;
    leg.endpoint.drop_out_of_order();
    shard_.counters.add(Counter::out_of_order_dropped);
  }
}

void StallTimeout::watch_holes(Flow& flow, FlowId id) {
  for (const Leg& leg : flow.legs) {
    const Instant since = leg.endpoint.out_of_order_since();
    if (since == never) continue;
    const Instant due = since + shard_.config.timeouts.out_of_order;
    if (due < flow.deadline) shard_.registry.timers().schedule(flow, id, due);
  }
}

}  // namespace sluice::proxy
