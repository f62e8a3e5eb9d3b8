#include "emulator/scheduler/max_ci.hpp"

namespace sluice::emulator {

std::optional<std::size_t> MaxCi::pick(std::span<const Candidate> candidates, std::uint64_t /*tti*/) {
  const auto better = [this](const Candidate& a, const Candidate& b) {
    if (a.cqi != b.cqi) return a.cqi > b.cqi;
    if (a.capacity != b.capacity) return a.capacity > b.capacity;
    return last_served_.of(a.ue) < last_served_.of(b.ue);
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (eligible(candidates[i]) && (!best || better(candidates[i], candidates[*best]))) best = i;
  }
  return best;
}

void MaxCi::served(std::uint32_t ue, Bytes /*carried*/, std::uint64_t tti) {
  last_served_.note(ue, tti);
}

}  // namespace sluice::emulator
