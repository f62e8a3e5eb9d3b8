#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects a longer path: measures by how much round trips exceed the time that the queue in a Node-B's reports takes.
/// If enough reports in a row agree, the excess is a longer path. Reads no clock; thread: its owner's.
class PathChangeDetector {
 public:
  /// Discards the evidence of a longer path: a Node-B report explains the measured delay, or is unusable.
  void forget() { reports_ = 0; }
  /// Records a Node-B's report whose queue leaves the part `unexplained` > 0 of the delay unexplained. Returns the
  /// smallest of these parts once there are enough and they agree for `long_enough`; then restarts.
  std::optional<Duration> on_report(Instant now, Duration unexplained, Duration long_enough);

  /// Calls `visit` with each state member and its name, for recorded decisions (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Instant since_{};
  Duration min_unexplained_{};  ///< approximate minimum of the delays that Node-B reports left unexplained
  std::uint32_t reports_ = 0;   ///< reports in a row
};

}  // namespace sluice::control
