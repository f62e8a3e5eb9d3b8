#pragma once

#include "control/smvs/framing.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "proxy/engine/bearer/bearer.hpp"

namespace sluice::proxy {

/// Inputs of the second loop, which sets the server's receive window, from the bearer of a UE (its connections under
/// one policy).
struct RadioView {
  control::OnWire<Bytes> error;  ///< bytes in the radio queue and in flight to it, minus the intended ones
  control::OnWire<Rate> mean;    ///< mean rate of the link, Bearer::mean_rate()
  control::OnWire<Rate> best;    ///< under the ACK-based controller, the highest mean rate of the link in the last five
                                 ///< to ten seconds; otherwise zero
};

/// Returns the error of the radio queue by the last Node-B report and the bytes sent since. The error is the bytes in
/// the queue and in flight to it. From them b̄ (the mean rate) times the round trip to the Node-B and the intended
/// queue of SMVS are subtracted. Zero for other controllers than SMVS.
[[nodiscard]] Bytes reported_error(const Bearer& bearer);

/// Returns the inputs of the second loop, which sets the server's receive window: from Node-B reports or, under the
/// ACK-based controller, from ACKs.
[[nodiscard]] inline RadioView radio_view_of(const Bearer& bearer) {
  if (!bearer.rate_control().is_ack_based())
    return {control::OnWire(reported_error(bearer)), control::OnWire(bearer.mean_rate()), {}};
  const AckController& controller = bearer.ack_controller();
  return {control::OnWire(controller.excess()), control::OnWire(controller.law().rate()),
          control::OnWire(controller.law().best_rate())};
}

}  // namespace sluice::proxy
