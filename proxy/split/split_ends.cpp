#include <algorithm>

#include "proxy/split/split_flows.hpp"

// How split connections end: closed by their hosts, for want of room, or because the proxy stops.

namespace sluice::proxy {

/// Both hosts have closed the connection, and its wait for a FIN that comes again may be over: nothing of it is to be
/// served. False when there is something all the same.
bool SplitFlows::wait_out(Flow& flow, FlowId id, Instant now) {
  if (flow.release_reason != ReleaseReason::none) return false;
  for (Leg& leg : flow.legs) {
    if (leg.endpoint.next_deadline() <= now) leg.endpoint.on_timer(now);
    if (!leg.endpoint.is_over() || leg.reset_pending || leg.endpoint.wants_to_send(now)) return false;
  }
  if (relay::finished(flow)) {
    end_finished(flow, id, now);
  } else {
    reschedule(flow, id, now);
  }
  return true;
}

/// All that is left is to wait, for a time that is known: it is not looked at before because of what was due.
void SplitFlows::begin_to_wait_out(Flow& flow, FlowId id, Instant now) {
  shard_.registry.reschedule_flow(flow, id, when_to_look(flow, next_deadline(flow), now));
  displace(waiting_out_.enter(flow, id, shard_.registry), now);
}

void SplitFlows::end_finished(Flow& flow, FlowId id, Instant now) {
  count_end(flow, id);
  close(id, now);
}

bool SplitFlows::end_now(Flow& flow, FlowId id, Instant now) {
  if (!flow.terminated()) {
    close(id, now);
    return true;
  }
  if (!relay::owes(flow)) {
    if (flow.release_reason == ReleaseReason::none) flow.release_reason = ReleaseReason::released_drain;
    handback_.release(flow, now);
    close(id, now);
    return true;
  }
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  for (const Side side : {Side::radio, Side::core}) {
    flow.leg(side).reset_pending = false;
    flow.leg(side).endpoint.abort();
    emit(flow, bearer, side, Bytes::max(), Part::own, now);
  }
  if (!relay::both_legs_closed(flow)) return false;
  shard_.counters.add(Counter::flows_reset_by_stop);
  close(id, now);
  return true;
}

void SplitFlows::count_end(const Flow& flow, FlowId id) {
  bool reset = false;
  bool timed_out = false;
  bool abandoned = true;  // counted when it was
  for (const Leg& leg : flow.legs) {
    reset = reset || leg.endpoint.close_reason() == tcp::CloseReason::reset_by_peer;
    timed_out = timed_out || leg.endpoint.close_reason() == tcp::CloseReason::timed_out;
    abandoned = abandoned && leg.endpoint.close_reason() == tcp::CloseReason::aborted;
  }
  if (abandoned) return;
  shard_.counters.add(timed_out ? Counter::flows_timed_out : reset ? Counter::flows_reset : Counter::flows_closed);
  if (timed_out || reset) return;
  // What comes after the last word of its hosts is our own wait for repetitions of it.
  const auto ticks = static_cast<std::int32_t>(tcp::tick::fine(flow.last_activity) - begun_[id]);
  const bool ordinary = shard_.registry.bearer(flow.bearer).ordinary();
  times_of(shard_.times, ordinary)
      .flow_completion.record(tcp::tick::duration(static_cast<std::uint32_t>(std::max(ticks, 0))));
}

void SplitFlows::make_room(Instant now) {
  displace(waiting_out_.oldest(shard_.registry), now);
}

void SplitFlows::displace(FlowId id, Instant now) {
  if (id == no_id) return;
  shard_.counters.add(Counter::time_waits_displaced);
  count_end(shard_.registry.flow(id), id);
  close(id, now);
}

void SplitFlows::close(FlowId id, Instant now) {
  Flow& flow = shard_.registry.flow(id);
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  const bool young = flow.share.young;
  bearer.load.change(flow.share, {});
  if (young) bearer.end_young(now);
  memory_.forget(flow);
  receive_windows_.forget(flow, shard_.registry.bearer(flow.bearer));
  leave(flow, id, bearer);
  closed_marked_ = closed_marked_ || flow.events != StreamEvents::none;
  const EndToEndId successor = flow.successor;
  const bool over = flow.terminated() && relay::both_legs_closed(flow);
  if (flow.terminated()) journal_.end(id);
  shard_.registry.close(id, now);
  if (successor == no_id) return;
  if (over) {
    end_to_end_.close(successor, now);
  } else {
    end_to_end_.inherit(successor, now);
  }
}

}  // namespace sluice::proxy
