#include "control/ack_based/cross_traffic_estimator.hpp"

#include <algorithm>
#include <chrono>

namespace sluice::control {
namespace {

/// Share of all bytes to the UE from which on cross traffic counts as competition.
constexpr double contested_share = 0.2;
/// Time constant of both rates: about one oscillation of a queue that cross traffic fills.
constexpr Duration others_memory = std::chrono::milliseconds(500);
/// Factor of the fair share. Below 1 a queue without cross traffic shrinks.
constexpr double modesty = 0.9;
/// Longest round trip in s that a fair share is computed from. Some cross traffic does not yield, such as datagrams at
/// a fixed rate. A fair share of the whole queue would then grow without bound.
constexpr double longest_trip = 0.5;

}  // namespace

void CrossTrafficEstimator::on_news(Bytes ours, Bytes others, Duration since) {
  if (since > Duration::zero()) {
    const double part = to_seconds(since) / to_seconds(others_memory);
    const double decay = 1 / (1 + part + part * part / 2);
    share_ = (1 - decay) / to_seconds(since);
    ours_ *= decay;
    others_ *= decay;
  }
  ours_ += share_ * static_cast<double>(ours.count());
  others_ += share_ * static_cast<double>(others.count());
}

void CrossTrafficEstimator::on_round_trip(Duration took) {
  const double trip = to_seconds(took);
  usual_trip_ = usual_trip_ > 0 ? usual_trip_ + (trip - usual_trip_) / 8 : trip;
}

bool CrossTrafficEstimator::has_competition() const {
  return others_ > contested_share * (others_ + ours_);
}

double CrossTrafficEstimator::fair_share(std::uint32_t connections) const {
  const double flows = connections;
  return modesty * flows / (flows + 1) * (others_ + ours_) * std::min(usual_trip_, longest_trip);
}

}  // namespace sluice::control
