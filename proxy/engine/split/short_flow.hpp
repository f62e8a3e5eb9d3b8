#pragma once

#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow/flow.hpp"

// Short-flow priority: a flow is short until it has sent smvs.short_flow bytes. While a bearer has an active short flow
// beside downloads, its controller lowers the queue target (Bearer::expect_short_flow).

namespace sluice::proxy::short_flow {

/// Counts a flow as short (less than smvs.short_flow sent) if its bearer gives short flows priority. Called when the
/// handshake is complete, just before the split.
void begin(Flow& flow, Bearer& bearer, Instant now);
/// Stops counting the flow as one of the bearer's short flows, which have sent less than smvs.short_flow.
[[gnu::cold, gnu::noinline]] void end(Flow& flow, Bearer& bearer, Instant now);

/// Extends the priority of short flows over downloads, because this short flow is active. Returns false if the flow is
/// no longer short, because it has sent smvs.short_flow bytes. The caller must then call end().
[[nodiscard]] inline bool extend(const Flow& flow, Bearer& bearer, Instant now) {
  if (!bearer.is_short(flow.sent_to_radio)) return false;
  bearer.expect_short_flow(now);
  return true;
}

/// Updates the state of a short flow (less than smvs.short_flow sent) after its pending events were processed. `over`
/// is true if its hosts have closed the connection, or if it is being handed back to them. In these cases it no longer
/// counts as short.
inline void follow(Flow& flow, Bearer& bearer, bool over, Instant now) {
  if (over || !extend(flow, bearer, now)) end(flow, bearer, now);
}

}  // namespace sluice::proxy::short_flow
