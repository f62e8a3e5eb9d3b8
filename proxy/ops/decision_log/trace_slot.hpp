#pragma once

#include <atomic>

#include "control/decision_log/law_trace.hpp"

namespace sluice::tracing {

/// Passes decision logs from the control thread to a shard without locks; the shard acknowledges which one it uses.
/// Neither thread waits for the other.
class TraceSlot {
 public:
  /// Called by the control thread. Makes the shard record its decisions in this log, or in none if null. The log must
  /// exist until uses() is false.
  void offer(control::LawTrace* trace) { wanted_.store(trace); }
  /// Called by the control thread. True if the shard uses this log or may start to use it at any moment.
  [[nodiscard]] bool uses(const control::LawTrace& trace) const {
    return wanted_.load() == &trace || taken_.load() == &trace;
  }

  /// Called by the shard. `from` is the log in use. True if the control thread has offered another log.
  [[nodiscard]] bool differs(const control::LawTrace* from) const {
    return wanted_.load(std::memory_order_acquire) != from;
  }
  /// Called by the shard while it uses no log. Returns the log to use from now on. The shard first publishes that it
  /// uses the log, then checks that the log is still offered. The control thread does both in the reverse order, so it
  /// never frees a log that is in use.
  [[nodiscard]] control::LawTrace* take() {
    control::LawTrace* trace = nullptr;
    do {
      trace = wanted_.load();
      taken_.store(trace);
    } while (wanted_.load() != trace);
    return trace;
  }

 private:
  std::atomic<control::LawTrace*> wanted_{nullptr};
  std::atomic<control::LawTrace*> taken_{nullptr};
};

}  // namespace sluice::tracing
