#pragma once

#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects that round trips stay long although the data in flight has been halved. The delay is then not in a queue
/// that this sender fills: the path has become longer, or others fill the queue. Until that is clear it holds what kept
/// the rate of before. State and work are constant. The class reads no clock; thread: its owner's.
class StandingDelayDetector {
 public:
  /// One acknowledgement whose round trip is longer than the window is to make it.
  struct Sample {
    Instant now;
    Duration round_trip;  ///< > 0
    Bytes in_flight;      ///< before the acknowledgement
    double rate = 0;      ///< mean of what is delivered, bytes/s
    Duration long_for;    ///< time since a round trip was last as short as it is to be
  };
  /// Returns the round trip if it is as long as before, though its segment was sent after the data in flight had been
  /// halved, and round trips have been long for 0.4 s and four of them. Then detection starts over.
  std::optional<Duration> on_long(const Sample& sample);
  /// Starts detection over, because a round trip is as short as it is to be or measures something else.
  void restart() { most_ = Bytes{}; }

  /// Holds what is needed at the rate of before, because a drain has found the delay that on_long() returned.
  void hold();
  /// Adapts what is held to a round trip: more in flight costs nothing while round trips are about as long as
  /// `expected`, > 0. If they become half as long again, others fill a queue or the link fades, and nothing is held.
  void adapt(Duration round_trip, Duration expected, Bytes delivered);
  /// Returns the bytes that may be in flight at least; zero if nothing is held.
  [[nodiscard]] double held() const { return held_; }
  /// Holds nothing and starts detection over, because the delay is explained.
  void forget() { *this = StandingDelayDetector{}; }

  /// Visits the state, for a decision log (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Bytes most_;              ///< in flight since round trips are long; zero: none is
  Duration least_{};        ///< shortest round trip since then
  double rate_ = 0;         ///< when most was in flight, bytes/s
  Instant halved_ = never;  ///< when no more than half of it was in flight
  double needed_ = 0;       ///< in flight for the rate of before, by the newest detection, bytes
  double held_ = 0;         ///< bytes
};

}  // namespace sluice::control
