#pragma once

#include "dataplane/tcp/tick.hpp"
#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/rate_control/receive_window_control.hpp"

namespace sluice::proxy {

/// Arms the timer of each split connection at the earlier of both legs' TCP timers and the idle timeout. Thread: the
/// shard's.
class FlowTimers {
 public:
  explicit FlowTimers(const ShardContext& shard) : registry_(shard.registry), timeouts_(shard.config.timeouts) {}

  /// Returns the earlier of the TCP timers of both legs (sides of the connection).
  [[nodiscard]] static Instant next_deadline(const Flow& flow) {
    return lesser(flow.legs[0].endpoint.next_deadline(), flow.legs[1].endpoint.next_deadline());
  }
  /// True if the flow's timer is armed and expires no later than `due`.
  [[nodiscard]] static bool is_armed_before(const Flow& flow, Instant due) {
    return flow.deadline <= due && flow.deadline != never;
  }
  /// Arms the timer at the earlier of both legs' TCP timers, or sooner for a server with a nearly closed window. Call
  /// it after serving the flow.
  void update(Flow& flow, FlowId id, Instant now) {
    Instant due = next_deadline(flow);
    if (ReceiveWindowControl::window_nearly_closed(flow)) [[unlikely]]
      due = lesser(due, min_window_at(flow, now));
    if (!is_armed_before(flow, due)) arm(flow, id, due, now);
  }
  /// Arms the flow's timer at `due` or the idle timeout, whichever is earlier. If the timer expires earlier already, it
  /// is unchanged.
  void arm(Flow& flow, FlowId id, Instant due, Instant now) {
    registry_.timers().schedule(flow, id, when(flow, due, now));
  }
  /// Arms the timer at the legs' next deadline or the idle timeout, even if that is later than before. Called when a
  /// flow enters TIME-WAIT.
  void rearm(Flow& flow, FlowId id, Instant now) {
    registry_.timers().reschedule(flow, id, when(flow, next_deadline(flow), now));
  }
  /// True if an expired timer only needs to be armed again: no leg's timer is due, and elapsed time alone changes
  /// nothing. That occurs if the deadline has moved since the timer was armed.
  [[nodiscard]] bool may_be_put_off(const Flow& flow, Instant now) const;

 private:
  /// Returns the time at which a timer for `due` must expire: no later than the idle timeout, which is at least one
  /// second ahead.
  [[nodiscard]] Instant when(const Flow& flow, Instant due, Instant now) const;
  /// Returns when a server whose window is nearly closed is allowed two segments; `never` if its window is not nearly
  /// closed.
  [[nodiscard, gnu::noinline]] Instant min_window_at(const Flow& flow, Instant now) const;
  /// True if elapsed time alone may change a window of the flow.
  [[nodiscard]] static bool time_alone_matters(const Flow& flow, const Bearer& bearer, Instant now);

  Registry& registry_;
  const ShardTimeouts& timeouts_;
};

}  // namespace sluice::proxy
