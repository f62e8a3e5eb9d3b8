#include "emulator/scheduler/rate_first.hpp"

namespace sluice::emulator {

const Candidate* RateFirst::pick(std::span<const Candidate> candidates, std::uint64_t tti) {
  const Candidate* const fair = fair_.pick(candidates, tti);
  const Candidate* const best = best_short(candidates);
  if (fair == nullptr || best == nullptr) return fair;
  return best->capacity >= fair->capacity ? best : fair;
}

}  // namespace sluice::emulator
