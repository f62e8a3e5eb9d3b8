// Ends of split connections: closed by both hosts, displaced by new connections, or ended because the proxy stops.
// SplitFlows calls these functions from its timer and its service loop, FlowWalk calls end_now(). Invariant: every flow
// that ends is counted once, and its successor is closed or continues. TIME-WAIT follows RFC 9293 section 3.6.1.
#include <algorithm>

#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {
namespace {

/// Returns the reason for the end of a split connection, as its connection record states it: a release reason, a reset
/// reason, or "closed".
const char* reason_of_end(const Flow& flow) {
  if (flow.release_reason != ReleaseReason::none && !relay::both_legs_closed(flow))
    return to_string(flow.release_reason).data();
  if (const ResetReason reset = relay::reset_reason(flow); reset != ResetReason::none) return to_string(reset).data();
  return "closed";
}

}  // namespace

/// Handles the timer of a flow in TIME-WAIT. Closes the flow if TIME-WAIT is over. Returns false if the flow must be
/// served instead, because a leg has something to send or a release is requested.
bool SplitFlows::on_time_wait_timer(Flow& flow, FlowId id, Instant now) {
  if (flow.release_reason != ReleaseReason::none) return false;
  for (Leg& leg : flow.legs) {
    if (leg.endpoint.next_deadline() <= now) leg.endpoint.on_timer(now);
    if (!leg.endpoint.is_over() || leg.reset_pending || leg.endpoint.wants_to_send(now)) return false;
  }
  if (relay::finished(flow)) {
    end_finished(flow, id, now);
  } else {
    flow_timers_.update(flow, id, now);
  }
  return true;
}

void SplitFlows::enter_time_wait(Flow& flow, FlowId id, Instant now) {
  flow_timers_.rearm(flow, id, now);
  displace(time_wait_.enter(flow, id, shard_.registry), now);
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
  flow.reset_reason = ResetReason::reset_stop;
  for (const Side side : {Side::radio, Side::core}) {
    flow.leg(side).reset_pending = false;
    flow.leg(side).endpoint.abort();
    emit(flow, bearer, side, Bytes::max(), Budget::own, now);
  }
  if (!relay::both_legs_closed(flow)) return false;
  shard_.counters.add(Counter::flows_reset_by_stop);
  close(id, now);
  return true;
}

void SplitFlows::count_end(const Flow& flow, FlowId id) {
  bool reset = false;
  bool timed_out = false;
  bool abandoned = true;  // an aborted flow was counted when it was aborted
  for (const Leg& leg : flow.legs) {
    reset = reset || leg.endpoint.close_reason() == tcp::CloseReason::reset_by_peer;
    timed_out = timed_out || leg.endpoint.close_reason() == tcp::CloseReason::timed_out;
    abandoned = abandoned && leg.endpoint.close_reason() == tcp::CloseReason::aborted;
  }
  if (abandoned) return;
  shard_.counters.add(timed_out ? Counter::flows_timed_out : reset ? Counter::flows_reset : Counter::flows_closed);
  if (timed_out || reset) return;
  // The completion time ends with the last segment of the hosts, because TIME-WAIT is the proxy's own delay.
  const auto ticks = static_cast<std::int32_t>(tcp::tick::ms(flow.last_activity) - begun_[id]);
  const bool in_control_group = shard_.registry.bearer(flow.bearer).in_control_group();
  times_of(shard_.times, in_control_group)
      .flow_completion.record(tcp::tick::ms_duration(static_cast<std::uint32_t>(std::max(ticks, 0))));
}

void SplitFlows::make_room(Instant now) {
  displace(time_wait_.oldest(shard_.registry), now);
}

void SplitFlows::displace(FlowId id, Instant now) {
  if (id == no_id) return;
  shard_.counters.add(Counter::time_waits_displaced);
  count_end(shard_.registry.flow(id), id);
  close(id, now);
}

void SplitFlows::record_end(const Flow& flow, FlowId id) const {
  ConnectionRecord record;
  record.key = shard_.registry.key_of(id);
  record.initiator = flow.initiator;
  record.handling = "split";
  record.reason = reason_of_end(flow);
  record.last = flow.last_activity;
  for (std::size_t side = 0; side < flow.legs.size(); ++side) {
    const tcp::Endpoint& endpoint = flow.legs.at(side).endpoint;
    record.retransmissions.at(side) = endpoint.counters().retransmitted;
    record.rtt.at(side) = endpoint.srtt();
  }
  const tcp::Endpoint& radio = flow.leg(Side::radio).endpoint;
  if (radio.min_rtt() < radio.srtt()) record.queueing_delay = radio.srtt() - radio.min_rtt();
  shard_.records.end(ConnectionRecords::Table::split, id, record);
}

void SplitFlows::close(FlowId id, Instant now) {
  Flow& flow = shard_.registry.flow(id);
  if (shard_.records.on() && flow.terminated()) [[unlikely]]
    record_end(flow, id);
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  const bool short_flow = flow.share.short_flow;
  bearer.load.change(flow.share, {});
  if (short_flow) bearer.end_short_flow(now);
  buffer_quota_.forget(flow);
  receive_windows_.forget(flow, shard_.registry.bearer(flow.bearer));
  leave(flow, id, bearer);
  pending_.record_closed(flow);
  const EndToEndId successor = flow.successor;
  const bool over = flow.terminated() && relay::both_legs_closed(flow);
  if (flow.reset_reason == ResetReason::reset_stop) {
    // The resets may be lost, for example while the link is down. The next run then resets the hosts again.
    write_journal(flow, id, true);
  } else if (flow.terminated()) {
    journal_.end(id);
  }
  shard_.registry.close(id, now);
  if (successor == no_id) return;
  if (over) {
    end_to_end_.close(successor, now);
  } else {
    end_to_end_.inherit(successor, now);
  }
}

}  // namespace sluice::proxy
