#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Stretch acknowledgements, as of a phone that merges segments before its TCP sees them (LRO, GRO): of what the
/// endpoint acknowledges, two segments at a time, one acknowledgement for so many segments goes out, and the rest after
/// a delay. What tells more than that data came in order goes at once, as nearly everything with accurate ECN does.
/// Pure: time is an argument.
class AckStretcher {
 public:
  /// `every`: segments; up to 2 changes nothing. `delay`: how long an acknowledgement may wait.
  AckStretcher(std::uint32_t every, Duration delay) : every_(every), delay_(delay) {}

  /// Whether `segment`, which is about to leave, waits instead. `full`: bytes of a full segment.
  [[nodiscard]] bool holds(const tcp::Segment& segment, std::uint32_t full, Instant now);
  /// When the one that waits must leave; `never` when none does.
  [[nodiscard]] Instant due() const { return due_; }
  /// Takes that one out. Requires one.
  [[nodiscard]] tcp::Segment take();

 private:
  void sent(tcp::SeqNum ack);

  std::uint32_t every_;
  Duration delay_;
  std::optional<tcp::SeqNum> acknowledged_;  ///< by what left
  std::optional<tcp::Segment> waiting_;
  Instant due_ = never;
};

}  // namespace sluice::emulator
