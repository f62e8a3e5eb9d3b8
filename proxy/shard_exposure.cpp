// What is acknowledged to one host before the other one has it: capped where configured, and measured.

#include <algorithm>

#include "proxy/relay.hpp"
#include "proxy/shard_impl.hpp"

namespace sluice::proxy {

void Shard::Impl::allow_acknowledgements(Flow& flow, Bearer& bearer) {
  const Bytes per_flow = config_.limits.exposure_per_flow.value_or(Bytes::max());
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
