#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Decides how long a stop waits for split connections to be handed back to their hosts. The wait is `drain`. Time in
/// which the program or its host was suspended does not count. The wait is extended by at most `drain` while the number
/// of connections that a stop would break decreases. Reads no clock.
class DrainTime {
 public:
  /// Interval at which the shards are asked for the number of remaining connections.
  static constexpr Duration period = std::chrono::milliseconds(100);
  /// Time by which an interval must exceed `period` for the program to count as suspended.
  static constexpr Duration tolerance = std::chrono::milliseconds(400);
  /// Time within which the number of connections must decrease for the wait to be extended.
  static constexpr Duration patience = std::chrono::seconds(1);
  /// Number of consecutive missing answers after which shards count as stalled.
  static constexpr unsigned max_unanswered = 3;

  DrainTime(Duration drain, Instant now) : drain_(drain), end_(now + drain), asked_(now), fell_(now) {}

  /// Records an answer of the shards: the number of connections that would break if the program ended now, or nothing
  /// if the shards did not answer. Returns true if the wait ends.
  [[nodiscard]] bool ends(Instant now, std::optional<std::uint64_t> would_break);

  /// Returns for how long the program was suspended between the last two answers; zero if it was not.
  [[nodiscard]] Duration stood_still() const { return stood_still_; }
  /// True if `drain` has elapsed and the wait continues because the number of connections decreases.
  [[nodiscard]] bool is_extended() const { return is_extended_; }

 private:
  Duration drain_;
  Instant end_;
  Instant asked_;  ///< start of the current interval between two answers
  Instant fell_;   ///< time at which the number of remaining connections last decreased
  Duration stood_still_{};
  std::optional<std::uint64_t> least_;
  unsigned unanswered_ = 0;
  bool is_extended_ = false;
};

}  // namespace sluice::proxy
