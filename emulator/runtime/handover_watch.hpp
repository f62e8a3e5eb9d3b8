#pragma once

#include <cstdint>
#include <functional>

#include "emulator/net/event_loop.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// What handovers cost TCP: how much counters grow from the beginning of each until some time after it. Thread: the
/// loop's.
class HandoverWatch final : public EventTarget {
 public:
  /// So long from its beginning something counts as a handover's; where two overlap, once.
  static constexpr Duration window = std::chrono::seconds(2);
  /// What was counted so far; cumulative.
  struct Sample {
    std::uint64_t retransmissions = 0;
    std::uint64_t timeouts = 0;
  };
  /// Watches the scenario's handovers from the loop's present on. `loop` outlives it; `look` says how things stand.
  HandoverWatch(EventLoop& loop, const Scenario& scenario, std::function<Sample()> look);
  void on_event(std::uint64_t tag, Instant now) override;
  /// Up to now.
  [[nodiscard]] Sample result() const;
  [[nodiscard]] bool any() const { return any_; }

 private:
  enum Tag : std::uint64_t { begin_tag, end_tag };
  [[nodiscard]] Sample since(const Sample& before) const;

  std::function<Sample()> look_;
  std::uint32_t open_ = 0;  ///< windows that have begun and not ended
  Sample before_;           ///< when the first of them began
  Sample sum_;
  bool any_ = false;
};

}  // namespace sluice::emulator
