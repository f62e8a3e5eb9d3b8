// Other policies on a running shard: every connection finds its new bearer and goes on under the new law.

#include "proxy/shard_impl.hpp"

namespace sluice::proxy {

void Shard::Impl::apply(const Policies& policies, Instant now) {
  policies_ = &policies;
  radio_counted_ = radio_counted_ || policies.needs_feedback();
  registry_.exchange_policies(policies);
  registry_.flows().for_each([&](FlowId id, Flow& flow) { rebind(flow, id, now); });
  regulator_.rebind(policies, now);
  registry_.bearers().for_each([&](BearerId id, Bearer& bearer) {
    if (registry_.is_outdated(bearer) && !bearer.in_use()) registry_.close_bearer(id);
  });
  registry_.bearers().for_each([&](BearerId id, Bearer&) { reschedule_bearer(id); });
  registry_.flows().for_each([&](FlowId id, Flow& flow) { steer(flow, id, registry_.bearer(flow.bearer), now); });
  counters_.add(Counter::policies_applied);
  serve_marked(now);
  queue_.flush(now);
}

/// A split connection that is not to be split any more is handed over to its hosts when that can be. One that is not
/// split yet finds out with the end of its handshake.
void Shard::Impl::rebind(Flow& flow, FlowId id, Instant now) {
  constexpr unsigned ecn_bits = 2;
  const auto dscp = static_cast<std::uint8_t>(flow.leg(opposite(flow.initiator)).headers.tos >> ecn_bits);
  const PolicyIndex policy = policies_->choose({flow.key.ue, flow.key.server, flow.key.server_port, dscp});
  Bearer& before = registry_.bearer(flow.bearer);
  const BearerId to = registry_.bearer_of(flow.key.ue, policy, now);
  if (to == no_id) return;  // no room for another bearer: it stays where it is, under its old law
  if (flow.governed != no_id) forget_law(flow, before);
  before.backlog -= Bytes(flow.backlog);
  if (flow.backlog != 0) --before.backlogged_flows;
  if (flow.moving) --before.moving_flows;
  if (flow.shut) --before.shut_flows;
  registry_.move(id, to);
  Bearer& bearer = registry_.bearer(to);
  for (const Leg& leg : flow.legs) {
    before.exposed -= Bytes(leg.exposed);
    bearer.exposed += Bytes(leg.exposed);
  }
  const bool splits = bearer.treatment().splits();
  if (flow.phase == FlowPhase::split && !splits && flow.let_go == LetGo::no) flow.let_go = LetGo::let_go_switch;
  if (flow.phase == FlowPhase::split && splits && flow.let_go == LetGo::let_go_switch) flow.let_go = LetGo::no;
  bearer.backlog += Bytes(flow.backlog);
  if (flow.backlog != 0) ++bearer.backlogged_flows;
  if (flow.moving) ++bearer.moving_flows;
  if (flow.shut) ++bearer.shut_flows;
}

}  // namespace sluice::proxy
