#pragma once

#include "proxy/split/split_work.hpp"

// Segments that only acknowledge: what a host has of a split connection, and what window the other one gets for it.

namespace sluice::proxy::hearing {

/// A segment without payload that came in on `in` acknowledges something, on a leg that nothing disturbs: what the
/// general way comes to. False, and nothing has happened, where it is anything else.
template <Side in>
bool hear(SplitWork& work, packet::Packet& packet, const tcp::Segment& segment, Flow& flow, FlowId id, Instant now);

}  // namespace sluice::proxy::hearing
