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
  Reference target = Reference::bytes(Bytes(5500));  ///< a: queue above which the price is positive
  double slope = 1;                             ///< b, 0 < b < π/2; the queue settles at (k·τ + a)/b for k flows
  double forgetting = 2;                        ///< 1/s, > 0: the past has weight e^{−2·I} after I seconds
  Bytes frame{40};                              ///< frame size of a target in frames, > 0
  Duration largest = std::chrono::seconds(10);  ///< largest price, > 0; in an outage it would be infinite
};

/// Checks ranges and Theorem 1 (stable iff b < π/2).
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const ClampPriceParameters& parameters);

/// CLAMP's access-router agent (Andrew, Hanly & Mukhtar, TMC 2008, section 4.1), one per radio queue, at the Node-B.
/// Reads no clock; thread: its queue's.
///
/// Reading: the available copy of the paper has lost the minus sign of e^{−2·I}; I is the time since the previous
/// arrival.
class ClampPriceAgent {
 public:
  /// Makes an agent with parameters that pass validate() without errors; throws std::invalid_argument otherwise.
  explicit ClampPriceAgent(const ClampPriceParameters& parameters = {});

  /// Records a packet that entered the queue, which holds `queue` bytes with it:
  /// q̄(n) = e^{−2I}·q̄(n−1) + (1 − e^{−2I})·Q(n). The first one sets q̄ = Q.
  void on_arrival(Instant now, Bytes queue);
  /// Returns q̄ and p = max((b·q̄ − a)/μc, 0), eq. 13, in the form of a report. `output` is μc, the measured rate of
  /// the queue's output.
  /// If it is 0, any excess over the target has the largest price.
  [[nodiscard]] feedback::ClampPrice price(Rate output) const;

 private:
  ClampPriceParameters parameters_;
  double mean_queue_ = 0;  ///< q̄
  Instant last_{};
  bool any_ = false;
};

}  // namespace sluice::control
