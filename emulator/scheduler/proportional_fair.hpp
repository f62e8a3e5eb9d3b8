#pragma once

#include <vector>

#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// Proportional fair (Jalali, Padovani and Pankaj, VTC 2000): argmax R/T with T ← (1−1/a)·T + R_served/a, every TTI,
/// for every UE. A UE that was never served comes first.
class ProportionalFair final : public Scheduler {
 public:
  /// `window` is a, in TTIs. Throws std::invalid_argument unless it is > 1.
  explicit ProportionalFair(double window = 1000);

  std::optional<std::size_t> pick(std::span<const Candidate> candidates, std::uint64_t tti) override;
  void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) override;

  /// T of a UE as it stands before `tti`, in bytes per TTI.
  [[nodiscard]] double average(std::uint32_t ue, std::uint64_t tti) const;

 private:
  struct Average {
    double value = 0;
    std::uint64_t as_of = 0;  ///< the TTI before which `value` holds; decays from there
  };
  double keep_;  ///< 1 − 1/a
  std::vector<Average> averages_;
};

}  // namespace sluice::emulator
