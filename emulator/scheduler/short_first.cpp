#include "emulator/scheduler/short_first.hpp"

namespace sluice::emulator {

std::optional<std::size_t> ShortFirst::pick(std::span<const Candidate> candidates, std::uint64_t tti) {
  const auto fair = fair_.pick(candidates, tti);
  const auto best = best_short(candidates);
  return best ? best : fair;
}

}  // namespace sluice::emulator
