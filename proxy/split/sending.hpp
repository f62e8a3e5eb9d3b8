#pragma once

#include "proxy/split/split_work.hpp"

// What split flows send, on both legs, and who is told of it: the bearer, the law of its windows, and the law by
// acknowledgements. Where flows of a UE share a window by acknowledgements, what one leaves of it is the others', in
// turn, and first the young ones'. Thread: the shard's.

namespace sluice::proxy::sending {

/// Of a window that flows share by acknowledgements: the flow's own part, or what the others leave, too.
enum class Part : std::uint8_t { own, all };

/// Both legs send what they can. Returns whether something may have gone to the server, or the UE may have been told of
/// its window.
bool emit(SplitWork& work, Flow& flow, Bearer& bearer, Instant now);
/// The leg on that side does; towards the radio `most` IP bytes at most.
void emit(SplitWork& work, Flow& flow, Bearer& bearer, Side side, Bytes most, Part part, Instant now);
/// So many IP bytes went to the radio in frames that passed.
void count_to_radio(SplitWork& work, Flow& flow, Bearer& bearer, Bytes sent, Instant now);
/// There is room in the bearer's window, by acknowledgements. A few flows get it each time, those next in turn: what
/// they sent, or what is under way, brings them here again.
[[gnu::noinline]] void hand_on_room(SplitWork& work, Bearer& bearer, Instant now);

}  // namespace sluice::proxy::sending
