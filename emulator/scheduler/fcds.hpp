#pragma once

#include <vector>

#include "emulator/scheduler/last_served.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// Fair channel-dependent scheduling as in the HSDPA simulator EURANE: serves the UE whose channel is best relative to
/// its own average. x is the reported quality in dB. Every TTI updates the mean P and the variance V of every UE, also
/// of idle ones: P ← αP + (1−α)x; V ← αV + (1−α)(x−P)². The UE with the largest (x−P)/√V is served. P starts with the
/// UE's first x. If several UEs have the largest value, for instance UEs whose channel does not vary, the one served
/// longest ago is chosen.
class Fcds final : public Scheduler {
 public:
  /// Creates the scheduler. `window` is the averaging window in TTIs: α = 1 − 1/window. Throws std::invalid_argument
  /// unless it is above 1.
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
    double metric = 0;    ///< deviation of the quality x from its mean, (x−P)/√V, in the latest TTI
    bool known = false;   ///< true once the UE was a candidate in some TTI
  };
  /// Updates the statistics of a UE with its quality in this TTI.
  void follow(const Candidate& candidate);

  double alpha_;
  std::uint64_t next_ = 0;  ///< first TTI whose channel qualities are not in the statistics yet
  std::vector<Quality> qualities_;
  LastServed last_served_;
};

}  // namespace sluice::emulator
