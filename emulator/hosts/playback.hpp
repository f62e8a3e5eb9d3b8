#pragma once

#include <algorithm>

#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// What a player holds and plays: it fills by whole segments and drains with time. It stands still when it is empty,
/// and plays on with the next segment.
class Playback {
 public:
  /// A segment of so much playing time is there. Returns how long the player has stood still for it; zero for the
  /// first.
  Duration add(Duration segment, Instant now) {
    const Duration waited = begun_ ? std::max(now - until_, Duration::zero()) : Duration::zero();
    until_ = (begun_ ? std::max(until_, now) : now) + segment;
    begun_ = true;
    return waited;
  }
  /// Playing time that is there and not yet played.
  [[nodiscard]] Duration held(Instant now) const {
    return begun_ ? std::max(until_ - now, Duration::zero()) : Duration::zero();
  }
  /// How long it has stood still by now.
  [[nodiscard]] Duration standing(Instant now) const {
    return begun_ ? std::max(now - until_, Duration::zero()) : Duration::zero();
  }

 private:
  bool begun_ = false;
  Instant until_{};  ///< what is there has been played
};

}  // namespace sluice::emulator
