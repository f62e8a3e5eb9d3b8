#pragma once

#include "proxy/engine/split/split_context.hpp"

// Transmission on both legs of split connections, with the accounting that follows: the bearer's grant, per-flow window
// controllers and the ACK-based controller. Flows that share the ACK-based window use what another one leaves, in turn
// and short flows first. Thread: the shard's.

namespace sluice::proxy::transmit {

/// Selects how much of the budget of the ACK-based controller a flow may use: its own part, or also budget that other
/// flows leave unused.
enum class Budget : std::uint8_t { own, all };

/// Lets both legs send as much as their windows allow. Returns true if something may have been sent to the server, or
/// an ACK to the UE.
bool emit(SplitContext& context, Flow& flow, Bearer& bearer, Instant now);
/// Lets the leg on `side` send as much as its windows allow; towards the radio at most `most` IP bytes.
void emit(SplitContext& context, Flow& flow, Bearer& bearer, Side side, Bytes most, Budget budget, Instant now);
/// Adds `sent` IP bytes, just sent to the radio, to the counts of the bearer, the flow and the controllers.
void count_to_radio(SplitContext& context, Flow& flow, Bearer& bearer, Bytes sent, Instant now);
/// Distributes unused budget of the ACK-based controller to a few flows per call, in round-robin order. The data that
/// they send, or the ACKs for data in flight, trigger the next call.
[[gnu::noinline]] void distribute_budget(SplitContext& context, Bearer& bearer, Instant now);

}  // namespace sluice::proxy::transmit
