#pragma once

#include "emulator/cell/reporter.hpp"
#include "emulator/net/ring.hpp"
#include "emulator/runtime/hop.hpp"

namespace sluice::emulator {

/// Router that advertises the receive window (B − q)/N to each flow, as GWA-FCFS (Generalized Window Advertising). B is
/// the buffer of a hop, q its queue length and N the number of flows. The window reaches the far end of the hop one
/// propagation delay later.
class GwaRouter final : public UpstreamRouter {
 public:
  /// Creates the router that observes the queue of `hop`, whose specification is `spec`. The hop must have a queue and
  /// a limited buffer, and must outlive the router.
  GwaRouter(const Hop& hop, const HopSpec& spec) : hop_(hop), buffer_(spec.buffer), delay_(spec.delay) {}

  [[nodiscard]] Bytes window(double flows, Instant now) override;

 private:
  /// A queue length of the hop, and the time at which it was read.
  struct Look {
    Instant at{};
    Bytes queued;
  };

  const Hop& hop_;
  Bytes buffer_;
  Duration delay_;
  Ring<Look> in_flight_;  ///< queue lengths that were read, but have not reached the far end of the hop yet
  Bytes arrived_;         ///< queue length that last reached the far end of the hop; 0 before the first
};

}  // namespace sluice::emulator
