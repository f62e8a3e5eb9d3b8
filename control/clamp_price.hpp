#pragma once

#include <vector>

#include "control/feedback/report.hpp"
#include "control/reference.hpp"
#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of CLAMP's access-router agent.
struct ClampPriceParameters {
  Reference target = Reference::bytes(Bytes(5500));  ///< a: the queue from which on there is a price
  double slope = 1;                             ///< b, 0 < b < π/2; the queue settles at (k·τ + a)/b for k flows
  double forgetting = 2;                        ///< 1/s, > 0: the past weighs e^{−2·I} after I seconds
  Bytes frame{40};                              ///< what a frame of the target is, > 0
  Duration largest = std::chrono::seconds(10);  ///< no price is larger, > 0; an outage would have it infinite
};

/// Checks ranges and Theorem 1 (stable iff b < π/2).
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const ClampPriceParameters& parameters);

/// CLAMP's access-router agent (Andrew, Hanly & Mukhtar, TMC 2008, section 4.1), one per radio queue; lives at the
/// Node-B. No clock inside; thread: its queue's.
///
/// Reading: our copy of the paper has lost the minus sign of e^{−2·I}; I is the time since the arrival before.
class ClampPriceAgent {
 public:
  /// Parameters must be free of errors according to validate(); throws std::invalid_argument otherwise.
  explicit ClampPriceAgent(const ClampPriceParameters& parameters = {});

  /// A packet has entered the queue, which holds `queue` bytes with it:
  /// q̄(n) = e^{−2I}·q̄(n−1) + (1 − e^{−2I})·Q(n). The first one sets q̄ = Q.
  void on_arrival(Instant now, Bytes queue);
  /// q̄ and p = max((b·q̄ − a)/μc, 0), eq. 13, in the form of a report. `output`: μc, the measured rate of the queue's
  /// output. Without any, whatever exceeds the target costs the largest price.
  [[nodiscard]] feedback::ClampPrice price(Rate output) const;

 private:
  ClampPriceParameters parameters_;
  double mean_queue_ = 0;  ///< q̄
  Instant last_{};
  bool any_ = false;
};

}  // namespace sluice::control
