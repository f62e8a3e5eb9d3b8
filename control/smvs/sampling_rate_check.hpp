#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"

namespace sluice::control {

/// Checks Ts < Tb/2 (SMVS, section 5.2) with the measured service rates, one per step. If a link is sampled at least
/// twice per period Tb of its rate, successive rates are correlated. For a rate redrawn every Tb, steps of Tb/2 have a
/// correlation of 0.5 to 0.6. Shorter steps have a higher correlation, steps of Tb at most 0.25. The rule counts as
/// kept if the standard deviation of the rates is below a fifth of their mean. Reads no clock.
class SamplingRateCheck {
 public:
  /// Records the service rate of the step that ended. `waits` is true if the queue is not empty now. The rate describes
  /// the link only if the queue was not empty one step ago either; other rates are ignored. Returns true when the rule
  /// starts to be broken, once each time.
  bool look(Rate served, bool waits);
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  double mean_ = 0;  ///< running mean of the service rate in bytes/s
  double variance_ = 0;
  double covariance_ = 0;  ///< running covariance of the service rates of two successive steps
  double last_ = 0;        ///< deviation of the last step's service rate from the mean, in bytes/s
  std::uint16_t steps_ = 0;
  bool waited_ = false;   ///< true if the queue was not empty one step ago
  bool follows_ = false;  ///< true if `last_` belongs to the previous step, so the next rate gives a covariance
  bool broken_ = false;
};

}  // namespace sluice::control
