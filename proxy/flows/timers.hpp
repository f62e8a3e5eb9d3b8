#pragma once

#include <chrono>
#include <cstdint>

#include "dataplane/flow/slab.hpp"
#include "dataplane/flow/timer_wheel.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/bearer/bearer.hpp"
#include "proxy/flows/flow.hpp"

namespace sluice::proxy {

/// Of the timers that are due together a call of Shard::advance() runs so many of each kind; packets come before the
/// rest. A million connections that end at once hold up nobody: so many take less than 100 us to end.
inline constexpr std::uint32_t most_timers_at_once = 64;

/// When the flows and bearers of a shard next want to be looked at. Thread: the shard's.
class Timers {
 public:
  /// Both outlive it. `origin` is not later than any time passed in.
  Timers(flow::Slab<Flow>& flows, flow::Slab<Bearer>& bearers, Instant origin)
      : flows_(flows),
        bearers_(bearers),
        wheel_(flows.capacity() + bearers.capacity(), origin, std::chrono::microseconds(500)) {}

  /// The flow is looked at no later than `when`; an earlier appointment stands.
  void schedule(Flow& flow, FlowId id, Instant when) {
    if (when >= flow.deadline) return;
    flow.deadline = when;
    wheel_.schedule(id, when);
  }
  /// It is looked at then, whatever was appointed.
  void reschedule(Flow& flow, FlowId id, Instant when) {
    flow.deadline = when;
    wheel_.cancel(id);
    wheel_.schedule(id, when);
  }
  /// The same for a bearer.
  void schedule(Bearer& bearer, Instant when) {
    if (when < bearer.wheel_deadline) reschedule(bearer, when);
  }
  /// `never`: not at all.
  void reschedule(Bearer& bearer, Instant when) {
    bearer.wheel_deadline = when;
    wheel_.schedule(timer_of(bearer.id), when);
  }
  /// They are gone.
  void forget_flow(FlowId id) { wheel_.cancel(id); }
  void forget_bearer(BearerId id) { wheel_.cancel(timer_of(id)); }
  /// Asks the processor to fetch when the bearer is to be looked at.
  void prefetch(BearerId id) const { wheel_.prefetch(timer_of(id)); }

  /// Nothing can be due.
  [[nodiscard]] bool is_quiet(Instant now) const { return wheel_.is_quiet(now); }
  [[nodiscard]] Instant next() const { return wheel_.next(); }
  /// Calls on_flow(id) and on_bearer(id) for what is due, most_timers_at_once of it. They reschedule themselves.
  template <typename OnFlow, typename OnBearer>
  void run_due(Instant now, OnFlow&& on_flow, OnBearer&& on_bearer) {
    wheel_.advance(now, most_timers_at_once, [&](std::uint32_t timer) {
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
  /// Flows first, then bearers.
  [[nodiscard]] std::uint32_t timer_of(BearerId id) const { return flows_.capacity() + id; }

  flow::Slab<Flow>& flows_;
  flow::Slab<Bearer>& bearers_;
  flow::TimerWheel wheel_;
};

}  // namespace sluice::proxy
