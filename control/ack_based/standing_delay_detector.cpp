#include "control/ack_based/standing_delay_detector.hpp"

#include <algorithm>

// DelayBasedController calls on_long() or restart() for each round trip, asks MinRttEstimator for a drain where
// on_long() detects something, and calls hold() or forget() by what the drain finds. Invariant: held() grows only while
// round trips stay as they were when it was set.

namespace sluice::control {
namespace {

/// A queue of this sender's own would be shorter by half. A tenth is not an answer.
constexpr double moved = 0.9;
/// A link that rests between bursts makes round trips long for a moment, again and again.
constexpr Duration min_long = std::chrono::milliseconds(400);
constexpr std::int64_t long_round_trips = 4;
/// What is held grows by this share of what is delivered, and so by as much in a round trip.
constexpr double growth = 0.25;

}  // namespace

std::optional<Duration> StandingDelayDetector::on_long(const Sample& sample) {
  const Duration took = sample.round_trip;
  if (sample.in_flight >= most_) {
    most_ = sample.in_flight;
    least_ = took;
    rate_ = sample.rate;
    halved_ = never;
    return std::nullopt;
  }
  if (halved_ == never) {
    least_ = std::min(least_, took);
    if (sample.in_flight <= most_ / 2) halved_ = sample.now;
    return std::nullopt;
  }
  const bool is_brief = sample.long_for < std::max(min_long, took * long_round_trips);
  if (sample.now - took < halved_ || is_brief) return std::nullopt;
  restart();
  if (to_seconds(took) < moved * to_seconds(least_)) return std::nullopt;
  needed_ = rate_ * to_seconds(took);
  return took;
}

void StandingDelayDetector::hold() {
  held_ = std::max(held_, needed_);
}

void StandingDelayDetector::adapt(Duration round_trip, Duration expected, Bytes delivered) {
  if (held_ <= 0) return;
  if (round_trip > expected * 3 / 2) {
    held_ = 0;
  } else if (round_trip <= expected * 17 / 16) {
    held_ += growth * static_cast<double>(delivered.count());
  }
}

}  // namespace sluice::control
