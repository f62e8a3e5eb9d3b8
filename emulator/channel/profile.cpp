#include "emulator/channel/profile.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sluice::emulator {

ProfileChannel::ProfileChannel(std::shared_ptr<const CapacityProfile> profile, Duration tti)
    : profile_(std::move(profile)), tti_(tti) {
  if (!profile_ || profile_->rates.empty() || profile_->interval <= Duration::zero()) {
    throw std::invalid_argument("profile channel: the profile is empty");
  }
  if (tti <= Duration::zero()) throw std::invalid_argument("profile channel: the TTI must be positive");
}

LinkGrant ProfileChannel::step(std::uint64_t /*tti*/) {
  double bytes = fraction_;
  for (Duration rest = tti_; rest > Duration::zero();) {
    if (left_ == Duration::zero()) {
      rate_ = profile_->rates[next_];
      next_ = (next_ + 1) % profile_->rates.size();
      left_ = profile_->interval;
    }
    const Duration part = std::min(rest, left_);
    bytes += rate_.bytes_per_second() * to_seconds(part);
    left_ -= part;
    rest -= part;
  }
  const double whole = std::floor(bytes);
  fraction_ = bytes - whole;
  LinkGrant grant;
  grant.capacity = Bytes(static_cast<std::int64_t>(whole));
  return grant;
}

}  // namespace sluice::emulator
