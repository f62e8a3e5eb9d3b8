#include "emulator/scheduler/fcds.hpp"

#include <cmath>
#include <stdexcept>

namespace sluice::emulator {

Fcds::Fcds(double window) : alpha_(1 - 1 / window) {
  if (!(window > 1)) throw std::invalid_argument("fcds: the window must be above 1 TTI");
}

void Fcds::follow(const Candidate& candidate) {
  if (candidate.ue >= qualities_.size()) qualities_.resize(candidate.ue + std::size_t{1});
  Quality& quality = qualities_[candidate.ue];
  const double x = candidate.quality_db;
  if (!quality.known) {
    quality = {x, 0, 0, true};
    return;
  }
  quality.mean = alpha_ * quality.mean + (1 - alpha_) * x;
  const double above = x - quality.mean;
  quality.variance = alpha_ * quality.variance + (1 - alpha_) * above * above;
  quality.metric = quality.variance > 0 ? above / std::sqrt(quality.variance) : 0;
}

const Candidate* Fcds::pick(std::span<const Candidate> candidates, std::uint64_t tti) {
  if (tti >= next_) {
    for (const Candidate& candidate : candidates) follow(candidate);
    next_ = tti + 1;
  }
  const Candidate* best = nullptr;
  double best_metric = 0;
  for (const Candidate& candidate : candidates) {
    if (!eligible(candidate)) continue;
    const double metric = qualities_[candidate.ue].metric;
    const bool better = best == nullptr || metric > best_metric ||
                        (metric == best_metric && last_served_.of(candidate.ue) < last_served_.of(best->ue));
    if (!better) continue;
    best = &candidate;
    best_metric = metric;
  }
  return best;
}

void Fcds::served(std::uint32_t ue, Bytes /*carried*/, std::uint64_t tti) {
  last_served_.record(ue, tti);
}

}  // namespace sluice::emulator
