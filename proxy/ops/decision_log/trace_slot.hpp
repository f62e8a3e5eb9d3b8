#pragma once

#include <atomic>

#include "control/decision_log/law_trace.hpp"

namespace sluice::tracing {

/// Lock-free hand-over of a decision trace from the control thread to a shard, with acknowledgement. Neither thread
/// waits for the other.
class TraceSlot {
 public:
  /// Control thread: makes the shard use this trace, or none if null. The trace must stay until uses() is false.
  void offer(control::LawTrace* trace) { wanted_.store(trace); }
  /// Control thread: true if the shard uses the trace or may take it at any moment.
  [[nodiscard]] bool uses(const control::LawTrace& trace) const {
    return wanted_.load() == &trace || taken_.load() == &trace;
  }

  /// Shard: true if the offered trace differs from `from`, the one in use.
  [[nodiscard]] bool differs(const control::LawTrace* from) const {
    return wanted_.load(std::memory_order_acquire) != from;
  }
  /// Shard: returns the trace to use from now on. Called while the shard uses none. The shard first publishes the
  /// trace as taken, then checks that it is still offered. The control thread does both in the reverse order, so it
  /// never frees a trace that is in use.
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
