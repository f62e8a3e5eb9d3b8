#pragma once

#include <cstdint>

#include "dataplane/tcp/seq.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Round-trip time and retransmission timeout (RFC 6298). Kept in microseconds: 16 bytes per connection.
///
/// Samples arrive far more often than once per round trip. The smoothed mean takes them all; the variation takes the
/// worst deviation of each round, else a burst of equal samples would talk it down to nothing (RFC 7323 appendix G has
/// the same concern).
class RttEstimator {
 public:
  /// A segment that was sent once took `rtt` to be acknowledged (Karn's rule is the caller's). `snd_una` and `snd_nxt`
  /// tell where rounds end.
  void sample(Duration rtt, SeqNum snd_una, SeqNum snd_nxt);

  /// Smoothed round-trip time; zero before the first sample.
  [[nodiscard]] Duration srtt() const { return std::chrono::microseconds(srtt_us_); }
  [[nodiscard]] Duration variation() const { return std::chrono::microseconds(variation_us_); }
  [[nodiscard]] bool has_sample() const { return srtt_us_ != 0; }

  /// SRTT + max(min_rto, 4 * RTTVAR), doubled `backoff` times, at most `max_rto`; one second before the first sample
  /// (RFC 6298 section 2). The minimum stands for the variation, not for the sum: a peer's delayed acknowledgement
  /// must not look like a loss on a path whose delay is steady.
  [[nodiscard]] Duration timeout(unsigned backoff, Duration min_rto, Duration max_rto) const;

 private:
  std::uint32_t srtt_us_ = 0;
  std::uint32_t variation_us_ = 0;
  std::uint32_t round_worst_us_ = 0;  ///< largest deviation of this round
  SeqNum round_end_;
};

}  // namespace sluice::tcp
