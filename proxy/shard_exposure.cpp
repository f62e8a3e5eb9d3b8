// What is acknowledged to one host before the other one has it: capped where configured, and measured.

#include <algorithm>

#include "proxy/handover.hpp"
#include "proxy/relay.hpp"
#include "proxy/shard_impl.hpp"

namespace sluice::proxy {

/// What is acknowledged of a connection that drains can only become less, so that a stop which breaks nothing at one
/// moment breaks nothing at the next.
bool Shard::Impl::exposure_capped(const Flow& flow) const {
  return config_.limits.exposure_per_flow || config_.limits.exposure_per_bearer || flow.let_go == LetGo::let_go_drain;
}

void Shard::Impl::hold_acknowledgements(Flow& flow) const {
  const bool hold = exposure_capped(flow);
  for (Leg& leg : flow.legs) {
    if (hold) {
      leg.endpoint.hold_acknowledgements();
    } else if (leg.endpoint.holds_acknowledgements()) {
      leg.endpoint.acknowledge_freely();
    }
  }
}

/// With a cap a host is promised no more than will be acknowledged, whether the other host's program reads or not: what
/// that host has granted, and what the cap adds. A host that has sent more would wait for an acknowledgement until it
/// gives up, where without us it would see a closed window. A bearer's cap adds nothing that could be counted on.
void Shard::Impl::open_window(Flow& flow, Side in, Bytes room, tcp::WindowUpdates updates) const {
  const ShardLimits& limits = config_.limits;
  if (limits.exposure_per_flow || limits.exposure_per_bearer) {
    const Bytes granted(handover::granted_edge(flow, opposite(in)) - flow.leg(in).endpoint.rcv_nxt());
    room = std::min(room, granted + (limits.exposure_per_bearer ? Bytes{} : *limits.exposure_per_flow));
  }
  relay::open_window(flow, in, room, updates);
}

void Shard::Impl::allow_acknowledgements(Flow& flow, Bearer& bearer) {
  const bool draining = flow.let_go == LetGo::let_go_drain;
  const Bytes per_flow = draining ? Bytes{} : config_.limits.exposure_per_flow.value_or(Bytes::max());
  const Bytes per_bearer = config_.limits.exposure_per_bearer.value_or(Bytes::max());
  for (const Side in : {Side::radio, Side::core}) {
    Leg& leg = flow.leg(in);
    const std::uint32_t before = relay::exposed_to(flow, in);
    bearer.exposed += Bytes(before) - Bytes(leg.exposed);
    // What the other host has acknowledged may always be passed on: a full bearer makes it end to end, it stalls
    // nobody.
    const Bytes spare = std::max(Bytes{}, per_bearer - bearer.exposed);
    const Bytes room = std::min({per_flow, spare < Bytes(1 << 30) ? spare + Bytes(before) : spare, Bytes(1 << 30)});
    leg.endpoint.acknowledge_up_to(flow.leg(opposite(in)).endpoint.snd_una() +
                                   static_cast<std::uint32_t>(room.count()));
    leg.exposed = relay::exposed_to(flow, in);
    bearer.exposed += Bytes(leg.exposed) - Bytes(before);
  }
}

void Shard::Impl::sample_exposure(std::uint32_t most) {
  flow::Slab<Flow>& flows = registry_.flows();
  const std::uint32_t end = flows.reach();
  for (std::uint32_t i = 0; i < std::min(most, end); ++i) {
    const FlowId id = next_sample_ < end ? next_sample_ : 0;
    next_sample_ = id + 1;
    if (!flows.contains(id) || !flows[id].terminated()) continue;
    for (const Side in : {Side::radio, Side::core}) exposure_.record(relay::exposed_to(flows[id], in));
  }
}

}  // namespace sluice::proxy
