#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Token bucket of a policer. It fills at a constant rate up to its size (the burst size, in bytes). A packet passes if
/// the bucket contains at least the packet's size, which is then removed from the bucket. Other packets do not pass;
/// none waits. Time is an argument.
class TokenBucket {
 public:
  /// Creates a full bucket. Throws std::invalid_argument unless `rate` > 0 and `burst` > 0.
  TokenBucket(Rate rate, Bytes burst);

  /// Returns true if a packet of `size` bytes passes at `now`, which must not decrease. A rejected packet leaves the
  /// fill level unchanged.
  [[nodiscard]] bool take(Bytes size, Instant now);

 private:
  Rate rate_;         ///< rate at which the bucket fills
  double burst_;      ///< size of the bucket, bytes
  double level_;      ///< fill level in bytes, from 0 to the size of the bucket
  Instant filled_{};  ///< time at which the fill level was last updated
};

}  // namespace sluice::emulator
