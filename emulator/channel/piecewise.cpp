#include "emulator/channel/piecewise.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sluice::emulator {

PiecewiseChannel::PiecewiseChannel(const PiecewiseParameters& parameters, Duration tti, Random random)
    : parameters_(parameters), tti_(tti), random_(random) {
  if (tti <= Duration::zero()) throw std::invalid_argument("piecewise channel: the TTI must be positive");
  if (parameters.period <= Duration::zero()) throw std::invalid_argument("piecewise channel: the period must be > 0");
  const double low = parameters.min.bytes_per_second();
  const double high = parameters.max.bytes_per_second();
  if (!(low >= 0) || !(high >= low) || !(high * to_seconds(tti) <= 1e9)) {
    throw std::invalid_argument("piecewise channel: the rates must be 0 <= min <= max <= 1 GB per TTI");
  }
}

void PiecewiseChannel::redraw() {
  rate_ =
      Rate::bytes_per_second(random_.uniform(parameters_.min.bytes_per_second(), parameters_.max.bytes_per_second()));
  left_ = parameters_.period;
}

LinkGrant PiecewiseChannel::step(std::uint64_t /*tti*/) {
  double bytes = fraction_;
  for (Duration rest = tti_; rest > Duration::zero();) {
    if (left_ == Duration::zero()) redraw();
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
