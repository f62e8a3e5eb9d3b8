#pragma once

#include "dataplane/tcp/tick.hpp"
#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/rate_control/receive_window_control.hpp"

namespace sluice::proxy {

/// Sets the timer of each split connection to the earliest of its deadlines: the TCP timers of both legs and the idle
/// timeout. Thread: the shard's.
class FlowTimers {
 public:
  /// Stores references to its arguments, which must outlive the object.
  FlowTimers(const ShardContext& shard, const RelayBufferQuota& buffer_quota)
      : registry_(shard.registry), timeouts_(shard.config.timeouts), buffer_quota_(buffer_quota) {}

  /// Returns the earlier deadline of the TCP timers of both legs; `never` if none is set.
  [[nodiscard]] static Instant next_deadline(const Flow& flow) {
    return lesser(flow.legs[0].endpoint.next_deadline(), flow.legs[1].endpoint.next_deadline());
  }
  /// True if the flow's timer is set and expires at `due` or earlier.
  [[nodiscard]] static bool is_armed_before(const Flow& flow, Instant due) {
    return flow.deadline < due || (flow.deadline == due && due != never);
  }
  /// Makes the flow's timer expire at the earlier deadline of its legs' TCP timers, or at the idle timeout if that is
  /// earlier. Keeps a timer that already expires before. If less than two segments of the window advertised to the
  /// server are left, the timer also expires when that window must be checked. Must be called after the flow's pending
  /// events were processed.
  void update(Flow& flow, FlowId id, Instant now) {
    Instant due = next_deadline(flow);
    if (ReceiveWindowControl::window_nearly_closed(flow)) [[unlikely]]
      due = lesser(due, min_window_at(flow, now));
    if (!is_armed_before(flow, due)) arm(flow, id, due, now);
  }
  /// Sets the flow's timer to `due` or to the idle timeout, whichever is earlier. Does not change a timer that already
  /// expires earlier.
  void arm(Flow& flow, FlowId id, Instant due, Instant now) {
    registry_.timers().schedule(flow, id, when(flow, due, now));
  }
  /// Sets the timer to the earliest deadline of the legs, or to the idle timeout if that is earlier. Replaces the
  /// present setting even if that is earlier. Called when a flow enters TIME-WAIT.
  void rearm(Flow& flow, FlowId id, Instant now) {
    registry_.timers().reschedule(flow, id, when(flow, next_deadline(flow), now));
  }
  /// True if nothing must be done for a flow whose timer has expired before the TCP timers of both legs. The caller
  /// then only sets the timer again. A timer expires early if the deadline was postponed after the timer was set.
  [[nodiscard]] bool can_be_postponed(const Flow& flow, Instant now) const;

 private:
  /// Returns when a timer for the deadline `due` must expire: at `due`, or at the idle timeout if that is earlier. An
  /// idle timeout less than one second from now counts as one second from now.
  [[nodiscard]] Instant when(const Flow& flow, Instant due, Instant now) const;
  /// Returns when the timer must check again whether the proxy must open the window advertised to the server to two
  /// segments. Less than two segments of that window are left now. Returns `never` if the proxy must not open it.
  [[nodiscard, gnu::noinline]] Instant min_window_at(const Flow& flow, Instant now) const;
  /// True if the windows of the flow, or the bytes that it may send, may change by elapsed time alone, although nothing
  /// arrives.
  [[nodiscard]] bool depends_on_time(const Flow& flow, const Bearer& bearer, Instant now) const;

  Registry& registry_;
  const ShardTimeouts& timeouts_;
  const RelayBufferQuota& buffer_quota_;
};

}  // namespace sluice::proxy
