#pragma once

#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects that round trips stay long although the data in flight has been halved. The delay is then not caused by a
/// queue that this sender fills. Either the path has become longer, or cross traffic fills the queue. While the path
/// may be longer, min_window() keeps as many bytes in flight as the earlier rate needs. Memory and work per ACK are
/// constant. Reads no clock. Not thread-safe.
class StandingDelayDetector {
 public:
  /// Values of one ACK whose round trip is longer than the target queue allows.
  struct Sample {
    Instant now;
    Duration round_trip;        ///< > 0
    Bytes in_flight;            ///< bytes in flight before the ACK
    double rate = 0;            ///< mean delivery rate, bytes/s
    Duration above_target_for;  ///< time since a round trip was last as short as the target queue allows
  };
  /// Returns the round trip if it shows that the delay stayed long although the data in flight was halved, else
  /// nothing. The acknowledged segment was then sent after the halving, and its round trip is at least 0.9 of the
  /// shortest earlier one. Round trips must also have been longer than the target queue allows for 0.4 s, and for four
  /// round trips. Detection restarts after a comparison.
  std::optional<Duration> on_long(const Sample& sample);
  /// Restarts detection. Called because a round trip was as short as the target queue allows, or because this sender's
  /// queue did not cause it.
  void restart() { max_in_flight_ = Bytes{}; }

  /// Sets min_window() to the bytes in flight that keep the earlier rate over the longer path. Called when a drain,
  /// which empties the queue, has measured the longer delay that on_long() returned.
  void set_min_window();
  /// Adapts min_window() to a round trip. `expected` > 0 is the longer delay that a drain has measured, plus a
  /// tolerance. While round trips are about as long as `expected`, more bytes in flight add no delay. min_window() then
  /// grows by a quarter of the `delivered` bytes. Above 1.5 times `expected` it becomes zero, because cross traffic
  /// fills a queue or the link fades.
  void adapt(Duration round_trip, Duration expected, Bytes delivered);
  /// Returns the smallest number of bytes that the controller must keep in flight while the path may have become
  /// longer; zero if nothing indicates that.
  [[nodiscard]] double min_window() const { return min_window_; }
  /// Sets min_window() to zero and restarts detection. Called when another cause of the long round trips is known.
  void forget() {
    restart();
    needed_ = min_window_ = 0;
  }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  /// Most bytes in flight since round trips became longer than the target queue allows. Zero if they are not longer.
  Bytes max_in_flight_;
  double min_window_ = 0;  ///< bytes, see min_window()
  /// Bytes in flight with which the earlier rate is kept over the longer path. Computed when on_long() last returned a
  /// round trip.
  double needed_ = 0;
  // The members from here on have no meaning while `max_in_flight_` is zero.
  Duration min_rtt_{};  ///< shortest round trip since round trips became longer than the target queue allows
  double rate_ = 0;     ///< delivery rate when the most bytes (`max_in_flight_`) were in flight, bytes/s
  /// First time after `max_in_flight_` was set at which at most half of it was in flight; `never`: not yet.
  Instant halved_ = never;
};

}  // namespace sluice::control
