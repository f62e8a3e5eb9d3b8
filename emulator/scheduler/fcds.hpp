#pragma once

#include <vector>

#include "emulator/scheduler/last_served.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// Fair channel-dependent scheduling as EURANE codes it: every TTI and for every UE, idle ones too, with x the reported
/// quality in dB: P ← αP + (1−α)x; V ← αV + (1−α)(x−P)²; serves the largest (x−P)/√V, i.e. who is best off against its
/// own average. A UE's first x is its first P. Among equals (UEs without variation, say) the one unserved longest.
class Fcds final : public Scheduler {
 public:
  /// `window` in TTIs gives α = 1 − 1/window. Throws std::invalid_argument unless it is > 1.
  explicit Fcds(double window = 1000);

  const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override;
  [[nodiscard]] bool follows_idle() const override { return true; }
  [[nodiscard]] bool goes_by_quality() const override { return true; }

 private:
  struct Quality {
    double mean = 0;      ///< P, dB
    double variance = 0;  ///< V, dB²
    double metric = 0;    ///< (x−P)/√V of the TTI
    bool known = false;
  };
  /// Takes in one TTI's quality.
  void follow(const Candidate& candidate);

  double alpha_;
  std::uint64_t next_ = 0;  ///< the first TTI whose qualities were not taken in
  std::vector<Quality> qualities_;
  LastServed last_served_;
};

}  // namespace sluice::emulator
