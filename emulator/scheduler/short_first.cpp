#include "emulator/scheduler/short_first.hpp"

namespace sluice::emulator {

const Candidate* ShortFirst::pick(std::span<const Candidate> candidates, std::uint64_t tti) {
  const Candidate* const fair = fair_.pick(candidates, tti);
  const Candidate* const best = best_short(candidates);
  return best != nullptr ? best : fair;
}

}  // namespace sluice::emulator
