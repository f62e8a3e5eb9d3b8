#include "emulator/scheduler/max_ci.hpp"

namespace sluice::emulator {

const Candidate* MaxCi::pick(std::span<const Candidate> candidates, std::uint64_t /*tti*/) {
  const auto better = [this](const Candidate& a, const Candidate& b) {
    if (a.cqi != b.cqi) return a.cqi > b.cqi;
    if (a.capacity != b.capacity) return a.capacity > b.capacity;
    return last_served_.of(a.ue) < last_served_.of(b.ue);
  };
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (eligible(candidate) && (best == nullptr || better(candidate, *best))) best = &candidate;
  }
  return best;
}

void MaxCi::served(std::uint32_t ue, Bytes /*carried*/, std::uint64_t tti) {
  last_served_.record(ue, tti);
}

}  // namespace sluice::emulator
