#pragma once

#include "emulator/scheduler/last_served.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// Maximum C/I: serves the backlogged UE with the highest CQI. Among equal CQIs, and for channels without CQI, the
/// highest capacity decides. Of UEs with equal values, the one that was served longest ago is chosen.
class MaxCi final : public Scheduler {
 public:
  const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override;

 private:
  LastServed last_served_;
};

}  // namespace sluice::emulator
