#include "emulator/scheduler/proportional_fair.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace sluice::emulator {

ProportionalFair::ProportionalFair(double window, PfAverage form) : keep_(1 - 1 / window), form_(form) {
  if (!(window > 1)) throw std::invalid_argument("proportional fair: the window must be above 1 TTI");
  constexpr std::size_t kept = 1024;
  for (std::size_t n = 0; n < kept; ++n) decays_.push_back(n == 1 ? keep_ : std::pow(keep_, static_cast<double>(n)));
}

const Candidate* ProportionalFair::pick(std::span<const Candidate> candidates, std::uint64_t tti) {
  const Candidate* best = nullptr;
  double best_metric = -1;
  for (const Candidate& candidate : candidates) {
    if (!eligible(candidate)) continue;
    if (form_ == PfAverage::granted) {
      if (candidate.ue >= rates_.size()) rates_.resize(candidate.ue + std::size_t{1});
      rates_[candidate.ue] = candidate.capacity;
    }
    const double mean = average(candidate.ue, tti);
    const double rate = static_cast<double>(candidate.capacity.count());
    const double metric = mean > 0 ? rate / mean : std::numeric_limits<double>::infinity();
    if (metric > best_metric) {
      best = &candidate;
      best_metric = metric;
    }
  }
  return best;
}

void ProportionalFair::served(std::uint32_t ue, Bytes carried, std::uint64_t tti) {
  if (ue >= averages_.size()) averages_.resize(ue + std::size_t{1});
  if (form_ == PfAverage::granted && ue < rates_.size()) carried = rates_[ue];
  const double now = average(ue, tti);
  averages_[ue] = {keep_ * now + (1 - keep_) * static_cast<double>(carried.count()), tti + 1};
}

}  // namespace sluice::emulator
