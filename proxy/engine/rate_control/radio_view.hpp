#pragma once

#include "control/smvs/framing.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "proxy/engine/bearer/bearer.hpp"

namespace sluice::proxy {

/// Inputs of the second loop (the server's receive window) from a UE bearer.
struct RadioView {
  control::OnWire<Bytes> error;  ///< bytes in the radio queue and in flight to it, less their target
  control::OnWire<Rate> mean;    ///< mean rate of the link, Bearer::mean_rate()
  control::OnWire<Rate> best;    ///< highest rate of the last seconds under the ACK-based controller, else zero
};

/// Returns the error of the radio queue by the last report and the bytes sent since. That is what is in the queue and
/// in flight to it, less b̄ times the round trip to the Node-B, less the SMVS reference. Zero for other controllers.
[[nodiscard]] Bytes reported_error(const Bearer& bearer);

/// Returns the inputs of the second loop from reports or, under the ACK-based controller, from ACKs.
[[nodiscard]] inline RadioView radio_view_of(const Bearer& bearer) {
  if (!bearer.rate_control().is_ack_based())
    return {control::OnWire(reported_error(bearer)), control::OnWire(bearer.mean_rate()), {}};
  const AckController& controller = bearer.ack_controller();
  return {control::OnWire(controller.excess()), control::OnWire(controller.law().rate()),
          control::OnWire(controller.law().best_rate())};
}

}  // namespace sluice::proxy
