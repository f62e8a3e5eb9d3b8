#include "proxy/split/sending.hpp"

#include <algorithm>

#include "proxy/split/leg_output.hpp"

namespace sluice::proxy {

bool sending::emit(SplitWork& work, Flow& flow, Bearer& bearer, Instant now) {
  if (bearer.bounds()) [[unlikely]]
    work.windows.follow(flow, bearer, now);
  const bool to_server = !flow.leg(Side::core).endpoint.nothing_to_emit(now);
  if (to_server) emit(work, flow, bearer, Side::core, Bytes::max(), Part::own, now);
  if (flow.leg(Side::radio).endpoint.nothing_to_emit(now)) return to_server;
  const bool tells_ue = flow.leg(Side::radio).endpoint.owes_acknowledgement();
  // By acknowledgements, what may be sent is not known before what is under way is looked at.
  emit(work, flow, bearer, Side::radio, bearer.clocked() ? Bytes::max() : bearer.allowance(now), Part::own, now);
  return to_server || tells_ue;
}

void sending::emit(SplitWork& work, Flow& flow, Bearer& bearer, Side side, Bytes most, Part part, Instant now) {
  tcp::Endpoint& endpoint = flow.leg(side).endpoint;
  LegOutput output(flow, side, bearer.counts() ? &bearer : nullptr, work.shard);
  const std::uint32_t before = endpoint.counters().retransmitted;
  if (side == Side::radio && bearer.bounds()) [[unlikely]]
    most = work.windows.room(flow, bearer, now);
  const bool heard = side == Side::radio && bearer.listens();
  const FlowId id = heard ? work.shard.registry.flows().index_of(flow) : no_id;
  if (heard && bearer.clocked()) [[unlikely]]
    most = std::min(most, work.acks.room(flow, id, bearer, part == Part::all, now));
  const Bytes sent = endpoint.emit_due(now, output, most);
  if (side == Side::radio) {
    count_to_radio(work, flow, bearer, sent, now);
    if (heard) [[unlikely]]
      work.acks.sync(flow, id, bearer);
  }
  if (const std::uint32_t repeated = endpoint.counters().retransmitted - before; repeated != 0) [[unlikely]] {
    work.shard.counters.add(side == Side::radio ? Counter::retransmitted_radio : Counter::retransmitted_core, repeated);
  }
}

void sending::count_to_radio(SplitWork& work, Flow& flow, Bearer& bearer, Bytes sent, Instant now) {
  if (bearer.spend(sent, now)) [[unlikely]]
    work.shard.registry.schedule_bearer(bearer.id, bearer.deadline(now));
  flow.sent_to_radio += sent;
  work.windows.sent(flow, bearer, sent);
}

}  // namespace sluice::proxy
