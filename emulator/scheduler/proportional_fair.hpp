#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// What a UE's average is fed with in a TTI that it was served in; 0 in every other.
enum class PfAverage : std::uint8_t {
  carried,  ///< what the block carried, 0 when it was lost (Jalali et al.; CLAMP's r with a window of 33)
  granted   ///< the rate it was served at, used up or not (Window Regulator paper, κ = 1/window)
};

/// Proportional fair (Jalali, Padovani and Pankaj, VTC 2000): argmax R/T with T ← (1−1/a)·T + R_served/a, every TTI,
/// for every UE. A UE that was never served comes first.
class ProportionalFair final : public Scheduler {
 public:
  /// `window` is a, in TTIs. Throws std::invalid_argument unless it is > 1.
  explicit ProportionalFair(double window = 1000, PfAverage form = PfAverage::carried);

  const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override;

  /// T of a UE as it stands before `tti`, in bytes per TTI.
  [[nodiscard]] double average(std::uint32_t ue, std::uint64_t tti) const {
    if (ue >= averages_.size()) return 0;
    const Average& average = averages_[ue];
    // TTIs in which it got nothing only shrink T, so they are applied when T is looked at.
    const std::uint64_t idle = tti - average.as_of;
    return idle == 0 ? average.value : average.value * decay(idle);
  }

 private:
  struct Average {
    double value = 0;
    std::uint64_t as_of = 0;  ///< the TTI before which `value` holds; decays from there
  };
  /// Raises keep_ to the power of so many TTIs.
  [[nodiscard]] double decay(std::uint64_t ttis) const {
    return ttis < decays_.size() ? decays_[ttis] : std::pow(keep_, static_cast<double>(ttis));
  }

  double keep_;                 ///< 1 − 1/a
  std::vector<double> decays_;  ///< its first powers
  PfAverage form_;
  std::vector<Bytes> rates_;  ///< of each UE when it was looked at last; for PfAverage::granted
  std::vector<Average> averages_;
};

}  // namespace sluice::emulator
