#include "proxy/engine/split/handback.hpp"

#include "proxy/engine/relay/relay.hpp"
#include "proxy/engine/split/handback_point.hpp"

namespace sluice::proxy {

bool Handback::request_release(Flow& flow, ReleaseReason reason) const {
  if (reason == ReleaseReason::released_memory && !(flow.terminated() && relay::empty(flow))) return false;
  if (reason == ReleaseReason::none) {
    // A handback that has begun continues, because its segments were already forwarded. A policy's decision stays.
    if (flow.phase == FlowPhase::split && flow.release_reason != ReleaseReason::released_switch) {
      flow.release_reason = reason;
      ack_limit_.hold(flow);
    }
  } else if (flow.release_reason == ReleaseReason::none) {
    flow.release_reason = flow.terminated() ? reason : ReleaseReason::never_split;
    if (flow.release_reason == ReleaseReason::released_drain) ack_limit_.hold(flow);
  }
  return true;
}

void Handback::advance(Flow& flow, Instant now) {
  if (flow.phase == FlowPhase::split) begin_handback(flow, now);
  if (flow.successor == no_id) return;
  end_to_end_.record_advertised(flow.successor, handback::make_room(flow, end_to_end_.opening_window(flow.successor)));
}

void Handback::begin_handback(Flow& flow, Instant now) {
  const HandbackBlocker blocker = handback::find_blocker(flow);
  const bool to_successor = flow.release_reason == ReleaseReason::released_switch;
  // The server may then be ahead of the UE's window. The UE drops the excess, and the server retransmits it.
  const bool at_once =
      flow.release_reason == ReleaseReason::released_unsplittable && blocker != HandbackBlocker::closing;
  // Later data of the server must not overtake data that is still unsent here.
  const bool drained = !to_successor || flow.leg(Side::radio).endpoint.unsent() == Bytes{};
  if (relay::both_legs_closed(flow) || !(at_once || (blocker == HandbackBlocker::none && drained))) {
    // Unsent data drains only if the server stops. While something else blocks, a closed window could stay closed for
    // ever, because the UE may be waiting for the server.
    const bool drains = to_successor && blocker == HandbackBlocker::none;
    handback::lower_windows(flow, buffer_quota_.default_quota(), drains ? Bytes{} : buffer_quota_.default_quota());
  } else if (to_successor) {
    handback::begin_with_successor(flow);
    flow.successor =
        end_to_end_.adopt(handback::known(shard_.registry.key_of(flow), flow), handback::max_for_successor(flow), now);
    if (flow.successor != no_id) end_to_end_.record_split_before(flow.successor);
  } else {
    handback::begin(flow);
  }
}

bool Handback::is_complete(const Flow& flow) {
  return relay::both_legs_closed(flow) ||
         (flow.phase == FlowPhase::handing_back && handback::delivered(flow) && !handback::marks_differ(flow));
}

void Handback::release(const Flow& flow, Instant now) {
  shard_.counters.add(counter_of(flow.release_reason));
  if (relay::both_legs_closed(flow) || flow.successor != no_id) return;
  shard_.counters.add(Counter::released_untracked, released_.add(shard_.registry.key_of(flow), flow, now));
}

}  // namespace sluice::proxy
