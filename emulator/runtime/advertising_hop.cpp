#include "emulator/runtime/advertising_hop.hpp"

#include "control/gwa.hpp"

namespace sluice::emulator {

Bytes AdvertisingHop::window(double flows, Instant now) {
  if (under_way_.empty() || under_way_.back().at < now) under_way_.push({now, hop_.queued().value_or(Bytes(0))});
  while (!under_way_.empty() && under_way_.front().at + delay_ <= now) arrived_ = under_way_.pop().queued;
  control::GwaParameters parameters;
  parameters.buffer = buffer_;
  control::GwaObservation seen;
  seen.queue = arrived_;
  seen.flows = flows;
  return control::gwa_window(parameters, seen);
}

}  // namespace sluice::emulator
