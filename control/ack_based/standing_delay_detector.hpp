#pragma once

#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects that round trips stay long although the data in flight has been halved. The delay is then not in a queue
/// that this sender fills: the path has become longer, or others fill the queue. Until that is clear, min_window()
/// keeps as much in flight as the earlier rate needs. State and work are constant. Reads no clock; thread: its owner's.
class StandingDelayDetector {
 public:
  /// One ACK whose round trip is longer than intended.
  struct Sample {
    Instant now;
    Duration round_trip;        ///< > 0
    Bytes in_flight;            ///< bytes in flight before the ACK
    double rate = 0;            ///< mean delivery rate, bytes/s
    Duration above_target_for;  ///< time since a round trip was last as short as intended
  };
  /// Returns the round trip if it shows a standing delay, else nothing. Its segment was sent after the data in flight
  /// had been halved, and it is no less than 0.9 of the earlier ones. Round trips have also been long for 0.4 s and
  /// four round trips. After a result detection starts over.
  std::optional<Duration> on_long(const Sample& sample);
  /// Starts detection over, because a round trip is as short as intended or measures something else.
  void restart() { max_in_flight_ = Bytes{}; }

  /// Sets min_window() to the bytes that the earlier rate needs, because a drain has found the delay that on_long()
  /// returned.
  void set_min_window();
  /// Adapts min_window() to a round trip. It grows while round trips are about as long as `expected`, > 0, because more
  /// in flight adds no delay then. At 1.5 times that it becomes zero, because others fill a queue or the link fades.
  void adapt(Duration round_trip, Duration expected, Bytes delivered);
  /// Returns the minimum of the model window in bytes; zero if there is none.
  [[nodiscard]] double min_window() const { return min_window_; }
  /// Sets min_window() to zero and starts detection over, because the delay is explained.
  void forget() { *this = StandingDelayDetector{}; }

  /// Calls `visit` with each state member and its name, for recorded decisions (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Bytes max_in_flight_;     ///< most bytes in flight since round trips are long; zero: they are not
  Duration min_rtt_{};      ///< shortest round trip since then
  double rate_ = 0;         ///< delivery rate while max_in_flight_ was in flight, bytes/s
  Instant halved_ = never;  ///< when at most half of max_in_flight_ was in flight; `never`: not yet
  double needed_ = 0;       ///< bytes in flight that the earlier rate needs, by the newest detection
  double min_window_ = 0;   ///< bytes, see min_window()
};

}  // namespace sluice::control
