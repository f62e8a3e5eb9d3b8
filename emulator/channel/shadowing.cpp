#include "emulator/channel/shadowing.hpp"

#include <cmath>
#include <stdexcept>

namespace sluice::emulator {

Shadowing::Shadowing(double speed, Duration interval, double deviation, double distance, Random random)
    : random_(random) {
  if (!(speed >= 0) || !(deviation >= 0) || !(distance > 0) || interval <= Duration::zero()) {
    throw std::invalid_argument("shadowing: speed and deviation must be >= 0, distance and interval > 0");
  }
  keep_ = std::exp(-speed * to_seconds(interval) / distance);
  renew_ = std::sqrt(1 - keep_ * keep_) * deviation;
  value_ = deviation * random_.normal();
}

}  // namespace sluice::emulator
