#include "proxy/handback/handback.hpp"

#include "proxy/handback/handover.hpp"
#include "proxy/split/relay.hpp"

namespace sluice::proxy {

bool Handback::ask(Flow& flow, LetGo reason) const {
  if (reason == LetGo::let_go_memory && !(flow.terminated() && relay::empty(flow))) return false;
  if (reason == LetGo::no) {
    // A handback that has begun goes on: its segments are with the other host already. What the policies want stays.
    if (flow.phase == FlowPhase::split && flow.let_go != LetGo::let_go_switch) {
      flow.let_go = reason;
      exposure_.hold(flow);
    }
  } else if (flow.let_go == LetGo::no) {
    flow.let_go = flow.terminated() ? reason : LetGo::forget;
    if (flow.let_go == LetGo::let_go_drain) exposure_.hold(flow);
  }
  return true;
}

void Handback::advance(Flow& flow, Instant now) {
  if (flow.phase == FlowPhase::split) lead_out(flow, now);
  if (flow.heir == no_id) return;
  regulator_.promised(flow.heir, handover::make_room(flow, regulator_.opening_window(flow.heir)));
}

void Handback::lead_out(Flow& flow, Instant now) {
  const Obstacle obstacle = handover::obstacle(flow);
  const bool to_heir = flow.let_go == LetGo::let_go_switch;
  const bool at_once = flow.let_go == LetGo::let_go_surprise && obstacle != Obstacle::closing;
  // What the server sends from then on must not overtake what waits here.
  const bool drained = !to_heir || flow.leg(Side::radio).endpoint.unsent() == Bytes{};
  if (relay::quiet(flow) || !(at_once || (obstacle == Obstacle::none && drained))) {
    handover::promise_no_more(flow, memory_.unasked(), to_heir ? Bytes{} : memory_.unasked());
  } else if (to_heir) {
    handover::begin_for_heir(flow);
    flow.heir = regulator_.adopt(handover::known(flow), handover::most_for_heir(flow), now);
  } else {
    handover::begin(flow);
  }
}

bool Handback::is_complete(const Flow& flow) {
  return relay::quiet(flow) || (flow.phase == FlowPhase::handing_over && handover::delivered(flow));
}

void Handback::let_go(const Flow& flow, Instant now) {
  shard_.counters.add(counter_of(flow.let_go));
  if (relay::quiet(flow) || flow.heir != no_id) return;
  shard_.counters.add(Counter::released_forgotten, released_.add(flow, now));
}

}  // namespace sluice::proxy
