#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// How much later than at best the segments of one connection come from its peer, by the clock in their timestamps
/// (TSval, RFC 7323): what an acknowledgement has waited for an uplink, and not in a queue on the way to the peer. The
/// clock's origin is arbitrary, its rate is a millisecond where this answers at all: others, and one that was set anew,
/// are found out within seconds. All of it zero bytes is a clock that nothing is known of. State and work are constant.
/// No clock inside; thread: its owner's.
class TimestampOneWayDelay {
 public:
  /// A segment has come whose timestamp is the newest so far. How much later than the one that was least late in the
  /// last five to ten seconds, where that one is taken to be later by no more than a millisecond each second; negative
  /// while the clock's rate is not known, and where an outage may have kept the segment.
  /// `first`: what the very first segment is taken to have waited, as others of the same peer have; ≥ 0. `most`: what
  /// this one can have waited by its own round trip, ≥ 0; an assumption that says more is corrected by it.
  Duration excess_delay(Instant now, std::uint32_t ticks, Duration first = {}, Duration most = Duration::max());

 private:
  [[nodiscard]] bool may_have_been_kept(Instant now, Duration late);
  void begin(Instant now, std::uint32_t ticks, Duration waited);
  void correct(Duration delay, Duration most);
  void record_least(Instant now, Duration delay);
  void check_rate(Instant now, std::uint32_t ticks);

  Instant origin_{};   ///< when the clock was at origin_ticks_; zero: never looked at
  Instant checked_{};  ///< when its rate was looked at last
  Instant newest_since_{};
  Instant min_at_{};
  Instant kept_since_{};  ///< messages are so late that an outage may have kept them; zero: they are not
  Duration before_{};     ///< the least delay, from an arbitrary origin, in the half window before …
  Duration newest_{};     ///< … and in this one
  Duration least_{};      ///< what is taken for the least, as of then
  std::uint32_t origin_ticks_ = 0;
  std::uint32_t checked_ticks_ = 0;
  bool in_milliseconds_ = false;
  bool assumed_ = false;  ///< the least delay is, and no segment was less late
};
static_assert(sizeof(TimestampOneWayDelay) <= 80, "one for each connection of a bearer that uses ACK feedback");

}  // namespace sluice::control
