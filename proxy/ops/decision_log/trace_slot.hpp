#pragma once

#include <atomic>

#include "control/decision_log/decision_log.hpp"

namespace sluice::tracing {

/// Passes decision logs (objects that record the controllers' inputs and decisions) from the control thread to a shard
/// without locks. The shard confirms which log it uses. Neither thread waits for the other.
class TraceSlot {
 public:
  /// Called by the control thread. Makes the shard record the inputs and decisions of its controllers in `trace`, or in
  /// no log if `trace` is null. The log must exist until uses() returns false for it.
  void offer(control::DecisionLog* trace) { offered_.store(trace); }
  /// Called by the control thread. True if the shard uses this decision log, or could start to use it at any time.
  [[nodiscard]] bool uses(const control::DecisionLog& trace) const {
    return offered_.load() == &trace || taken_.load() == &trace;
  }

  /// Called by the shard. True if the log that the control thread has offered differs from `from`, the log that the
  /// shard uses.
  [[nodiscard]] bool differs(const control::DecisionLog* from) const {
    return offered_.load(std::memory_order_acquire) != from;
  }
  /// Called by the shard while it uses no decision log. Returns the log that it must use from now on, or null. The
  /// shard first publishes which log it takes, and then checks that this log is still offered. The control thread first
  /// withdraws a log, and then checks that no shard has taken it. A log in use is therefore never freed.
  [[nodiscard]] control::DecisionLog* take() {
    control::DecisionLog* trace = nullptr;
    do {
      trace = offered_.load();
      taken_.store(trace);
    } while (offered_.load() != trace);
    return trace;
  }

 private:
  std::atomic<control::DecisionLog*> offered_{nullptr};
  std::atomic<control::DecisionLog*> taken_{nullptr};
};

}  // namespace sluice::tracing
