#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"

namespace sluice::control {

/// Watches Ts < Tb/2 (SMVS, section 5.2) on the service rates that are measured, one for each step. Whoever looks at a
/// link at least twice in the time Tb that its rate holds sees rates that resemble their predecessors: of a rate drawn
/// anew every Tb, two steps in a row of Tb/2 have a correlation of 0.5 to 0.6, shorter ones more, steps of Tb at most
/// 0.25. A link whose rates hardly differ, by less than a fifth of their mean, breaks nothing. No clock inside.
class VariationWatch {
 public:
  /// The rate of the step that is over. `waits`: something is left in the queue. Only where it was so a step ago, too,
  /// is the rate the link's and not the sender's; of other steps nothing is learned. True when the rule begins to be
  /// broken: once for each time that it is.
  bool look(Rate served, bool waits);
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  double mean_ = 0;  ///< bytes/s, as the rest
  double variance_ = 0;
  double covariance_ = 0;  ///< of two steps in a row
  double last_ = 0;        ///< the last step's deviation from the mean
  std::uint16_t steps_ = 0;
  bool waited_ = false;   ///< something was left a step ago
  bool follows_ = false;  ///< the last step's rate was the link's
  bool broken_ = false;
};

}  // namespace sluice::control
