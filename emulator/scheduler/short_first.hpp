#pragma once

#include "emulator/scheduler/proportional_fair.hpp"

namespace sluice::emulator {

/// PF-SP (Chan and Ramjee, INFOCOM 2004): serves the UE with the highest rate among those whose next packet is of a
/// short flow. If there is none, proportional fair scheduling chooses. Short flows gain most, but capacity is lost when
/// they have bad channels (figure 15 of the paper).
class ShortFirst final : public Scheduler {
 public:
  /// Creates the scheduler. `window` is the averaging window in TTIs (1/κ in the paper of Chan and Ramjee). Throws
  /// std::invalid_argument unless it is above 1.
  explicit ShortFirst(double window = 1000) : fair_(window, PfAverage::granted) {}

  const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override { fair_.served(ue, carried, tti); }

 private:
  ProportionalFair fair_;
};

}  // namespace sluice::emulator
