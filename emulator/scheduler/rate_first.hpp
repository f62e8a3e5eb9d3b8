#pragma once

#include "emulator/scheduler/proportional_fair.hpp"

namespace sluice::emulator {

/// PF-RP (Chan and Ramjee, INFOCOM 2004) compares two choices: that of PF-SP (ShortFirst), which prefers short flows,
/// and that of proportional fair scheduling. The UE that PF-SP chooses is served if its rate is at least the rate of
/// the other UE. Short flows thus go first only if that costs no capacity.
class RateFirst final : public Scheduler {
 public:
  /// Creates the scheduler. `window` is the averaging window in TTIs (1/κ in the paper of Chan and Ramjee). Throws
  /// std::invalid_argument unless it is above 1.
  explicit RateFirst(double window = 1000) : fair_(window, PfAverage::granted) {}

  const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override { fair_.served(ue, carried, tti); }

 private:
  ProportionalFair fair_;
};

}  // namespace sluice::emulator
