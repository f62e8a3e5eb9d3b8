#include "control/ack_based/slow_start.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

/// Number of successive rounds (round trips) in which the rate must have grown too little, so that the path counts as
/// full. BBR uses this test.
constexpr std::uint8_t full_bw_rounds = 3;
/// Factor by which the rate must grow within a few rounds (round trips), so that the path does not count as full. BBR
/// uses this test.
constexpr double growth = 1.25;

}  // namespace

void SlowStart::search(double window) {
  phase_ = Phase::searching;
  window_ = window;
  full_bw_count_ = 0;
  full_bw_ = 0;
}

void SlowStart::refill(double window) {
  phase_ = Phase::refilling;
  window_ = window;
}

void SlowStart::raise_window(Bytes in_flight) {
  window_ = std::max(window_, static_cast<double>(in_flight.count()));
}

bool SlowStart::is_full_pipe(Instant now, Rate delivered, Duration round, bool uses_window) {
  const double rate = delivered.bytes_per_second();
  if (!uses_window || rate >= growth * full_bw_) {
    full_bw_ = rate;
    full_bw_count_ = 0;
    round_ends_ = now + round;
    return false;
  }
  if (now < round_ends_) return false;
  round_ends_ = now + round;
  return ++full_bw_count_ >= full_bw_rounds;
}

}  // namespace sluice::control
