#pragma once

#include <cstddef>
#include <span>

#include "proxy/flows/parsed_burst.hpp"
#include "proxy/shard/arrival.hpp"
#include "proxy/split/split_work.hpp"

// What split connections make of the packets that come in: data of an undisturbed one pass at once, what a UE
// acknowledges opens the server's window, and where more is to be done, the flow is marked. Thread: the shard's.

namespace sluice::proxy::arrivals {

/// Of the packet at `at`, where it is for receive() without a doubt, as nearly all are: of a split connection, and no
/// SYN. Null otherwise.
[[nodiscard]] inline Flow* flow_of(const SplitWork& work, const ParsedBurst& known, std::size_t at) {
  const ConnectionId id = known.id(at);
  if (!known.is_tcp(at) || !work.shard.registry.connections().is_flow(id)) return nullptr;
  Flow& flow = work.shard.registry.flow(id);
  return flow.phase == FlowPhase::split && !known.parsed[at].segment.flags.syn() ? &flow : nullptr;
}

/// Takes the packet at `at` of a burst, which has a flow_of(), and those behind it up to the first that has none.
/// Returns the place of that one, or the burst's size. Closes and opens no connection.
std::size_t receive(SplitWork& work, Side in, std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at,
                    Instant now);
/// A segment of the flow came in by itself. What it takes of the packet it moves out.
void receive(SplitWork& work, Arrival& arrival, FlowId id);

}  // namespace sluice::proxy::arrivals
