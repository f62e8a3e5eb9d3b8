#pragma once

#include <cstddef>
#include <span>

#include "dataplane/packet/parse.hpp"
#include "proxy/engine/split/split_context.hpp"

// Cut-through: data of a connection on the fast path is forwarded at once in the frame in which it arrived. Sequence
// numbers are the hosts' own, so only acknowledgement number, window and TSecr are rewritten. Everything else takes the
// slow path, which has the same effect.

namespace sluice::proxy::cut_through {

/// Forwards as many segments as possible of a GRO run: a segment that arrived on `in` and its successors in sequence.
/// Returns how many; the others are unchanged. Requires that the first segment has a good checksum and known headers.
/// The other segments are checked here.
template <Side in>
std::size_t forward(SplitContext& context, Flow& flow, FlowId id, std::span<packet::Packet> packets,
                    std::span<const packet::Parsed> parsed, Instant now);

}  // namespace sluice::proxy::cut_through
