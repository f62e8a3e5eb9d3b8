#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// How long a stop waits for split connections to go back to their hosts. The wait is `drain`, not counting time in
/// which the program or its host stood still, since no connection can go back in that time. Then the wait goes on for
/// at most `drain` once more, for as long as the number of connections that a stop would break falls. It reads no
/// clock.
class DrainTime {
 public:
  /// Shards are asked what is left at about this interval.
  static constexpr Duration period = std::chrono::milliseconds(100);
  /// An interval that is longer by this much counts as time in which the program stood still.
  static constexpr Duration tolerance = std::chrono::milliseconds(400);
  /// The number falls if it has fallen within this time.
  static constexpr Duration patience = std::chrono::seconds(1);
  /// Shards that do not answer so many times in a row are taken to stand still for good.
  static constexpr unsigned most_unanswered = 3;

  DrainTime(Duration drain, Instant now) : drain_(drain), end_(now + drain), asked_(now), fell_(now) {}

  /// Takes what the shards answer: how many connections would break if the program ended now; nothing where a shard
  /// does not answer. Returns whether the wait ends.
  [[nodiscard]] bool ends(Instant now, std::optional<std::uint64_t> would_break);

  /// The part of the last interval in which the program stood still; zero where it did not.
  [[nodiscard]] Duration stood_still() const { return stood_still_; }
  /// True if the wait goes on although `drain` is over, because the number falls.
  [[nodiscard]] bool is_extended() const { return is_extended_; }

 private:
  Duration drain_;
  Instant end_;
  Instant asked_;  ///< when the interval began
  Instant fell_;   ///< when the number was last seen to fall
  Duration stood_still_{};
  std::optional<std::uint64_t> least_;
  unsigned unanswered_ = 0;
  bool is_extended_ = false;
};

}  // namespace sluice::proxy
