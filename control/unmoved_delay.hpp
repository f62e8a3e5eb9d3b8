#pragma once

#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Finds out that round trips stay long although the data in flight has been halved. The delay is then not in a queue
/// that this sender fills: the path has become longer, or others fill the queue. State and work are constant. The class
/// reads no clock; thread: its owner's.
class UnmovedDelay {
 public:
  struct Finding {
    Duration took;     ///< the round trip that stays
    double in_flight;  ///< what would keep the rate of before, bytes
  };
  /// The round trip `took` of a segment, > 0, is longer than the window is to make it; `in_flight` is what was in
  /// flight before its acknowledgement, and `rate` is what is delivered of late, bytes/s. Finds something if round
  /// trips have been long without a break for `long_for`, and this one belongs to a segment that was sent after the
  /// data in flight was halved, and is as long as before. Then begins again.
  std::optional<Finding> on_long(Instant now, Duration took, Bytes in_flight, double rate, Duration long_for);
  /// A round trip is as short as it is to be, or the path is measured in another way.
  void forget() { most_ = Bytes{}; }

  /// Visits the state, for a decision log (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Bytes most_;              ///< in flight since round trips are long; zero: none is
  Duration took_{};         ///< the shortest round trip since then
  double rate_ = 0;         ///< when most was in flight, bytes/s
  Instant halved_ = never;  ///< when no more than half of it was in flight
};

}  // namespace sluice::control
