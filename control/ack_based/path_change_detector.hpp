#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects a longer path from a Node-B's reports. A report shows how long a packet waits in the queue. A round trip
/// that exceeds this wait plus the base delay (RTT without a queue) is partly unexplained. If three or more successive
/// reports leave a part unexplained, the path has become longer by the smallest of these parts. Reads no clock. Not
/// thread-safe.
class PathChangeDetector {
 public:
  /// Restarts detection. Called when a Node-B report explains the measured delay by its queue, or when it cannot be
  /// compared with ACKs.
  void forget() { reports_ = 0; }
  /// Records a Node-B's report whose queue does not explain the part `unexplained` > 0 of the measured delay. If three
  /// or more such reports came in sequence, over at least the time `long_enough`, returns the smallest of these parts
  /// and restarts detection.
  std::optional<Duration> on_report(Instant now, Duration unexplained, Duration long_enough);

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Instant since_{};
  /// Smallest part of the delay that Node-B reports since `since_` did not explain. It rises slowly towards larger
  /// parts, because the mean round trip may still have been rising at the first reports.
  Duration min_unexplained_{};
  std::uint32_t reports_ = 0;  ///< number of successive reports whose queue left a part of the delay unexplained
};

}  // namespace sluice::control
