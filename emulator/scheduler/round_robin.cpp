#include "emulator/scheduler/round_robin.hpp"

namespace sluice::emulator {

const Candidate* RoundRobin::pick(std::span<const Candidate> candidates, std::uint64_t /*tti*/) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (!eligible(candidate)) continue;
    if (best == nullptr || last_served_.of(candidate.ue) < last_served_.of(best->ue)) best = &candidate;
  }
  return best;
}

void RoundRobin::served(std::uint32_t ue, Bytes /*carried*/, std::uint64_t tti) {
  last_served_.record(ue, tti);
}

}  // namespace sluice::emulator
