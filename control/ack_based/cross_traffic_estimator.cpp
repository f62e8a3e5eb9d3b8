#include "control/ack_based/cross_traffic_estimator.hpp"

#include <algorithm>
#include <chrono>

#include "control/ack_based/seconds.hpp"

namespace sluice::control {
namespace {

/// Share of cross traffic (which the proxy does not control) in all bytes to the UE above which cross traffic counts as
/// filling the queue. The controller's window is then at least a fair share of all bytes in flight.
constexpr double competition_threshold = 0.2;
/// Time constant of the mean rates of controlled and of cross traffic. A queue that cross traffic fills becomes longer
/// and shorter with about this period, so means over a shorter time would oscillate too.
constexpr Duration rate_memory = std::chrono::milliseconds(500);
/// Factor of the fair share of the controlled connections. It is below 1, so that the queue shrinks if the supposed
/// cross traffic does not exist.
constexpr double fair_share_factor = 0.9;
/// Longest round trip, in s, that fair_share() uses. Cross traffic at a fixed rate does not slow down, so queue and
/// round trip grow. Without this limit the fair share would grow with them without bound.
constexpr double max_rtt = 0.5;

}  // namespace

void CrossTrafficEstimator::on_bytes(Bytes controlled, Bytes cross, Duration since) {
  if (since > Duration::zero()) {
    constexpr double per_memory = 1 / to_seconds(rate_memory);
    const double part = in_seconds(since) * per_memory;
    const double decay = 1 / (1 + part + part * part / 2);
    byte_weight_ = decay * (1 + part / 2) * per_memory;  // (1 - decay) / since without a division
    controlled_rate_ *= decay;
    cross_rate_ *= decay;
  }
  controlled_rate_ += byte_weight_ * static_cast<double>(controlled.count());
  if (cross > Bytes{}) [[unlikely]]
    cross_rate_ += byte_weight_ * static_cast<double>(cross.count());
}

void CrossTrafficEstimator::on_round_trip(Duration rtt) {
  const double rtt_s = in_seconds(rtt);
  srtt_ = srtt_ > 0 ? srtt_ + (rtt_s - srtt_) / 8 : rtt_s;
}

bool CrossTrafficEstimator::is_competition() const {
  return cross_rate_ > competition_threshold * (cross_rate_ + controlled_rate_);
}

double CrossTrafficEstimator::fair_share(std::uint32_t connections) const {
  const double flows = connections;
  return fair_share_factor * flows / (flows + 1) * (cross_rate_ + controlled_rate_) * std::min(srtt_, max_rtt);
}

}  // namespace sluice::control
