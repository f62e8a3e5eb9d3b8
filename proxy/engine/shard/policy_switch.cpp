#include "proxy/engine/shard/policy_switch.hpp"

namespace sluice::proxy {

void PolicySwitch::apply(const Policies& policies, Instant now) {
  if (policies.needs_feedback()) forwarder_.count_radio();
  Registry& registry = shard_.registry;
  cross_traffic_.flush_all(now);  // the bearers that hold packets may end
  registry.policies().exchange(policies);
  registry.flows().for_each([&](FlowId id, Flow& flow) { rebind(flow, id, now); });
  end_to_end_.rebind(policies, now);
  registry.bearers().for_each([&](BearerId id, Bearer& bearer) {
    if (registry.is_outdated(bearer) && !bearer.in_use()) registry.close_bearer(id);
  });
  registry.bearers().for_each([&](BearerId id, Bearer&) { bearers_.reschedule(id, now); });
  registry.flows().for_each(
      [&](FlowId id, Flow& flow) { bearers_.apply_rate_control(flow, id, registry.bearer(flow.bearer), now); });
  shard_.counters.add(Counter::policies_applied);
  flows_.serve_pending(now);
  shard_.queue.flush(now);
}

/// Moves a flow to the bearer for its new policy. If that policy does not split, requests the handback of the
/// connection to its hosts; else cancels such a request. A connection in its handshake only moves, because the policy
/// at its last ACK decides on the split.
void PolicySwitch::rebind(Flow& flow, FlowId id, Instant now) {
  constexpr unsigned ecn_bits = 2;
  Registry& registry = shard_.registry;
  const flow::FlowKey key = registry.key_of(id);
  const auto dscp = static_cast<std::uint8_t>(flow.leg(opposite(flow.initiator)).headers.tos >> ecn_bits);
  const PolicyIndex policy = registry.policies().current().choose({key.ue, key.server, key.server_port, dscp});
  Bearer& before = registry.bearer(flow.bearer);
  const BearerId to = registry.bearer_of(key.ue, policy, now);
  if (to == no_id) return;  // no place for another bearer: the flow keeps its old one
  flows_.leave(flow, id, before);
  before.load.change(flow.share, {});
  registry.move(id, to);
  Bearer& bearer = registry.bearer(to);
  bearer.load.change({}, flow.share);
  const bool splits = bearer.settings().splits();
  if (flow.phase == FlowPhase::split && !splits && flow.release_reason == ReleaseReason::none)
    flow.release_reason = ReleaseReason::released_switch;
  if (flow.phase == FlowPhase::split && splits && flow.release_reason == ReleaseReason::released_switch)
    flow.release_reason = ReleaseReason::none;
}

}  // namespace sluice::proxy
