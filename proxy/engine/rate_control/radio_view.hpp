#pragma once

#include "control/smvs/framing.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "proxy/engine/bearer/bearer.hpp"

namespace sluice::proxy {

/// Inputs of the second loop, which sets the server's receive window, from a UE bearer.
struct RadioView {
  control::OnWire<Bytes> error;  ///< bytes in the radio queue and in flight to it, minus their target
  control::OnWire<Rate> mean;    ///< mean rate of the link, Bearer::mean_rate()
  control::OnWire<Rate> best;    ///< highest rate of the last seconds under the ACK-based controller, else zero
};

/// Returns the error of the radio queue according to the last report and the bytes sent since. The error is the bytes
/// in the queue and in flight to it. From them b̄ times the round trip to the Node-B and the SMVS reference are
/// subtracted. Zero for other controllers than SMVS.
[[nodiscard]] Bytes reported_error(const Bearer& bearer);

/// Returns the inputs of the second loop: from reports or, under the ACK-based controller, from ACKs.
[[nodiscard]] inline RadioView radio_view_of(const Bearer& bearer) {
  if (!bearer.rate_control().is_ack_based())
    return {control::OnWire(reported_error(bearer)), control::OnWire(bearer.mean_rate()), {}};
  const AckController& controller = bearer.ack_controller();
  return {control::OnWire(controller.excess()), control::OnWire(controller.law().rate()),
          control::OnWire(controller.law().best_rate())};
}

}  // namespace sluice::proxy
