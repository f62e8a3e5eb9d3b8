#pragma once

#include <cstdint>
#include <vector>

namespace sluice::emulator {

/// When each UE was served last, for "unserved longest".
class LastServed {
 public:
  /// 0 when it never was, otherwise the TTI plus one: the smaller, the longer it has waited.
  [[nodiscard]] std::uint64_t of(std::uint32_t ue) const { return ue < ttis_.size() ? ttis_[ue] : 0; }
  void note(std::uint32_t ue, std::uint64_t tti) {
    if (ue >= ttis_.size()) ttis_.resize(ue + std::size_t{1}, 0);
    ttis_[ue] = tti + 1;
  }

 private:
  std::vector<std::uint64_t> ttis_;
};

}  // namespace sluice::emulator
