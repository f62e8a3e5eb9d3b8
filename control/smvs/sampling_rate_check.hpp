#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"

namespace sluice::control {

/// Checks Ts < Tb/2 (SMVS, section 5.2) with the measured service rates, one per step. If a link is sampled at least
/// twice per period Tb of its rate, successive rates are correlated.
/// For a rate redrawn every Tb, steps of Tb/2 have a correlation of 0.5 to 0.6. Shorter steps have more, steps of Tb at
/// most 0.25.
/// A link whose rates differ by less than a fifth of their mean breaks nothing. Reads no clock.
class SamplingRateCheck {
 public:
  /// Records the rate of the step that ended. `waits` is true if the queue is not empty. The rate counts as the link's
  /// only if that was true one step ago too.
  /// Returns true when the rule starts to be broken, once each time.
  bool look(Rate served, bool waits);
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  double mean_ = 0;  ///< bytes/s, as the others
  double variance_ = 0;
  double covariance_ = 0;  ///< covariance of two successive steps
  double last_ = 0;        ///< deviation of the last step from the mean
  std::uint16_t steps_ = 0;
  bool waited_ = false;   ///< the queue was not empty one step ago
  bool follows_ = false;  ///< the last step's rate was the link's
  bool broken_ = false;
};

}  // namespace sluice::control
