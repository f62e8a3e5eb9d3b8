#include "emulator/scheduler/rate_first.hpp"

namespace sluice::emulator {

std::optional<std::size_t> RateFirst::pick(std::span<const Candidate> candidates, std::uint64_t tti) {
  const auto fair = fair_.pick(candidates, tti);
  const auto best = best_short(candidates);
  if (!fair || !best) return fair;
  return candidates[*best].capacity >= candidates[*fair].capacity ? best : fair;
}

}  // namespace sluice::emulator
