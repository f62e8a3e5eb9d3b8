#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects a longer path from a Node-B's reports. Each report shows how long a packet waits in the queue. Round trips
/// that exceed this time plus the base delay are partly unexplained. If enough successive reports leave about equal
/// parts unexplained, the path is longer by that part. Reads no clock; thread: its owner's.
class PathChangeDetector {
 public:
  /// Restarts detection: earlier reports no longer indicate a longer path. Called when the queue in a Node-B report
  /// explains the measured delay, or when the report is unusable.
  void forget() { reports_ = 0; }
  /// Records a Node-B's report whose queue does not explain the part `unexplained` > 0 of the measured delay. Returns
  /// the smallest of these parts after three or more such reports in a row over at least the time `long_enough`. Then
  /// detection restarts.
  std::optional<Duration> on_report(Instant now, Duration unexplained, Duration long_enough);

  /// Calls visit(name, value) for each state member, for the decision log (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Instant since_{};
  /// Smallest part of the delay that a Node-B report since `since_` did not explain. It rises slowly towards larger
  /// parts, because the mean round trip may still have been rising at the first reports.
  Duration min_unexplained_{};
  std::uint32_t reports_ = 0;  ///< number of successive reports that left a part of the delay unexplained
};

}  // namespace sluice::control
