#pragma once

#include "emulator/scheduler/last_served.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// Round robin: serves the backlogged UE that was served longest ago. Of several UEs that were never served, the UE
/// with the lowest number is served.
class RoundRobin final : public Scheduler {
 public:
  const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override;

 private:
  LastServed last_served_;
};

}  // namespace sluice::emulator
