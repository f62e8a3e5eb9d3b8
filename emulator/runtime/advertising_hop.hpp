#pragma once

#include "emulator/cell/reporter.hpp"
#include "emulator/net/ring.hpp"
#include "emulator/runtime/hop.hpp"

namespace sluice::emulator {

/// What the router of a hop advertises by GWA-FCFS, (B − q)/N, as the hop's far end has it: one delay later.
class AdvertisingHop final : public UpstreamRouter {
 public:
  /// `hop`, whose specification is `spec`, outlives it and has a queue and a buffer.
  AdvertisingHop(const Hop& hop, const HopSpec& spec) : hop_(hop), buffer_(spec.buffer), delay_(spec.delay) {}

  [[nodiscard]] Bytes window(double flows, Instant now) override;

 private:
  /// The queue when it was looked at.
  struct Look {
    Instant at{};
    Bytes queued;
  };

  const Hop& hop_;
  Bytes buffer_;
  Duration delay_;
  Ring<Look> under_way_;  ///< looks of the last `delay_`
  Bytes arrived_;         ///< the latest that has come; an empty queue before
};

}  // namespace sluice::emulator
