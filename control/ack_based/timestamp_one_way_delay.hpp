#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Measures the one-way delay of segments from one connection's peer, beyond its minimum, with the segments' timestamps
/// (TSval, RFC 7323 section 3). For an ACK this is the time that the ACK waits for the uplink. The queue towards the
/// peer is not part of it. The peer's clock may start at any value, but its tick must be 1 ms. Another tick, or a clock
/// that was set, is detected within seconds. All-zero memory is a valid object without samples. Memory and work per
/// segment are constant. Reads no clock. Not thread-safe.
class TimestampOneWayDelay {
 public:
  /// Returns the delay of a segment beyond the minimum of the last five to ten seconds. The minimum grows by at most
  /// 1 ms per second. Returns a negative value in three cases: the clock's rate is unknown, an outage may have delayed
  /// the segment, or the minimum keeps rising. It keeps rising if the minimum of each five seconds exceeded the one
  /// before by 10 ms, for 15 s. The clock may then be too slow, or the uplink queue may grow. The delay is known again
  /// when the rise ends.
  /// `ticks` is the segment's timestamp, the newest so far. `first` ≥ 0 is the assumed delay of the connection's first
  /// segment, taken from the peer's other connections. `most` ≥ 0 is the largest delay that this segment can have
  /// according to its round trip. An assumed delay above `most` is corrected.
  Duration excess_delay(Instant now, std::uint32_t ticks, Duration first = {}, Duration most = Duration::max());
  /// Restarts the estimate, because the newest delay was longer than the round trip that contains it. A peer's clock
  /// that was set back causes that once. If it happens a second time, the clock is too slow, and its timestamps are not
  /// used again.
  void reject();

 private:
  /// True if an outage may have delayed the segment by `late`, its delay beyond the minimum.
  [[nodiscard]] bool may_be_outage(Instant now, Duration late);
  /// Starts the estimate with a first segment, whose TSval is `ticks`. The segment is assumed to have waited for the
  /// time `waited`.
  void begin(Instant now, std::uint32_t ticks, Duration waited);
  /// Raises an assumed minimum delay if a segment shows that the assumption is too small: the segment can have waited
  /// for at most `most` beyond the minimum. After a segment with a smaller delay, the minimum counts as measured.
  void correct(Duration delay, Duration most);
  /// Updates the minimum delay from a segment's delay. It is the minimum of the last five to ten seconds, but rises by
  /// at most 1 ms per second.
  void record_min(Instant now, Duration delay);
  /// Checks at intervals of seconds whether a tick of the peer's clock is 1 ms. `ticks` is the newest TSval.
  void check_rate(Instant now, std::uint32_t ticks);

  Instant origin_{};        ///< time of the segment whose timestamp is the origin of delays; zero: no segment yet
  Instant checked_{};       ///< when the clock's rate was last checked
  Instant newest_since_{};  ///< start of the current five seconds (half of the window of the minimum delay)
  Instant min_at_{};        ///< when min_delay_ was updated
  Instant outage_since_{};  ///< time of the first segment that an outage may have delayed; zero: none recently
  Duration before_{};       ///< minimum delay of the five seconds before newest_since_, relative to an arbitrary origin
  Duration newest_{};       ///< minimum delay since newest_since_
  /// Minimum from which delays are measured: the smaller of `before_` and `newest_`, but it rises by at most 1 ms per
  /// second.
  Duration min_delay_{};
  std::uint32_t origin_ticks_ = 0;
  std::uint32_t checked_ticks_ = 0;  ///< the peer's TSval when the rate of its clock was last checked
  /// Number of impossible delays (calls of reject()); from 2 on the peer's clock is not used.
  std::uint8_t rejections_ = 0;
  /// number of successive intervals of five seconds whose minimum delay exceeded the one before by more than 10 ms
  std::uint8_t rises_ = 0;
  bool in_milliseconds_ = false;  ///< true if a tick is 1 ms according to the last rate check
  /// true while the minimum delay is assumed, because no segment with a smaller delay has been received yet
  bool is_assumed_ = false;
};
static_assert(sizeof(TimestampOneWayDelay) <= 80, "one for each connection of a bearer that uses ACK feedback");

}  // namespace sluice::control
