#pragma once

#include <cstddef>
#include <span>

#include "dataplane/packet/parse.hpp"
#include "proxy/split/split_work.hpp"

// Data of an undisturbed connection leaves at once, in the frame in which it came: its bytes keep their places in
// sequence space, so only acknowledgement, window and echoed timestamp are others. Whatever is not as usual goes the
// general way, which comes to the same.

namespace sluice::proxy::cut_through {

/// Passes on as many as may, of a segment that came in on `in` and those that follow it in its train, and returns how
/// many. The others are as they were. The first one's checksum was good, and its headers are those that are known; of
/// those behind it that is found out here.
template <Side in>
std::size_t pass(SplitWork& work, Flow& flow, FlowId id, std::span<packet::Packet> packets,
                 std::span<const packet::Parsed> parsed, Instant now);

}  // namespace sluice::proxy::cut_through
