#pragma once

#include "emulator/scheduler/proportional_fair.hpp"

namespace sluice::emulator {

/// PF-SP (Chan and Ramjee, INFOCOM 2004): when the head packet of any user is of a short flow, the one of these users
/// with the highest rate; otherwise proportional fair. Short flows gain most; capacity is lost when short flows sit on
/// bad channels (their figure 15).
class ShortFirst final : public Scheduler {
 public:
  /// `window`: of the averages, TTIs; 1/κ. Throws std::invalid_argument unless it is > 1.
  explicit ShortFirst(double window = 1000) : fair_(window, PfAverage::granted) {}

  const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override { fair_.served(ue, carried, tti); }

 private:
  ProportionalFair fair_;
};

}  // namespace sluice::emulator
