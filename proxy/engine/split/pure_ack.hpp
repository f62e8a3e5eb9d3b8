#pragma once

#include "proxy/engine/split/split_context.hpp"

// Pure-ACK fast path of split connections: advances SND.UNA on the receiving leg and opens the peer leg's receive
// window.

namespace sluice::proxy::pure_ack {

/// Handles a pure ACK that arrived on `in`, on a leg without loss, reordering or pending FIN. Equivalent to the slow
/// path (deliver_segment()). Returns false and changes nothing if the segment does not qualify.
template <Side in>
bool receive(SplitContext& context, packet::Packet& packet, const tcp::Segment& segment, Flow& flow, FlowId id,
             Instant now);

}  // namespace sluice::proxy::pure_ack
