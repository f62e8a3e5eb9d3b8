#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Decides what a policer lets pass: a bucket of `burst` bytes fills at `rate`, a packet passes if the bucket holds its
/// size, and takes it out. Nothing waits. Time is an argument.
class TokenBucket {
 public:
  /// The bucket is full at first. Throws std::invalid_argument unless rate > 0 and burst > 0.
  TokenBucket(Rate rate, Bytes burst);

  /// Returns true if a packet of `size` bytes passes at `now`, which is not before the last call's. False changes
  /// nothing but the level's time.
  [[nodiscard]] bool take(Bytes size, Instant now);

 private:
  Rate rate_;
  double burst_;  ///< bytes
  double level_;  ///< bytes, 0 … burst_
  Instant filled_{};
};

}  // namespace sluice::emulator
