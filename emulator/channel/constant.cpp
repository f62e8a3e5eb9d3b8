#include "emulator/channel/constant.hpp"

#include <cmath>
#include <stdexcept>

namespace sluice::emulator {

ConstantChannel::ConstantChannel(Rate rate, Duration tti) : bytes_per_tti_(rate.bytes_per_second() * to_seconds(tti)) {
  if (tti <= Duration::zero()) throw std::invalid_argument("constant channel: the TTI must be positive");
  if (!std::isfinite(bytes_per_tti_) || bytes_per_tti_ < 0 || bytes_per_tti_ > 1e9) {
    throw std::invalid_argument("constant channel: the rate must be 0 to 1 GB per TTI");
  }
}

std::uint64_t ConstantChannel::before(std::uint64_t tti) const {
  return static_cast<std::uint64_t>(bytes_per_tti_ * static_cast<double>(tti) + rounding);
}

LinkGrant ConstantChannel::step(std::uint64_t tti) {
  LinkGrant grant;
  grant.capacity = Bytes(before(tti + 1) - before(tti));
  return grant;
}

bool ConstantChannel::skip(std::uint64_t from, std::uint64_t to, std::uint64_t& offered) {
  offered += before(to) - before(from);
  return true;
}

}  // namespace sluice::emulator
