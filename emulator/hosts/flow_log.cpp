#include "emulator/hosts/flow_log.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::emulator {

void RateSpread::add(std::uint64_t fresh, Instant now) {
  const std::int64_t second = now.time_since_epoch() / std::chrono::seconds(1);
  if (second_ == not_begun) second_ = second;
  for (; second_ < second; ++second_) {
    const double whole = first_ ? 0 : static_cast<double>(in_it_);
    if (!first_) ++seconds_;
    sum_ += whole;
    squares_ += whole * whole;
    in_it_ = 0;
    first_ = false;
  }
  in_it_ += fresh;
}

std::optional<double> RateSpread::variation() const {
  if (seconds_ < 2 || sum_ <= 0) return std::nullopt;
  const double mean = sum_ / seconds_;
  return std::sqrt(std::max(0.0, squares_ / seconds_ - mean * mean)) / mean;
}

}  // namespace sluice::emulator
