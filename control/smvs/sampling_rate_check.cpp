#include "control/smvs/sampling_rate_check.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::control {
namespace {

/// number of steps over which mean, variance and covariance of the service rate are averaged
constexpr std::uint16_t memory = 256;

/// Smallest ratio of the rate's standard deviation to its mean with which the link counts as varying. On a less varying
/// link the length of a step does not matter.
constexpr double min_variation = 0.2;
// The threshold lies midway between steps of Tb/2 and of Tb; `enough` ends the violation.
constexpr double too_little = 0.45;
constexpr double enough = 0.55;

}  // namespace

bool SamplingRateCheck::look(Rate served, bool waits) {
  const bool of_link = waited_ && waits;
  waited_ = waits;
  if (!of_link) {
    follows_ = false;
    return false;
  }
  const double rate = served.bytes_per_second();
  if (steps_ < memory) ++steps_;
  const double weight = 1.0 / steps_;  // plain mean until the memory is full
  mean_ += weight * (rate - mean_);
  const double deviation = rate - mean_;
  variance_ += weight * (deviation * deviation - variance_);
  if (follows_) covariance_ += weight * (deviation * last_ - covariance_);
  last_ = deviation;
  follows_ = true;
  if (steps_ < memory) return false;
  const bool before = broken_;
  const bool varies = std::sqrt(std::max(variance_, 0.0)) > min_variation * mean_;
  broken_ = varies && covariance_ < (before ? enough : too_little) * variance_;
  return broken_ && !before;
}

}  // namespace sluice::control
