#include "proxy/split/appointments.hpp"

#include <algorithm>

#include "proxy/relay/relay.hpp"

namespace sluice::proxy {

Instant Appointments::when(const Flow& flow, Instant due, Instant now) const {
  const Instant idle = std::max(flow.last_activity + timeouts_.idle, now + std::chrono::seconds(1));
  return lesser(due, idle);
}

/// When a server that has used up its window is to be let have a little; `never`: it is not.
Instant Appointments::keeps_going_at(const Flow& flow, Instant now) const {
  const bool keeps = ReceiveWindows::is_kept_going(flow, registry_.bearer(flow.bearer), now);
  return keeps ? now + ReceiveWindows::look_after : never;
}

/// What waits for its host has a timer of its own, or it would not be on the fast path.
bool Appointments::may_be_put_off(const Flow& flow, Instant now) const {
  return relay::on_fast_path(flow) && flow.release_reason == ReleaseReason::none &&
         !time_alone_matters(flow, registry_.bearer(flow.bearer), now);
}

/// By reports, time changes what the law lets the server send, and who uses the room in a window that connections
/// share. By acknowledgements the window is that of the newest one until the bearer is looked at, and nobody has a use
/// for room who is not in line for it; but a server without a window may get one of what others have given back, or
/// by the time alone, and while the radio tells no rate the window is what the server shows to need in a time.
bool Appointments::time_alone_matters(const Flow& flow, const Bearer& bearer, Instant now) {
  if (!bearer.lead().steered()) return false;
  return !bearer.lead().clocked() || bearer.load.backlogged_flows != 0 || flow.share.shut ||
         ReceiveWindows::is_kept_going(flow, bearer, now) || bearer.mean_rate() <= Rate();
}

}  // namespace sluice::proxy
