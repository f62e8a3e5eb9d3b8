#pragma once

#include "proxy/split/split_work.hpp"

// What split flows send, on both legs, and who is told of it: the bearer, the law of its windows, and the law by
// acknowledgements. Thread: the shard's.

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

}  // namespace sluice::proxy::sending
