#include "emulator/runtime/gwa_router.hpp"

#include "control/window_laws/gwa.hpp"

namespace sluice::emulator {

Bytes GwaRouter::window(double flows, Instant now) {
  if (in_flight_.empty() || in_flight_.back().at < now) in_flight_.push({now, hop_.queued().value_or(Bytes(0))});
  while (!in_flight_.empty() && in_flight_.front().at + delay_ <= now) arrived_ = in_flight_.pop().queued;
  control::GwaParameters parameters;
  parameters.buffer = buffer_;
  control::GwaObservation seen;
  seen.queue = arrived_;
  seen.flows = flows;
  return control::gwa_window(parameters, seen);
}

}  // namespace sluice::emulator
