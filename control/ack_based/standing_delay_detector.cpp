// Detects that round trips stay long while less is in flight. DelayBasedController calls on_long() or restart() for
// each round trip, and requests a drain if on_long() detects something. It calls set_min_window() or forget() by the
// drain's result. Invariant: min_window() grows only while round trips are about as long as the drain has found.
#include "control/ack_based/standing_delay_detector.hpp"

#include <algorithm>

#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

/// Smallest ratio of the round trip after the data in flight was halved to the shortest one before. From this ratio on,
/// this sender's queue does not cause the delay, because that queue would have become shorter.
constexpr double standing_rtt_ratio = 0.9;
/// Shortest time for which round trips must be longer than the target queue allows. A shorter time may be one burst of
/// a bursty link.
constexpr Duration min_long = std::chrono::milliseconds(400);
/// Number of round trips in the shortest time for which round trips must be longer than the target queue allows. It
/// applies if that time is longer than `min_long`.
constexpr std::int64_t long_round_trips = 4;
/// Part of each delivered byte that is added to min_window(), the number of bytes to keep in flight. About min_window()
/// bytes are delivered in a round trip, so it grows by about a quarter per round trip.
constexpr double growth = 0.25;

}  // namespace

std::optional<Duration> StandingDelayDetector::on_long(const Sample& sample) {
  const Duration rtt = sample.round_trip;
  if (sample.in_flight >= max_in_flight_) {
    max_in_flight_ = sample.in_flight;
    min_rtt_ = rtt;
    rate_ = sample.rate;
    halved_ = never;
    return std::nullopt;
  }
  if (halved_ == never) {
    min_rtt_ = lesser(min_rtt_, rtt);
    if (sample.in_flight <= max_in_flight_ / 2) halved_ = sample.now;
    return std::nullopt;
  }
  const bool is_brief = sample.above_target_for < std::max(min_long, rtt * long_round_trips);
  if (sample.now - rtt < halved_ || is_brief) return std::nullopt;
  restart();
  if (to_seconds(rtt) < standing_rtt_ratio * to_seconds(min_rtt_)) return std::nullopt;
  needed_ = rate_ * to_seconds(rtt);
  return rtt;
}

void StandingDelayDetector::set_min_window() {
  min_window_ = std::max(min_window_, needed_);
}

void StandingDelayDetector::adapt(Duration round_trip, Duration expected, Bytes delivered) {
  if (min_window_ <= 0) return;
  if (round_trip > expected * 3 / 2) {
    min_window_ = 0;
  } else if (round_trip <= expected * 17 / 16) {
    min_window_ += growth * static_cast<double>(delivered.count());
  }
}

}  // namespace sluice::control
