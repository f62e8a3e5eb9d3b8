#include "proxy/engine/bearer/codel.hpp"

#include <cmath>

namespace sluice::proxy {
namespace {

/// Bytes of one full packet. A queue with fewer bytes behind its first packet is no standing queue, however long the
/// packet has waited.
constexpr Bytes one_packet{1500};

}  // namespace

bool Codel::should_drop(const CodelParameters& parameters, Duration sojourn, Bytes backlog, Instant now) {
  const bool above = is_above(parameters, sojourn, backlog, now);
  if (!above) {
    dropping_ = false;
    return false;
  }
  if (dropping_) {
    if (now < drop_next_) return false;
    ++count_;
    drop_next_ = next_drop(parameters, drop_next_);
    return true;
  }
  dropping_ = true;
  // A dropping state that follows another one closely continues with nearly its drop rate (RFC 8289 section 5.4).
  const std::uint32_t drops = count_ - last_count_;
  const bool resumes = drops > 1 && now - drop_next_ < 16 * parameters.interval;
  count_ = resumes ? drops : 1;
  last_count_ = count_;
  drop_next_ = next_drop(parameters, now);
  return true;
}

bool Codel::is_above(const CodelParameters& parameters, Duration sojourn, Bytes backlog, Instant now) {
  if (sojourn < parameters.target || backlog < one_packet) {
    first_above_ = Instant{};
    return false;
  }
  if (first_above_ == Instant{}) {
    first_above_ = now + parameters.interval;
    return false;
  }
  return now >= first_above_;
}

Instant Codel::next_drop(const CodelParameters& parameters, Instant from) const {
  return from + from_seconds(to_seconds(parameters.interval) / std::sqrt(static_cast<double>(count_)));
}

}  // namespace sluice::proxy
