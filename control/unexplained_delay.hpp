#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// By how much round trips are longer than the queues that a Node-B reports explain: what is left once enough reports
/// in a row agree is a longer way. No clock inside; thread: its owner's.
class UnexplainedDelay {
 public:
  /// A report explains everything, or nothing is to be concluded from it.
  void forget() { reports_ = 0; }
  /// A report leaves so much unexplained, > 0. Returns the least of those in a row once they are enough, and have
  /// agreed for `long_enough`; then begins anew.
  std::optional<Duration> on_report(Instant now, Duration unexplained, Duration long_enough);

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Instant since_{};
  Duration least_{};           ///< by about this at least
  std::uint32_t reports_ = 0;  ///< in a row
};

}  // namespace sluice::control
