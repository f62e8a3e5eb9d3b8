#pragma once

#include <cstdint>

#include "dataplane/tcp/seq.hpp"
#include "dataplane/tcp/tick.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Round-trip time and retransmission timeout (RFC 6298). Kept in microseconds: 22 bytes per connection.
///
/// Samples arrive far more often than once per round trip. The smoothed mean takes them all; the variation takes the
/// worst deviation of each round, else a burst of equal samples would talk it down to nothing (RFC 7323 appendix G has
/// the same concern).
class RttEstimator {
 public:
  /// A segment that was sent once took `rtt` to be acknowledged (Karn's rule is the caller's). `snd_una` and `snd_nxt`
  /// tell where rounds end; `min_rto` is that of timeout(), for probe_timeout().
  void sample(Duration rtt, SeqNum snd_una, SeqNum snd_nxt, const Duration& min_rto);

  /// Smoothed round-trip time; zero before the first sample.
  [[nodiscard]] Duration srtt() const { return std::chrono::microseconds(srtt_us_); }
  [[nodiscard]] Duration variation() const { return std::chrono::microseconds(variation_us_); }
  /// The least round-trip time of those that ended a round. Follows the path upwards by a 1024th of the way per round,
  /// for a route may become longer (RFC 8985 section 6.2 step 1 leaves the filter open).
  [[nodiscard]] Duration least() const { return std::chrono::microseconds(least_us_); }
  /// When to probe for a lost tail (RFC 8985 section 7.2): after two round trips, at least 10 ms (hosts take their time
  /// to answer), and no later than the retransmission timeout, hence at most `min_rto` beyond one round trip. Kept as
  /// of the last end of a round, for it is asked with every segment. A second before the first sample.
  [[nodiscard]] Duration probe_timeout() const { return tick::duration(probe_ticks_); }
  [[nodiscard]] bool has_sample() const { return srtt_us_ != 0; }

  /// SRTT + max(min_rto, 4 * RTTVAR), doubled `backoff` times, at most `max_rto`; one second before the first sample
  /// (RFC 6298 section 2). The minimum stands for the variation, not for the sum: a peer's delayed acknowledgement
  /// must not look like a loss on a path whose delay is steady.
  [[nodiscard]] Duration timeout(unsigned backoff, Duration min_rto, Duration max_rto) const;

 private:
  void set_probe_timeout(Duration min_rto);

  std::uint32_t srtt_us_ = 0;
  std::uint32_t variation_us_ = 0;
  std::uint32_t least_us_ = 0;
  std::uint32_t round_worst_us_ = 0;  ///< largest deviation of this round
  SeqNum round_end_;
  std::uint16_t probe_ticks_ = 954;  ///< tick::fine
};

}  // namespace sluice::tcp
