#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"

namespace sluice::control {

/// Checks the sampling rule Ts < Tb/2 of the SMVS paper (Ren & Lin, TMC 2011, section 5.2): a step Ts is shorter than
/// half of the period Tb with which the link's rate changes. The check uses the measured service rate of each step. If
/// the rule is kept, the rates of successive steps are correlated. For a rate that changes at random every Tb, steps of
/// Tb/2 have a correlation of 0.5 to 0.6. Shorter steps have a higher correlation, steps of Tb at most 0.25. If the
/// standard deviation of the rate is below a fifth of the mean, the rule counts as kept. Reads no clock.
class SamplingRateCheck {
 public:
  /// Records the service rate `served` of the step that ended. `waits` is true if data waits in the queue now. The rate
  /// of a step that begins or ends with an empty queue is ignored, because the sender may have limited it. Returns true
  /// only in the step in which the rule becomes broken.
  bool look(Rate served, bool waits);
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  double mean_ = 0;  ///< running mean of the service rate in bytes/s
  double variance_ = 0;
  double covariance_ = 0;  ///< running covariance of the service rates of two successive steps
  double last_ = 0;        ///< difference of the last step's service rate and the mean, in bytes/s
  std::uint16_t steps_ = 0;
  bool waited_ = false;  ///< true if the queue was not empty at the end of the previous step
  /// True if `last_` was measured in the step directly before the current one. Both then give a sample of the
  /// covariance.
  bool follows_ = false;
  bool broken_ = false;
};

}  // namespace sluice::control
