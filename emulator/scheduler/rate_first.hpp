#pragma once

#include "emulator/scheduler/proportional_fair.hpp"

namespace sluice::emulator {

/// PF-RP (Chan and Ramjee, INFOCOM 2004): chooses as PF-SP if that choice's rate is at least that of PF's choice,
/// otherwise as PF. Short flows thus go first only if that costs no capacity.
class RateFirst final : public Scheduler {
 public:
  /// Creates the scheduler; `window` of the averages in TTIs is 1/κ. Throws std::invalid_argument unless it is above 1.
  explicit RateFirst(double window = 1000) : fair_(window, PfAverage::granted) {}

  const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override { fair_.served(ue, carried, tti); }

 private:
  ProportionalFair fair_;
};

}  // namespace sluice::emulator
