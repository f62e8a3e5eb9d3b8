#pragma once

#include <cstddef>
#include <span>

#include "proxy/engine/flow_table/parsed_burst.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/split/split_context.hpp"

// Receive path of split connections. In-order data takes the cut-through, a pure ACK opens the peer's window, and
// anything else updates the leg and schedules the flow. Thread: the shard's.

namespace sluice::proxy::rx_path {

/// Returns the split flow that packet `at` belongs to. Returns null if the packet is not TCP, is a SYN, or belongs to a
/// flow that is not split or is being handed back.
[[nodiscard]] inline Flow* flow_of(const SplitContext& context, const ParsedBurst& known, std::size_t at) {
  const ConnectionId id = known.id(at);
  if (!known.is_tcp(at) || !context.shard.registry.connections().is_flow(id)) return nullptr;
  Flow& flow = context.shard.registry.flow(id);
  return flow.phase == FlowPhase::split && !known.parsed[at].segment.flags.syn() ? &flow : nullptr;
}

/// Processes the packets of a burst from `at` up to the first one for which flow_of() returns null. Returns the index
/// of that packet, or the burst's size. Requires that flow_of() returns a flow at `at`. Opens and closes no connection.
std::size_t receive(SplitContext& context, Side in, std::span<packet::Packet> burst, const ParsedBurst& known,
                    std::size_t at, Instant now);
/// Processes a single segment of the flow. The packet is moved out if it is stored or forwarded.
void receive(SplitContext& context, RxPacket& rx, FlowId id);

}  // namespace sluice::proxy::rx_path
