#pragma once

#include "control/smvs/framing.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "proxy/engine/bearer/bearer.hpp"

namespace sluice::proxy {

/// Inputs of the controller that computes the window advertised to the server. They are derived from the UE's bearer.
struct RadioView {
  /// IP bytes in the radio queue and in flight to it, minus the number that the controller aims at
  control::OnWire<Bytes> error;
  control::OnWire<Rate> mean;  ///< mean rate of the radio link in IP bytes per second; zero while unknown
  /// highest mean rate of the radio link in the last five to ten seconds, if the ACK-based controller runs; else zero
  control::OnWire<Rate> best;
};

/// Returns by how many IP bytes the radio queue exceeds its target, from the last Node-B report and the bytes sent
/// since. The bytes in the queue and in flight to it count. The target is the mean rate times the round trip to the
/// Node-B, plus the controller's target queue. Returns zero if no sliding-mode controller (SMVS) runs.
[[nodiscard]] Bytes reported_error(const Bearer& bearer);

/// Returns the inputs of the controller that computes the window advertised to the server. They come from ACKs if the
/// ACK-based controller runs, else from Node-B reports.
[[nodiscard]] inline RadioView radio_view_of(const Bearer& bearer) {
  if (!bearer.rate_control().is_ack_based())
    return {control::OnWire(reported_error(bearer)), control::OnWire(bearer.mean_rate()), {}};
  const AckController& controller = bearer.ack_controller();
  return {control::OnWire(controller.excess()), control::OnWire(controller.law().rate()),
          control::OnWire(controller.law().best_rate())};
}

}  // namespace sluice::proxy
