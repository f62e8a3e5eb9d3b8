#pragma once

#include <algorithm>

#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Buffer of a video player, which fills by whole segments and drains with time. The player stalls when the buffer is
/// empty, and resumes with the next segment.
class Playback {
 public:
  /// Adds a segment of playing time `segment`. Returns how long the player stalled directly before this segment; zero
  /// for the first segment.
  Duration add(Duration segment, Instant now) {
    const Duration waited = begun_ ? std::max(now - until_, Duration::zero()) : Duration::zero();
    until_ = (begun_ ? std::max(until_, now) : now) + segment;
    begun_ = true;
    return waited;
  }
  /// Returns the playing time that is buffered.
  [[nodiscard]] Duration held(Instant now) const {
    return begun_ ? std::max(until_ - now, Duration::zero()) : Duration::zero();
  }
  /// Returns for how long the player has stalled at `now`; zero while the player plays.
  [[nodiscard]] Duration standing(Instant now) const {
    return begun_ ? std::max(now - until_, Duration::zero()) : Duration::zero();
  }

 private:
  bool begun_ = false;
  Instant until_{};  ///< time at which the buffer becomes empty
};

}  // namespace sluice::emulator
