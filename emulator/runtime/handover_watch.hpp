#pragma once

#include <cstdint>
#include <functional>

#include "emulator/net/event_loop.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// Counts the TCP retransmissions and timeouts in the two seconds after the start of each handover (`window`). Thread:
/// the event loop's.
class HandoverWatch final : public EventTarget {
 public:
  /// Time after the start of a handover in which TCP retransmissions and timeouts are attributed to the handover. Where
  /// the times of several handovers overlap, an event counts once.
  static constexpr Duration window = std::chrono::seconds(2);
  /// Cumulative TCP counters at one instant.
  struct Sample {
    std::uint64_t retransmissions = 0;
    std::uint64_t timeouts = 0;
  };
  /// Schedules the time windows after the scenario's handovers; the scenario's times count from the event loop's
  /// current time. `look` returns the cumulative counters. `loop` must outlive it.
  HandoverWatch(EventLoop& loop, const Scenario& scenario, std::function<Sample()> look);
  void on_event(std::uint64_t tag, Instant now) override;
  /// Returns the retransmissions and timeouts that were counted up to now.
  [[nodiscard]] Sample result() const;
  /// True if the scenario has a handover.
  [[nodiscard]] bool any() const { return any_; }

 private:
  enum Tag : std::uint64_t { begin_tag, end_tag };
  [[nodiscard]] Sample since(const Sample& before) const;

  std::function<Sample()> look_;
  std::uint32_t open_ = 0;  ///< number of handovers whose time window (see `window`) has begun and not ended
  /// TCP counters when a time window last began while no other was open.
  Sample before_;
  Sample sum_;
  bool any_ = false;
};

}  // namespace sluice::emulator
