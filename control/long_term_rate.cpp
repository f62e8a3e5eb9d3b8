#include "control/long_term_rate.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::control {

/// Returns the weight that a sample has left after `age`.
double LongTermRate::weight_after(Duration age) {
  return std::exp(-to_seconds(std::max(age, Duration::zero())) / to_seconds(period));
}

void LongTermRate::add(const Sample& sample) {
  const Duration gap = sample.now - newest_at_;
  const bool continues = origin_ == static_cast<std::uint8_t>(sample.origin) && gap > Duration::zero();
  const double weight = weight_after(gap);
  bytes_ *= weight;
  seconds_ *= weight;
  const bool counts = continues && is_bottleneck_ && sample.is_bottleneck && gap <= max_gap &&
                      newest_at_ - bottleneck_since_ >= sample.lag && sample.delivered >= delivered_;
  if (counts) {
    const auto bytes = static_cast<double>(sample.delivered - delivered_);
    const double seconds = to_seconds(gap);
    if (bytes <= max_plausible.bytes_per_second() * seconds) {
      bytes_ += bytes;
      seconds_ += seconds;
    }
  }
  if (!continues || !is_bottleneck_ || gap > max_gap) bottleneck_since_ = sample.now;
  newest_at_ = sample.now;
  delivered_ = sample.delivered;
  origin_ = static_cast<std::uint8_t>(sample.origin);
  is_bottleneck_ = sample.is_bottleneck;
}

Duration LongTermRate::observed(Instant now) const {
  return from_seconds(seconds_ * weight_after(now - newest_at_));
}

Rate LongTermRate::rate(Instant now) const {
  return seconds_ > 0 && observed(now) >= min_observed ? Rate::bytes_per_second(bytes_ / seconds_) : Rate();
}

}  // namespace sluice::control
