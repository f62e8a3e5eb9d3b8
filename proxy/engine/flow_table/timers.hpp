#pragma once

#include <chrono>
#include <cstdint>

#include "dataplane/flow/slab.hpp"
#include "dataplane/flow/timer_wheel.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

/// Maximum number of expired timers of a timer wheel that one call of Shard::advance() handles. Even if a million
/// connections end at once, a call thus delays packets by at most 100 us.
inline constexpr std::uint32_t max_timers_at_once = 64;

/// Timers of the flows and bearers of a shard. Thread: the shard's.
class Timers {
 public:
  /// Creates one timer for each flow and each bearer; none is set. `flows` and `bearers` must outlive this object.
  /// `origin` is the start of the timers' clock; no later call has an earlier time.
  Timers(flow::Slab<Flow>& flows, flow::Slab<Bearer>& bearers, Instant origin)
      : flows_(flows),
        bearers_(bearers),
        wheel_(flows.capacity() + bearers.capacity(), origin, std::chrono::microseconds(500)) {}

  /// Sets the flow's timer to `when`, unless the timer is already set to an earlier time.
  void schedule(Flow& flow, FlowId id, Instant when) {
    if (when >= flow.deadline) return;
    flow.deadline = when;
    wheel_.schedule(id, when);
  }
  /// Sets the flow's timer to `when`, even if the timer is already set to an earlier time.
  void reschedule(Flow& flow, FlowId id, Instant when) {
    flow.deadline = when;
    wheel_.cancel(id);
    wheel_.schedule(id, when);
  }
  /// Sets the bearer's timer to `when`, unless the timer is already set to an earlier time.
  void schedule(Bearer& bearer, Instant when) {
    if (when < bearer.wheel_deadline) reschedule(bearer, when);
  }
  /// Sets the bearer's timer to `when`, even if the timer is already set to an earlier time. With `never`, stops the
  /// timer.
  void reschedule(Bearer& bearer, Instant when) {
    bearer.wheel_deadline = when;
    wheel_.schedule(timer_of(bearer.id), when);
  }
  /// Stops the timer of a flow that is being removed.
  void forget_flow(FlowId id) { wheel_.cancel(id); }
  /// Stops the timer of a bearer that is being removed.
  void forget_bearer(BearerId id) { wheel_.cancel(timer_of(id)); }
  /// Prefetches the entry of a bearer's timer in the timer wheel.
  void prefetch(BearerId id) const { wheel_.prefetch(timer_of(id)); }

  /// True if no timer can have expired.
  [[nodiscard]] bool is_quiet(Instant now) const { return wheel_.is_quiet(now); }
  /// Returns the time at which the next timer may expire.
  [[nodiscard]] Instant next() const { return wheel_.next(); }
  /// Calls on_flow(id) or on_bearer(id) for each expired timer, at most max_timers_at_once. The callbacks must set the
  /// timers again.
  template <typename OnFlow, typename OnBearer>
  void run_due(Instant now, OnFlow&& on_flow, OnBearer&& on_bearer) {
    wheel_.advance(now, max_timers_at_once, [&](std::uint32_t timer) {
      if (timer < flows_.capacity()) {
        flows_[timer].deadline = never;
        on_flow(timer);
      } else {
        const BearerId id = timer - flows_.capacity();
        bearers_[id].wheel_deadline = never;
        on_bearer(id);
      }
    });
  }

 private:
  /// Returns the index of a bearer's timer in the timer wheel. Timers of bearers follow those of all flows.
  [[nodiscard]] std::uint32_t timer_of(BearerId id) const { return flows_.capacity() + id; }

  flow::Slab<Flow>& flows_;
  flow::Slab<Bearer>& bearers_;
  flow::TimerWheel wheel_;
};

}  // namespace sluice::proxy
