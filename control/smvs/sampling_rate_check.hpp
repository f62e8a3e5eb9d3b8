#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"

namespace sluice::control {

/// Checks the sampling rule Ts < Tb/2 of SMVS (section 5.2): at least two steps per period Tb of the link's rate. It
/// uses the measured service rate of each step. If the rule holds, the rates of successive steps are correlated. For a
/// rate redrawn every Tb, steps of Tb/2 have a correlation of 0.5 to 0.6. Shorter steps have a higher correlation,
/// steps of Tb at most 0.25. If the standard deviation of the rate is below a fifth of the mean, the rule is regarded
/// as kept. Reads no clock.
class SamplingRateCheck {
 public:
  /// Records the service rate of the step that ended. `waits` is true if the queue is not empty now. A rate describes
  /// the link only if the queue was not empty at the start and at the end of the step. Other rates are ignored. Returns
  /// true once each time the rule starts to be broken.
  bool look(Rate served, bool waits);
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  double mean_ = 0;  ///< running mean of the service rate in bytes/s
  double variance_ = 0;
  double covariance_ = 0;  ///< running covariance of the service rates of two successive steps
  double last_ = 0;        ///< difference of the last step's service rate and the mean, in bytes/s
  std::uint16_t steps_ = 0;
  bool waited_ = false;  ///< true if the queue was not empty one step ago
  /// True if `last_` belongs to the step before the current one, so that both rates give a covariance.
  bool follows_ = false;
  bool broken_ = false;
};

}  // namespace sluice::control
