#pragma once

#include <cstdint>
#include <vector>

namespace sluice::emulator {

/// Records in which TTI each UE was last served. Schedulers use this to choose among UEs with equal values.
class LastServed {
 public:
  /// Returns one more than the number of the last TTI in which the UE was served; 0 if it was never served. A smaller
  /// value means a longer wait.
  [[nodiscard]] std::uint64_t of(std::uint32_t ue) const { return ue < ttis_.size() ? ttis_[ue] : 0; }
  /// Records that a UE is served in `tti`.
  void record(std::uint32_t ue, std::uint64_t tti) {
    if (ue >= ttis_.size()) ttis_.resize(ue + std::size_t{1}, 0);
    ttis_[ue] = tti + 1;
  }

 private:
  std::vector<std::uint64_t> ttis_;
};

}  // namespace sluice::emulator
