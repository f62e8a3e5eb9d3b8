#pragma once

#include "dataplane/tcp/tick.hpp"
#include "proxy/shard/context.hpp"
#include "proxy/steering/receive_windows.hpp"

namespace sluice::proxy {

/// When the timer wheel comes to a split flow: when one of its legs wants to be looked at, and for idleness. Thread:
/// the shard's.
class Appointments {
 public:
  explicit Appointments(const ShardContext& shard) : registry_(shard.registry), timeouts_(shard.config.timeouts) {}

  /// When one of its legs wants to be looked at.
  [[nodiscard]] static Instant next_deadline(const Flow& flow) {
    return lesser(flow.legs[0].endpoint.next_deadline(), flow.legs[1].endpoint.next_deadline());
  }
  /// The timer wheel comes to it by then, for idleness too.
  [[nodiscard]] static bool is_in_time(const Flow& flow, Instant due) {
    return flow.deadline <= due && flow.deadline != never;
  }
  /// What its legs want may have changed.
  void keep(Flow& flow, FlowId id, Instant now) {
    Instant due = next_deadline(flow);
    if (ReceiveWindows::is_nearly_shut(flow)) [[unlikely]]
      due = lesser(due, keeps_going_at(flow, now));
    if (!is_in_time(flow, due)) make(flow, id, due, now);
  }
  /// It is looked at when it is `due`, or has been idle for long; an earlier appointment stands.
  void make(Flow& flow, FlowId id, Instant due, Instant now) {
    registry_.timers().schedule(flow, id, when(flow, due, now));
  }
  /// All that is left is to wait, for a time that is known: it is not looked at before because of what was due.
  void make_anew(Flow& flow, FlowId id, Instant now) {
    registry_.timers().reschedule(flow, id, when(flow, next_deadline(flow), now));
  }
  /// The wheel has come to the flow, and nothing is due. Nothing but its timers makes it be served, and what it was to
  /// be looked at for may have been put off since.
  [[nodiscard]] bool may_be_put_off(const Flow& flow, Instant now) const;

 private:
  [[nodiscard]] Instant when(const Flow& flow, Instant due, Instant now) const;
  [[nodiscard, gnu::noinline]] Instant keeps_going_at(const Flow& flow, Instant now) const;
  [[nodiscard]] static bool time_alone_matters(const Flow& flow, const Bearer& bearer, Instant now);

  Registry& registry_;
  const ShardTimeouts& timeouts_;
};

}  // namespace sluice::proxy
