#pragma once

#include "proxy/bearer/bearer.hpp"
#include "proxy/flows/flow.hpp"

// A connection is young until it has sent as much as smvs.short_flow says. While one is, its bearer knows that somebody
// waits for it (Bearer::expect_young).

namespace sluice::proxy::young {

/// A connection is about to be: both hosts have agreed on it.
void begin(Flow& flow, Bearer& bearer, Instant now);
/// The flow is young no more.
[[gnu::cold, gnu::noinline]] void end(Flow& flow, Bearer& bearer, Instant now);

/// Something of a young flow goes on, so somebody goes on waiting for it. False where it is young no more, and end() is
/// to follow.
[[nodiscard]] inline bool go_on(const Flow& flow, Bearer& bearer, Instant now) {
  if (flow.sent_to_radio >= bearer.treatment().smvs.short_flow) return false;
  bearer.expect_young(now);
  return true;
}

/// A young flow was served. `over`: its hosts have closed it, or it is to go.
inline void follow(Flow& flow, Bearer& bearer, bool over, Instant now) {
  if (over || !go_on(flow, bearer, now)) end(flow, bearer, now);
}

}  // namespace sluice::proxy::young
