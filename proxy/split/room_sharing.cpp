#include "proxy/split/room_sharing.hpp"

#include <algorithm>

#include "proxy/split/sending.hpp"

namespace sluice::proxy {

namespace {

/// To the next `count` flows in turn. `young`: to the young of these alone, each as far as its part goes.
void hand_to(SplitWork& work, Bearer& bearer, std::uint32_t count, bool young, Instant now) {
  FlowId id = bearer.first_flow;
  for (std::uint32_t i = 0; i < count && bearer.allowance(now) >= bearer.treatment().smvs.acks.segment; ++i) {
    Flow& flow = work.shard.registry.flow(id);
    const FlowId next = flow.bearer_next;
    const bool chosen = !young || work.acks.young_waits(id);
    if (chosen && flow.terminated() && flow.leg(Side::radio).endpoint.can_send_now()) {
      work.keep_journal(flow, id);  // it may not have been served since something came
      const std::uint64_t before = bearer.sent_total();
      sending::emit(work, flow, bearer, Side::radio, turn, young ? sending::Part::own : sending::Part::all, now);
      if (bearer.sent_total() != before && work.marked.has_room()) work.marked.mark(flow, id, StreamEvents::to_radio);
    }
    id = next;
    if (!young) bearer.first_flow = id;
  }
}

}  // namespace

/// All of them where nothing is under way and one waits, since then nothing else would bring them here; that one is
/// found, and the next look is short.
void room::hand_on(SplitWork& work, Bearer& bearer, Instant now) {
  constexpr std::uint32_t most_flows = 4;
  constexpr std::uint32_t most_looked_at = 32;  // for a young one
  const AckClock& clock = bearer.ack_clock();
  const bool overlooked = clock.flight() <= Bytes{} && clock.waiting() > 0;
  const std::uint32_t count = overlooked ? bearer.flow_count : std::min(bearer.flow_count, most_flows);
  if (clock.young_waiting() > 0)
    hand_to(work, bearer, std::max(count, std::min(bearer.flow_count, most_looked_at)), true, now);
  hand_to(work, bearer, count, false, now);
  work.shard.registry.schedule_bearer(bearer.id, clock.room_at(now));
}

}  // namespace sluice::proxy
