#include "control/unmoved_delay.hpp"

#include <algorithm>

// AckClockedWindow calls on_long() for each round trip that is too long, and forget() for each that is not.

namespace sluice::control {
namespace {

/// A queue of this sender's own would be shorter by half. Less than this is no answer.
constexpr double moved = 0.9;

/// A link that rests between bursts makes round trips long for a moment, again and again.
constexpr Duration least_long = std::chrono::milliseconds(400);
constexpr std::int64_t long_round_trips = 4;

}  // namespace

std::optional<UnmovedDelay::Finding> UnmovedDelay::on_long(Instant now, Duration took, Bytes in_flight, double rate,
                                                           Duration long_for) {
  if (in_flight >= most_) {
    most_ = in_flight;
    took_ = took;
    rate_ = rate;
    halved_ = never;
    return std::nullopt;
  }
  if (halved_ == never) {
    took_ = std::min(took_, took);
    if (in_flight <= most_ / 2) halved_ = now;
    return std::nullopt;
  }
  if (now - took < halved_ || long_for < std::max(least_long, took * long_round_trips)) return std::nullopt;
  most_ = Bytes{};
  if (to_seconds(took) < moved * to_seconds(took_)) return std::nullopt;
  return Finding{took, rate_ * to_seconds(took)};
}

}  // namespace sluice::control
