#pragma once

#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow/flow.hpp"

// Short-flow priority: a flow is short until it has sent smvs.short_flow bytes. While a bearer has an active short flow
// beside downloads, its controller lowers the queue target (Bearer::expect_short_flow).

namespace sluice::proxy::short_flow {

/// Counts a connection as a short flow if its bearer prioritises short flows. Called when its handshake is complete and
/// it is about to be split.
void begin(Flow& flow, Bearer& bearer, Instant now);
/// Stops counting the flow as a short flow of its bearer.
[[gnu::cold, gnu::noinline]] void end(Flow& flow, Bearer& bearer, Instant now);

/// Extends the period in which short flows have priority, because this short flow is active. Returns false if the flow
/// has sent smvs.short_flow bytes; the caller then calls end().
[[nodiscard]] inline bool go_on(const Flow& flow, Bearer& bearer, Instant now) {
  if (!bearer.is_short(flow.sent_to_radio)) return false;
  bearer.expect_short_flow(now);
  return true;
}

/// Updates the state of a short flow after it was served. `over` is true if its hosts have closed the connection, or if
/// it is to be handed back to them.
inline void follow(Flow& flow, Bearer& bearer, bool over, Instant now) {
  if (over || !go_on(flow, bearer, now)) end(flow, bearer, now);
}

}  // namespace sluice::proxy::short_flow
