#pragma once

#include <vector>

#include "emulator/scheduler/last_served.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// Fair channel-dependent scheduling as in EURANE: serves the UE whose channel is best relative to its own average.
/// With x the reported quality in dB, every TTI updates every UE, idle ones too: P ← αP + (1−α)x; V ← αV + (1−α)(x−P)².
/// The largest (x−P)/√V is served. A UE's first x is its first P. Of UEs with equal values, for instance UEs without
/// variation, the one served longest ago is chosen.
class Fcds final : public Scheduler {
 public:
  /// Creates the scheduler; `window` in TTIs gives α = 1 − 1/window. Throws std::invalid_argument unless it is above 1.
  explicit Fcds(double window = 1000);

  const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override;
  [[nodiscard]] bool follows_idle() const override { return true; }
  [[nodiscard]] bool goes_by_quality() const override { return true; }

 private:
  /// Channel statistics of one UE for FCDS.
  struct Quality {
    double mean = 0;      ///< mean quality P in dB
    double variance = 0;  ///< variance V in dB²
    double metric = 0;    ///< (x−P)/√V in the latest TTI
    bool known = false;   ///< true once the UE was a candidate in some TTI
  };
  /// Updates the statistics of a UE with its quality in this TTI.
  void follow(const Candidate& candidate);

  double alpha_;
  std::uint64_t next_ = 0;  ///< first TTI whose qualities are not included yet
  std::vector<Quality> qualities_;
  LastServed last_served_;
};

}  // namespace sluice::emulator
