#pragma once

#include <vector>

#include "control/feedback/report.hpp"
#include "control/reference.hpp"
#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of ClampPriceAgent, which computes the congestion price of the CLAMP algorithm at a queue (Andrew, Hanly
/// & Mukhtar, TMC 2008). With k flows the queue converges to (k·τ + a)/b. τ is the number of bytes that each flow adds
/// to the queue, a is `target`, and b is `slope`.
struct ClampPriceParameters {
  /// A: queue length that b times the mean queue must exceed, so that the price is positive.
  Reference target = Reference::bytes(Bytes(5500));
  double slope = 1;  ///< b: factor of the mean queue in the price, 0 < b < π/2; above that CLAMP is unstable
  /// Decay of the mean queue length in 1/s, > 0. When a packet arrives I seconds after the previous one, the old mean
  /// gets the weight e^{−forgetting·I}.
  double forgetting = 2;
  Bytes frame{40};  ///< size of a radio frame, for a target in frames, > 0

  /// largest price, > 0; it bounds the price in an outage, when the rate is zero
  Duration largest = std::chrono::seconds(10);
};

/// Checks the ranges, and the stability condition b < π/2 of Theorem 1 of the CLAMP paper (Andrew, Hanly & Mukhtar, TMC
/// 2008). Returns the broken rules.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const ClampPriceParameters& parameters);

/// Computes the congestion price of one radio queue at the Node-B by the CLAMP algorithm (Andrew, Hanly & Mukhtar, TMC
/// 2008, section 4.1). In the paper an agent in the access router does this. Reads no clock. Not thread-safe.
///
/// Interpretation of the paper: the available copy has lost the minus sign of e^{−2·I}; I is the time since the
/// previous arrival.
class ClampPriceAgent {
 public:
  /// Starts the computation of a queue's price. Parameters must pass validate() without errors; throws
  /// std::invalid_argument otherwise.
  explicit ClampPriceAgent(const ClampPriceParameters& parameters = {});

  /// Records a packet that entered the queue, which then holds `queue` bytes: q̄ ← w·q̄ + (1 − w)·`queue`. The weight w
  /// is e^{−forgetting·I} for a packet I seconds after the previous one. The first packet sets q̄ to `queue`.
  void on_arrival(Instant now, Bytes queue);
  /// Returns a report with the mean queue q̄ and the price p = max((b·q̄ − a)/μc, 0), eq. 13 of the CLAMP paper; b is
  /// the slope and a the target of the parameters. `output` is μc, the measured rate at which data leaves the queue. If
  /// it is 0 and b·q̄ exceeds a, the price is the largest one.
  [[nodiscard]] feedback::ClampPrice price(Rate output) const;

 private:
  ClampPriceParameters parameters_;
  double mean_queue_ = 0;  ///< q̄: mean queue in bytes
  Instant last_{};
  bool any_ = false;
};

}  // namespace sluice::control
