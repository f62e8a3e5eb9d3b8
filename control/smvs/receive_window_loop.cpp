#include "control/smvs/receive_window_loop.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::control {
namespace {

/// Factor of the radio link's highest recent rate. A target q0 of the proxy's buffer that is given as a time is
/// converted to bytes with at least this product. On recorded links a factor of 1 hardly improves link use, and doubles
/// the queue.
constexpr double best_share = 0.5;

}  // namespace

ReceiveWindowLoop::ReceiveWindowLoop(const ReceiveWindowParameters& parameters) : parameters_(parameters) {}

Bytes ReceiveWindowLoop::advance(const ReceiveWindowObservation& seen) {
  const double share = seen.framing.share();
  const Bytes radio_error(static_cast<double>(seen.radio_error.amount().count()) * share);
  const Rate drain = seen.drain.amount() * share;
  const auto held = static_cast<double>((seen.buffered + radio_error + seen.advertised).count());
  known_ = known_ || drain > Rate();
  if (known_) {
    const Rate ready = std::max(drain, seen.best.amount() * share * best_share);
    state_.reference = std::max(parameters_.reference.in_bytes(parameters_.frame, ready),
                                static_cast<double>(parameters_.minimum_reference.count()));
    const double rtt_s = std::max(0.0, to_seconds(seen.server_rtt));
    state_.target = state_.reference + drain.bytes_per_second() * rtt_s;
  } else {
    state_.target = static_cast<double>(parameters_.initial.count());
  }
  state_.target = std::min(state_.target, static_cast<double>(parameters_.maximum.count()));
  state_.predicted_error = held - state_.target;
  return Bytes(std::floor(std::max(0.0, -state_.predicted_error)));
}

}  // namespace sluice::control
