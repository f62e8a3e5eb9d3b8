#include "control/receive_window_loop.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::control {
namespace {

/// The mean follows the drain within a round trip, but neither chases single packets nor sleeps.
constexpr double fastest_mean_s = 0.02;
constexpr double slowest_mean_s = 1;

/// What a starved buffer's round trip counts: a link that has just become faster runs it dry for a round trip or two, a
/// connection that is only beginning for longer.
constexpr double first_growth = 1.25;
constexpr double lasting_growth = 2;

}  // namespace

ReceiveWindowLoop::ReceiveWindowLoop(const ReceiveWindowParameters& parameters)
    : parameters_(parameters), eta_(parameters.eta_window) {}

Bytes ReceiveWindowLoop::advance(const ReceiveWindowObservation& seen) {
  const double rtt_s = std::max(0.0, to_seconds(seen.server_rtt));
  measure(seen.now, seen.drain, rtt_s);
  const double held = static_cast<double>((seen.buffered + seen.radio_error + seen.promised).count());
  if (known_) {
    state_.reference = std::max(parameters_.reference.in_bytes(parameters_.frame, state_.mean_drain),
                                static_cast<double>(parameters_.minimum_reference.count()));
    watch_starvation(seen);
    state_.target = target(seen.now, rtt_s);
  } else {
    state_.target = static_cast<double>(parameters_.initial.count());
  }
  state_.target = std::min(state_.target, static_cast<double>(parameters_.maximum.count()));
  state_.predicted_error = held - state_.target;
  return Bytes(std::floor(std::max(0.0, -state_.predicted_error)));
}

void ReceiveWindowLoop::watch_starvation(const ReceiveWindowObservation& seen) {
  const bool was = state_.starved;
  if (static_cast<double>(seen.buffered.count()) < state_.reference / 4) starved_until_ = seen.now + seen.server_rtt;
  state_.starved = seen.now <= starved_until_;
  if (!state_.starved) {
    state_.growth = 1;
    return;
  }
  if (!was) starved_since_ = seen.now;
  state_.growth = seen.now - starved_since_ > 2 * seen.server_rtt ? lasting_growth : first_growth;
}

void ReceiveWindowLoop::measure(Instant now, Rate drain, double rtt_s) {
  const double rate = drain.bytes_per_second();
  if (!known_) {
    if (!(rate > 0)) return;
    known_ = true;
    mean_ = rate;
  } else if (now > last_) {
    const double memory_s = std::clamp(rtt_s, fastest_mean_s, slowest_mean_s);
    mean_ += (1 - std::exp(-to_seconds(now - last_) / memory_s)) * (rate - mean_);
    eta_.add(now, rate - mean_);
  }
  last_ = now;
  state_.mean_drain = Rate::bytes_per_second(mean_);
}

double ReceiveWindowLoop::target(Instant now, double rtt_s) const {
  const double eta_high = std::max(0.0, eta_.high(now).value_or(0));
  return state_.reference + (mean_ * state_.growth + parameters_.eta_weight * eta_high) * rtt_s;
}

}  // namespace sluice::control
