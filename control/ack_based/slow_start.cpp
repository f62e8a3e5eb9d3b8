#include "control/ack_based/slow_start.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

/// Full-pipe test of BBR: number of rounds without growth by `growth` after which the pipe is full.
constexpr std::uint8_t enough_flat_rounds = 3;
constexpr double growth = 1.25;

}  // namespace

void SlowStart::search(double window) {
  phase_ = Phase::searching;
  window_ = window;
  flat_rounds_ = 0;
  to_exceed_ = 0;
}

void SlowStart::refill(double window) {
  phase_ = Phase::refilling;
  window_ = window;
}

void SlowStart::grant(Bytes in_flight) {
  window_ = std::max(window_, static_cast<double>(in_flight.count()));
}

bool SlowStart::is_full_pipe(Instant now, Rate delivered, Duration round, bool uses_window) {
  const double rate = delivered.bytes_per_second();
  if (!uses_window || rate >= growth * to_exceed_) {
    to_exceed_ = rate;
    flat_rounds_ = 0;
    round_ends_ = now + round;
    return false;
  }
  if (now < round_ends_) return false;
  round_ends_ = now + round;
  return ++flat_rounds_ >= enough_flat_rounds;
}

}  // namespace sluice::control
