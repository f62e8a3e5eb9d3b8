#include "proxy/engine/relay/undelivered_ack_limit.hpp"

#include <algorithm>
#include <array>

#include "proxy/engine/relay/relay.hpp"

namespace sluice::proxy {

void UndeliveredAckLimit::hold(Flow& flow) const {
  const bool hold = caps(flow);
  for (Leg& leg : flow.legs) {
    if (hold) {
      leg.endpoint.defer_acks();
    } else if (leg.endpoint.defers_acks()) {
      leg.endpoint.stop_deferring_acks();
    }
  }
}

/// Returns the largest window that may be advertised to the host behind `in`. It is the window that the other host has
/// advertised, because that host can acknowledge all bytes in it. If exposure_per_flow is configured alone, that limit
/// is added: all bytes in the window can then be acknowledged, even if the program on the other host does not read.
/// With a larger window, a host would retransmit unacknowledged data until it gives up, instead of probing a closed
/// window. If the exposure of all flows of the UE is also limited, nothing is added, because other flows may use that
/// limit up.
Bytes UndeliveredAckLimit::capped_room(const Flow& flow, Side in) const {
  const Bytes granted(relay::granted_edge(flow, opposite(in)) - flow.leg(in).endpoint.rcv_nxt());
  return granted + (limits_.exposure_per_bearer ? Bytes{} : *limits_.exposure_per_flow);
}

void UndeliveredAckLimit::allow(Flow& flow, Bearer& bearer) const {
  constexpr Bytes unbounded{1 << 30};
  const bool draining = flow.release_reason == ReleaseReason::released_drain || !configured();
  const Bytes per_flow = std::min(unbounded, draining ? Bytes{} : limits_.exposure_per_flow.value_or(unbounded));
  const FlowShare before = flow.share;
  const Bytes of_others = bearer.load.exposed - Bytes(before.exposed);
  std::array<std::uint32_t, 2> own{relay::exposed_to(flow, Side::radio), relay::exposed_to(flow, Side::core)};
  for (const Side in : {Side::radio, Side::core}) {
    std::uint32_t& exposed = own.at(static_cast<std::size_t>(in));
    const Bytes other_way(own.at(static_cast<std::size_t>(opposite(in))));
    // What the other host has acknowledged is always acknowledged in turn. A bearer at its limit thus only stops
    // acknowledging ahead, and no flow stalls.
    const Bytes of_bearer = limits_.exposure_per_bearer
                                ? std::max(Bytes(exposed), *limits_.exposure_per_bearer - of_others - other_way)
                                : unbounded;
    const Bytes room = std::min({per_flow, of_bearer, unbounded});
    flow.leg(in).endpoint.acknowledge_up_to(flow.leg(opposite(in)).endpoint.snd_una() +
                                            static_cast<std::uint32_t>(room.count()));
    exposed = relay::exposed_to(flow, in);
  }
  flow.share.exposed = std::min(own[0] + own[1], FlowShare::max_exposed) & FlowShare::max_exposed;
  bearer.load.change(before, flow.share);
}

void ExposureSample::take(const flow::Slab<Flow>& flows, std::uint32_t most) {
  const std::uint32_t end = flows.high_watermark();
  for (std::uint32_t i = 0; i < std::min(most, end); ++i) {
    const FlowId id = next_ < end ? next_ : 0;
    next_ = id + 1;
    if (!flows.contains(id) || !flows[id].terminated()) continue;
    for (const Side in : {Side::radio, Side::core}) bytes_.record(relay::exposed_to(flows[id], in));
  }
}

}  // namespace sluice::proxy
