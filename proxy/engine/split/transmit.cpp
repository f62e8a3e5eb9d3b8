// Transmission on the legs of split connections. SplitFlows calls emit() when it serves a flow, and ReportDispatcher
// when budget becomes available. Invariant: data to the radio stays within the bearer's budget or window, and every
// byte sent is accounted for in the bearer and its controllers.
#include <algorithm>

#include "proxy/engine/relay/leg_output.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Makes the next `count` flows of the bearer send, in round-robin order. If `short_flow` is true, only flows that have
/// sent less than smvs.short_flow send, each at most its part of the window.
void SplitFlows::emit_round_robin(Bearer& bearer, std::uint32_t count, bool short_flow, Instant now) {
  FlowId id = bearer.first_flow;
  for (std::uint32_t i = 0; i < count && bearer.allowance(now) >= bearer.settings().smvs.acks.segment; ++i) {
    Flow& flow = shard_.registry.flow(id);
    const FlowId next = flow.bearer_next;
    const bool chosen = !short_flow || budget_sharing_.short_flow_waits(id);
    if (chosen && flow.terminated() && flow.leg(Side::radio).endpoint.can_send_now()) {
      keep_journal(flow, id);  // the flow may not have been served since it received something
      const std::uint64_t before = bearer.sent().total();
      emit(flow, bearer, Side::radio, turn, short_flow ? Budget::own : Budget::all, now);
      if (bearer.sent().total() != before && pending_.has_space()) pending_.schedule(flow, id, StreamEvents::to_radio);
    }
    id = next;
    if (!short_flow) bearer.first_flow = id;
  }
}

bool SplitFlows::emit(Flow& flow, Bearer& bearer, Instant now) {
  if (bearer.rate_control().limits_inflight()) [[unlikely]]
    flow_controllers_.follow(flow, bearer, now);
  const bool to_server = !flow.leg(Side::core).endpoint.nothing_to_emit(now);
  if (to_server) emit(flow, bearer, Side::core, Bytes::max(), Budget::own, now);
  if (flow.leg(Side::radio).endpoint.nothing_to_emit(now)) return to_server;
  const bool notifies_ue = flow.leg(Side::radio).endpoint.owes_acknowledgement();
  // Under the ACK-based controller the budget is not known yet, because it depends on updated bytes in flight.
  emit(flow, bearer, Side::radio, bearer.rate_control().is_ack_based() ? Bytes::max() : bearer.allowance(now),
       Budget::own, now);
  return to_server || notifies_ue;
}

void SplitFlows::emit(Flow& flow, Bearer& bearer, Side side, Bytes most, Budget budget, Instant now) {
  tcp::Endpoint& endpoint = flow.leg(side).endpoint;
  LegOutput output(flow, side, bearer.counts() ? &bearer : nullptr, shard_);
  const std::uint32_t before = endpoint.counters().retransmitted;
  if (side == Side::radio && bearer.rate_control().limits_inflight()) [[unlikely]]
    most = flow_controllers_.send_budget(flow, bearer, now);
  const bool feeds_controller = side == Side::radio && bearer.rate_control().uses_ack_feedback();
  const FlowId id = feeds_controller ? shard_.registry.flows().index_of(flow) : no_id;
  if (feeds_controller && bearer.rate_control().is_ack_based()) [[unlikely]] {
    most = std::min(most, budget_sharing_.budget(flow, id, bearer, budget == Budget::all, now));
    // Without SACK, segments that were lost behind the first hole count as in flight and fill the window. The hole
    // would then wait for the timer at each partial acknowledgement.
    if (!endpoint.on_fast_path() && !endpoint.uses_sack() && endpoint.retransmits_first())
      most = std::max(most, segment_on_wire(flow.leg(side)));
  }
  const Bytes sent = endpoint.emit_due(now, output, most);
  if (side == Side::radio) {
    count_to_radio(flow, bearer, sent, now);
    if (feeds_controller) [[unlikely]]
      budget_sharing_.update_inflight(flow, id, bearer);
  }
  if (const std::uint32_t retransmitted = endpoint.counters().retransmitted - before; retransmitted != 0) [[unlikely]] {
    shard_.counters.add(side == Side::radio ? Counter::retransmitted_radio : Counter::retransmitted_core,
                        retransmitted);
  }
}

void SplitFlows::count_to_radio(Flow& flow, Bearer& bearer, Bytes sent, Instant now) {
  if (bearer.spend(sent, now)) [[unlikely]]
    shard_.registry.timers().schedule(bearer, bearer.deadline(now));
  flow.sent_to_radio += sent;
  flow_controllers_.sent(flow, bearer, sent);
}

/// Makes a few flows of the bearer send bytes that the ACK-based controller allows but no flow has used. If no bytes
/// are in flight but a flow waits, lets all flows send, because no ACK would cause another call.
void SplitFlows::distribute_budget(Bearer& bearer, Instant now) {
  constexpr std::uint32_t max_flows_at_once = 4;
  constexpr std::uint32_t max_looked_at = 32;  // when searching for a short flow
  const AckController& controller = bearer.ack_controller();
  const bool overlooked = controller.flight() <= Bytes{} && controller.waiting() > 0;
  const std::uint32_t count = overlooked ? bearer.flow_count : std::min(bearer.flow_count, max_flows_at_once);
  if (controller.short_flows_waiting() > 0)
    emit_round_robin(bearer, std::max(count, std::min(bearer.flow_count, max_looked_at)), true, now);
  emit_round_robin(bearer, count, false, now);
  shard_.registry.timers().schedule(bearer, controller.budget_available_at(now));
}

}  // namespace sluice::proxy
