#include "control/window_laws/clamp_price.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "control/rule_checker.hpp"

namespace sluice::control {

std::vector<Violation> validate(const ClampPriceParameters& p) {
  using Severity = Violation::Severity;
  RuleChecker check;
  check.require(p.slope, p.slope > 0, Severity::error, "b > 0", print("b = ", p.slope));
  check.require(p.slope, !(p.slope >= std::numbers::pi / 2), Severity::error, "b < π/2",
                print("b = ", p.slope, ": unstable by Theorem 1"));
  check.require(p.forgetting, p.forgetting > 0 && std::isfinite(p.forgetting), Severity::error, "forgetting > 0",
                print("forgetting = ", p.forgetting, " 1/s"));
  check.require(p.frame, p.frame > Bytes(0), Severity::error, "frame > 0", print("frame = ", p.frame.count(), " B"));
  check.require(p.largest, p.largest > Duration::zero(), Severity::error, "largest price > 0",
                print("largest price = ", to_seconds(p.largest), " s"));
  return check.take();
}

ClampPriceAgent::ClampPriceAgent(const ClampPriceParameters& parameters) : parameters_(parameters) {
  refuse_errors(validate(parameters));
}

void ClampPriceAgent::on_arrival(Instant now, Bytes queue) {
  const auto seen = static_cast<double>(queue.count());
  if (any_) {
    const double interval_s = std::max(0.0, to_seconds(now - last_));
    const double past = std::exp(-parameters_.forgetting * interval_s);
    mean_queue_ = past * mean_queue_ + (1 - past) * seen;
  } else {
    mean_queue_ = seen;
  }
  any_ = true;
  last_ = std::max(last_, now);
}

feedback::ClampPrice ClampPriceAgent::price(Rate output) const {
  const double excess = parameters_.slope * mean_queue_ - parameters_.target.in_bytes(parameters_.frame, output);
  const double largest_s = to_seconds(parameters_.largest);
  const double rate = output.bytes_per_second();
  double price_s = 0;
  if (excess > 0) price_s = rate > 0 ? std::min(excess / rate, largest_s) : largest_s;
  return {Bytes(std::llround(mean_queue_)), from_seconds(price_s)};
}

}  // namespace sluice::control
