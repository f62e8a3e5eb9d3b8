#pragma once

#include "proxy/split/split_work.hpp"

// Flows of a UE that share a window by acknowledgements: what one leaves of it is the others', in turn, and first the
// young ones'. Thread: the shard's.

namespace sluice::proxy::room {

/// There is room in the bearer's window. A few flows each time, those next in turn: what they sent, or what is under
/// way, brings them here again.
[[gnu::noinline]] void hand_on(SplitWork& work, Bearer& bearer, Instant now);

}  // namespace sluice::proxy::room
