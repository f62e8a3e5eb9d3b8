#pragma once

#include <atomic>

#include "control/trace/law_trace.hpp"

namespace sluice::tracing {

/// Where the control thread says which trace a shard's laws are told to, and the shard which one it uses. Neither waits
/// for the other.
class TraceSlot {
 public:
  /// Control thread: this one from now on; null: none. It outlives its use by the shard.
  void offer(control::LawTrace* trace) { wanted_.store(trace); }
  /// Control thread: the shard does, or may any moment.
  [[nodiscard]] bool uses(const control::LawTrace& trace) const {
    return wanted_.load() == &trace || taken_.load() == &trace;
  }

  /// Shard: another one is wanted than this.
  [[nodiscard]] bool differs(const control::LawTrace* from) const {
    return wanted_.load(std::memory_order_acquire) != from;
  }
  /// Shard, where it uses none: the one to use from now on. It is said to be in use before it is looked at once more
  /// whether it is wanted: so the control thread, which does the two the other way round, never takes it for free.
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
