#include "emulator/link/reordering.hpp"

#include <stdexcept>

namespace sluice::emulator::link {

ReorderingBuffer::ReorderingBuffer(const ReorderingParameters& parameters) : parameters_(parameters) {
  if (parameters.window < 1 || parameters.window > 4096) {
    throw std::invalid_argument("reordering: the window must be 1 to 4096 blocks");
  }
  if (parameters.stall_timer <= Duration::zero()) {
    throw std::invalid_argument("reordering: the stall timer must be above 0");
  }
}

bool ReorderingBuffer::record(std::uint64_t tsn) {
  if (tsn < next_) return false;
  const std::uint64_t place = tsn - next_;
  if (place >= arrived_.size()) arrived_.resize(place + 1, false);
  arrived_[place] = true;
  return true;
}

void ReorderingBuffer::watch(Instant now) {
  if (arrived_.empty()) {
    deadline_ = never;  // the timer stops when its gap is closed (TS 25.321)
    return;
  }
  if (deadline_ != never && next_ <= stalled_) return;
  deadline_ = now + parameters_.stall_timer;
  stalled_ = next_ + arrived_.size() - 1;
}

}  // namespace sluice::emulator::link
