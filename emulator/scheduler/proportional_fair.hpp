#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// Value that is added to a UE's average rate in a TTI in which the UE is served. In every other TTI, 0 is added.
enum class PfAverage : std::uint8_t {
  /// Adds the bytes that the block carried, 0 if it was lost (Jalali et al.; with a window of 33 TTIs this is the
  /// average rate r of Andrew et al., TMC 2008).
  carried,
  /// Adds the bytes that the allocated TTI can carry, even if the UE had less data (Chan and Ramjee, INFOCOM 2004, κ =
  /// 1/window).
  granted
};

/// Proportional fair scheduling (Jalali, Padovani and Pankaj, VTC 2000): serves the UE with the largest R/T. R is the
/// UE's possible rate in this TTI, and T its average rate. Every TTI updates every UE's average, T ← (1−1/a)·T +
/// R_served/a, where a is the averaging window. A UE that was never served comes first.
class ProportionalFair final : public Scheduler {
 public:
  /// Creates the scheduler. `window` is the averaging window a in TTIs. Throws std::invalid_argument unless it is above
  /// 1.
  explicit ProportionalFair(double window = 1000, PfAverage form = PfAverage::carried);

  const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override;

  /// Returns the average rate T at which a UE was served before `tti`, in bytes per TTI.
  [[nodiscard]] double average(std::uint32_t ue, std::uint64_t tti) const {
    if (ue >= averages_.size()) return 0;
    const Average& average = averages_[ue];
    // TTIs without service only multiply T, so their decay is applied at the next reading.
    const std::uint64_t idle = tti - average.as_of;
    return idle == 0 ? average.value : average.value * decay(idle);
  }

 private:
  /// Average rate T of one UE, and the TTI up to which it is computed.
  struct Average {
    double value = 0;
    std::uint64_t as_of = 0;  ///< first TTI that the average does not include yet
  };
  /// Returns (1 − 1/a)^ttis, the factor by which an average rate decays in `ttis` TTIs without service; a is the
  /// averaging window.
  [[nodiscard]] double decay(std::uint64_t ttis) const {
    return ttis < decays_.size() ? decays_[ttis] : std::pow(keep_, static_cast<double>(ttis));
  }

  double keep_;                 ///< factor 1 − 1/a by which an average decays in one TTI
  std::vector<double> decays_;  ///< decay factors for small numbers of TTIs, indexed by that number
  /// Selects the value that is added to a UE's average in a TTI in which the UE is served.
  PfAverage form_;
  std::vector<Bytes> rates_;  ///< latest capacity of each UE, for PfAverage::granted
  std::vector<Average> averages_;
};

}  // namespace sluice::emulator
