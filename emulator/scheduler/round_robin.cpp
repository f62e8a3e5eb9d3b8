#include "emulator/scheduler/round_robin.hpp"

namespace sluice::emulator {

std::optional<std::size_t> RoundRobin::pick(std::span<const Candidate> candidates, std::uint64_t /*tti*/) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!eligible(candidates[i])) continue;
    if (!best || last_served_.of(candidates[i].ue) < last_served_.of(candidates[*best].ue)) best = i;
  }
  return best;
}

void RoundRobin::served(std::uint32_t ue, Bytes /*carried*/, std::uint64_t tti) {
  last_served_.note(ue, tti);
}

}  // namespace sluice::emulator
