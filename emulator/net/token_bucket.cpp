#include "emulator/net/token_bucket.hpp"

#include <algorithm>
#include <stdexcept>

namespace sluice::emulator {

TokenBucket::TokenBucket(Rate rate, Bytes burst)
    : rate_(rate), burst_(static_cast<double>(burst.count())), level_(burst_) {
  if (rate <= Rate() || burst <= Bytes(0)) {
    throw std::invalid_argument("policer: the rate and the burst must be above 0");
  }
}

bool TokenBucket::take(Bytes size, Instant now) {
  level_ = std::min(burst_, level_ + to_seconds(now - filled_) * rate_.bytes_per_second());
  filled_ = now;
  const auto bytes = static_cast<double>(size.count());
  if (level_ < bytes) return false;
  level_ -= bytes;
  return true;
}

}  // namespace sluice::emulator
