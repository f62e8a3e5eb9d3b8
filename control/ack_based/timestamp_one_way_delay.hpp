#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Measures the one-way delay of one connection's segments from its peer beyond the minimum, by their timestamps
/// (TSval, RFC 7323 section 3). For an ACK this is its wait for the uplink, without the queue on the way to the peer.
/// The clock's origin is arbitrary. Its tick must be 1 ms: another one, or a clock that was set, is detected within
/// seconds. All-zero memory is a valid object without samples. State and work are constant. Reads no clock; thread: its
/// owner's.
class TimestampOneWayDelay {
 public:
  /// Returns the delay of a segment beyond the minimum of the last five to ten seconds. Negative if the clock's rate is
  /// unknown, or if an outage may have kept the segment. The minimum grows by at most 1 ms per second.
  /// `ticks`: the segment's timestamp, the newest so far. `first`: assumed delay of the very first segment, as that of
  /// the peer's other connections, ≥ 0. `most`: largest possible delay of this segment by its round trip, ≥ 0. It
  /// corrects an assumption that gives more.
  Duration excess_delay(Instant now, std::uint32_t ticks, Duration first = {}, Duration most = Duration::max());

 private:
  /// True if an outage may have delayed the segment.
  [[nodiscard]] bool may_be_outage(Instant now, Duration late);
  /// Starts with a first segment that is assumed to have waited for `waited`.
  void begin(Instant now, std::uint32_t ticks, Duration waited);
  /// Corrects an assumed minimum delay by a segment that can have waited for `most` only. An earlier segment ends the
  /// assumption.
  void correct(Duration delay, Duration most);
  /// Updates the minimum delay.
  void record_min(Instant now, Duration delay);
  /// Checks whether a tick is 1 ms, at intervals of seconds.
  void check_rate(Instant now, std::uint32_t ticks);

  Instant origin_{};        ///< instant of the segment with origin_ticks_; zero: no segment yet
  Instant checked_{};       ///< when the clock's rate was last checked
  Instant newest_since_{};  ///< begin of the present half window
  Instant min_at_{};        ///< when min_delay_ was updated
  Instant outage_since_{};  ///< when the first segment came that an outage may have kept; zero: none
  Duration before_{};       ///< minimum delay of the previous half window, from an arbitrary origin
  Duration newest_{};       ///< minimum delay of the present half window
  Duration min_delay_{};    ///< minimum delay in force, which grows slowly
  std::uint32_t origin_ticks_ = 0;
  std::uint32_t checked_ticks_ = 0;  ///< UE's TSval when the rate of its clock was last checked
  bool in_milliseconds_ = false;     ///< a tick is 1 ms by the last rate check
  bool is_assumed_ = false;          ///< the minimum delay is assumed, because no segment was earlier yet
};
static_assert(sizeof(TimestampOneWayDelay) <= 80, "one for each connection of a bearer that uses ACK feedback");

}  // namespace sluice::control
