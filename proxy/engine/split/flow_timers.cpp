#include "proxy/engine/split/flow_timers.hpp"

#include <algorithm>

#include "proxy/engine/relay/relay.hpp"

namespace sluice::proxy {

Instant FlowTimers::when(const Flow& flow, Instant due, Instant now) const {
  const Instant idle = std::max(flow.last_activity + timeouts_.idle, now + std::chrono::seconds(1));
  return lesser(due, idle);
}

/// Returns when the timer must check again whether the proxy must open the window advertised to the server to two
/// segments. Less than two segments of that window are left now. Returns `never` if the proxy must not open it.
Instant FlowTimers::min_window_at(const Flow& flow, Instant now) const {
  const bool keeps = ReceiveWindowControl::gets_min_window(flow, registry_.bearer(flow.bearer), now);
  return keeps ? now + ReceiveWindowControl::min_window_check : never;
}

/// True if nothing must be done for a flow whose timer has expired before the TCP timers of both legs. Both legs must
/// be open without loss or reordering; a TCP timer then covers all unacknowledged data. In addition, no release may be
/// requested, and elapsed time alone must not open a window.
bool FlowTimers::can_be_postponed(const Flow& flow, Instant now) const {
  return relay::on_fast_path(flow) && flow.release_reason == ReleaseReason::none &&
         !depends_on_time(flow, registry_.bearer(flow.bearer), now);
}

/// True if elapsed time alone may open a window. Under Node-B reports, time changes the window advertised to the server
/// and the number of bytes that the flow may send. Under the ACK-based controller this is so in three cases. In the
/// first, a flow of the UE waits for the controller's window. In the second, less than two segments of the window
/// advertised to the server are left. In the third, the link's rate is unknown, so that the window follows the measured
/// receive-buffer demand, which may have increased.
bool FlowTimers::depends_on_time(const Flow& flow, const Bearer& bearer, Instant now) const {
  if (!bearer.rate_control().is_rate_controlled()) return false;
  return !bearer.rate_control().is_ack_based() || bearer.has_waiting_flows() || flow.share.window_closed ||
         ReceiveWindowControl::gets_min_window(flow, bearer, now) ||
         (bearer.mean_rate() <= Rate() && buffer_quota_.demand_may_rise(flow, Side::core, now));
}

}  // namespace sluice::proxy
