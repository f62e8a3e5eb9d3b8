#pragma once

#include "control/framing.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "proxy/bearer/bearer.hpp"

namespace sluice::proxy {

/// What the second loop goes by of a bearer.
struct RadioView {
  control::OnWire<Bytes> error;  ///< in the radio queue and on the way there, less what belongs there
  control::OnWire<Rate> mean;    ///< Bearer::mean_rate()
  control::OnWire<Rate> best;    ///< the highest of the last seconds, where acknowledgements tell; zero elsewhere
};

/// By what the last report said, and what was sent since: what is in the radio queue and on the way there, less b̄ over
/// the round trip to the Node-B and the reference of SMVS. Nothing under other laws.
[[nodiscard]] Bytes reported_error(const Bearer& bearer);

[[nodiscard]] inline RadioView radio_view_of(const Bearer& bearer) {
  if (!bearer.lead().clocked())
    return {control::OnWire(reported_error(bearer)), control::OnWire(bearer.mean_rate()), {}};
  const AckClock& clock = bearer.ack_clock();
  return {control::OnWire(clock.excess()), control::OnWire(clock.law().rate()),
          control::OnWire(clock.law().best_rate())};
}

}  // namespace sluice::proxy
