#pragma once

#include <cstdint>

#include "dataplane/packet/seq.hpp"
#include "dataplane/tcp/tick.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Estimator of the round-trip time and the retransmission timeout (RFC 6298). Stores times in microseconds, in 22
/// bytes per connection.
///
/// Many RTT samples arrive per round trip. The smoothed mean uses all of them. The variation rises with every larger
/// deviation. It falls only once per round, towards the largest deviation of that round, because a burst of equal
/// samples would reduce it to zero. Compare RFC 7323 appendix G.
class RttEstimator {
 public:
  /// Adds the round-trip time `rtt` of a segment that was sent once; the caller applies Karn's rule. `snd_una` and
  /// `snd_nxt` delimit rounds. `min_rto` is the minimum that timeout() uses; probe_timeout() depends on it too.
  void sample(Duration rtt, SeqNum snd_una, SeqNum snd_nxt, const Duration& min_rto);

  /// Returns the smoothed round-trip time; zero before the first sample.
  [[nodiscard]] Duration srtt() const { return std::chrono::microseconds(srtt_us_); }
  [[nodiscard]] Duration variation() const { return std::chrono::microseconds(variation_us_); }
  /// Returns a filtered minimum of one RTT sample per round trip. Per round trip it rises by 1/1024 of its distance to
  /// SRTT, because a route may become longer. RFC 8985 section 6.2 step 1 does not prescribe the filter.
  [[nodiscard]] Duration least() const { return std::chrono::microseconds(min_us_); }
  /// Returns the tail-loss-probe timeout (RFC 8985 section 7.2): two round trips, at least 10 ms because hosts need
  /// time to answer. It is at most one round trip plus the minimum of the retransmission timeout, so that it precedes
  /// that timeout. Before the first sample it is one second. The value is computed once per round, because it is read
  /// for every segment.
  [[nodiscard]] Duration probe_timeout() const { return tick::ms_duration(probe_ticks_); }
  [[nodiscard]] bool has_sample() const { return srtt_us_ != 0; }

  /// Returns SRTT + max(min_rto, 4 * RTTVAR), doubled `backoff` times, at most `max_rto`; one second before the first
  /// sample (RFC 6298 section 2). `min_rto` is the minimum of the variation term, not of the sum. As a minimum of the
  /// sum, it would make a delayed ACK look like a loss on a path with constant delay.
  [[nodiscard]] Duration timeout(unsigned backoff, Duration min_rto, Duration max_rto) const;

 private:
  void set_probe_timeout(Duration min_rto);

  std::uint32_t srtt_us_ = 0;
  std::uint32_t variation_us_ = 0;
  std::uint32_t min_us_ = 0;
  std::uint32_t round_max_deviation_us_ = 0;  ///< largest deviation of an RTT sample from SRTT in this round, µs
  SeqNum round_end_;
  std::uint16_t probe_ticks_ = 954;  ///< probe timeout, in ticks of 1.05 ms (tick::ms)
};

}  // namespace sluice::tcp
