#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Computes how long a stop waits for split connections to be handed back. The wait is `drain`, without the time in
/// which the program or its host was suspended. It is extended by at most `drain` while the number of connections
/// that a stop would break decreases. It reads no clock.
class DrainTime {
 public:
  /// Interval at which shards are asked for the remaining connections.
  static constexpr Duration period = std::chrono::milliseconds(100);
  /// Excess of an interval from which the program counts as suspended.
  static constexpr Duration tolerance = std::chrono::milliseconds(400);
  /// Time within which the number must decrease to extend the wait.
  static constexpr Duration patience = std::chrono::seconds(1);
  /// Number of missing answers in a row after which shards count as stalled.
  static constexpr unsigned max_unanswered = 3;

  DrainTime(Duration drain, Instant now) : drain_(drain), end_(now + drain), asked_(now), fell_(now) {}

  /// Adds an answer of the shards: the number of connections that would break if the program ended now, or nothing
  /// without an answer. Returns true if the wait ends.
  [[nodiscard]] bool ends(Instant now, std::optional<std::uint64_t> would_break);

  /// Returns the time of the last interval in which the program was suspended; zero if it was not.
  [[nodiscard]] Duration stood_still() const { return stood_still_; }
  /// True if `drain` has elapsed and the wait goes on because the number decreases.
  [[nodiscard]] bool is_extended() const { return is_extended_; }

 private:
  Duration drain_;
  Instant end_;
  Instant asked_;  ///< start of the current interval
  Instant fell_;   ///< time at which the number last decreased
  Duration stood_still_{};
  std::optional<std::uint64_t> least_;
  unsigned unanswered_ = 0;
  bool is_extended_ = false;
};

}  // namespace sluice::proxy
