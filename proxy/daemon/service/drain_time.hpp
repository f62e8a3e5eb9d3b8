#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Decides how long a stop waits for split connections to be handed back to their hosts. Normally it waits for the
/// configured time `drain`. Time in which the program or its machine was suspended does not count. The wait is
/// extended, by at most `drain`, while the number of connections that a stop would break keeps decreasing. Reads no
/// clock.
class DrainTime {
 public:
  /// Interval at which the shards are asked how many connections are still split.
  static constexpr Duration period = std::chrono::milliseconds(100);
  /// Longest time beyond the interval `period` that may pass between two answers of the shards. If more time passes,
  /// the program counts as suspended between the two answers.
  static constexpr Duration tolerance = std::chrono::milliseconds(400);
  /// An extended wait ends if the number of connections that a stop would break has not decreased for this time. The
  /// time `drain` counts instead if it is shorter.
  static constexpr Duration max_time_without_decrease = std::chrono::seconds(1);
  /// Number of consecutive requests without an answer after which the shards count as stalled.
  static constexpr unsigned max_unanswered = 3;

  DrainTime(Duration drain, Instant now) : drain_(drain), end_(now + drain), asked_(now), last_decrease_at_(now) {}

  /// Records the shards' answer: how many connections a stop at `now` would break. `would_break` is not set if the
  /// shards did not answer. Returns true if the wait is over.
  [[nodiscard]] bool ends(Instant now, std::optional<std::uint64_t> would_break);

  /// Returns how long the program was suspended between the last two answers; zero if it was not suspended.
  [[nodiscard]] Duration suspended_time() const { return suspended_time_; }
  /// True if the configured time `drain` for handing connections back is over and the wait is extended.
  [[nodiscard]] bool is_extended() const { return is_extended_; }

 private:
  Duration drain_;
  Instant end_;
  Instant asked_;             ///< time of the last call of ends(), at which the current interval began
  Instant last_decrease_at_;  ///< time at which the number of connections that a stop would break last decreased
  Duration suspended_time_{};
  std::optional<std::uint64_t> lowest_;
  unsigned unanswered_ = 0;
  bool is_extended_ = false;
};

}  // namespace sluice::proxy
