#include "emulator/cell/drx.hpp"

#include <algorithm>
#include <stdexcept>

namespace sluice::emulator {

Drx::Drx(const DrxParameters& parameters, Duration offset) : parameters_(parameters), offset_(offset) {
  if (parameters.inactivity < Duration::zero() || parameters.on <= Duration::zero() ||
      parameters.cycle < parameters.on) {
    throw std::invalid_argument("DRX: times above 0, the on-duration at most the cycle");
  }
  if (offset < Duration::zero() || offset > parameters.cycle) {
    throw std::invalid_argument("DRX: an offset from 0 to the cycle");
  }
}

void Drx::active(Instant now) {
  active_until_ = std::max(active_until_, now + parameters_.inactivity);
  if (user_ != nullptr) user_->on_active(now);
}

Instant Drx::next_awake(Instant from) const {
  if (from < active_until_) return from;
  const Duration into = (from.time_since_epoch() + parameters_.cycle - offset_) % parameters_.cycle;
  return into < parameters_.on ? from : from + parameters_.cycle - into;
}

}  // namespace sluice::emulator
