#include "emulator/link/harq.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sluice::emulator::link {

Harq::Harq(const HarqParameters& parameters) : parameters_(parameters) {
  if (parameters.processes < 1 || parameters.processes > 64) {
    throw std::invalid_argument("HARQ: there must be 1 to 64 processes");
  }
  if (parameters.transmissions < 1 || parameters.transmissions > 16) {
    throw std::invalid_argument("HARQ: a block must be sent 1 to 16 times");
  }
  processes_.resize(parameters.processes);
}

std::uint64_t Harq::next(std::uint64_t from) const {
  std::uint64_t earliest = idle;
  if (in_flight_ == 0) return earliest;
  for (const Process& process : processes_) {
    if (process.due >= from) earliest = std::min(earliest, process.due);
  }
  return earliest;
}

void Harq::combine(HarqBlock& block, double snr_db) const {
  const double linear = std::pow(10, snr_db / 10);
  block.snr = parameters_.combining ? block.snr + linear : linear;
  ++block.transmissions;
}

double Harq::in_db(double linear) {
  constexpr double least = 1e-30;
  return 10 * std::log10(std::max(linear, least));
}

/// Updates the hybrid-ARQ process that owns `tti` with the result of its transmission. Returns whether the block was
/// received, is transmitted again or is given up.
HarqOutcome Harq::finish_attempt(std::uint64_t tti, const HarqBlock& block, bool received) {
  Process& process = processes_[tti % processes_.size()];
  const bool again = !received && block.transmissions < parameters_.transmissions;
  if (process.due != idle) --in_flight_;
  process.due = again ? tti + processes_.size() : idle;
  if (again) {
    ++in_flight_;
    process.block = block;
  }
  latest_ = block;
  if (received) return HarqOutcome::received;
  return again ? HarqOutcome::again : HarqOutcome::given_up;
}

void Harq::flush() {
  for (Process& process : processes_) process.due = idle;
  in_flight_ = 0;
}

}  // namespace sluice::emulator::link
