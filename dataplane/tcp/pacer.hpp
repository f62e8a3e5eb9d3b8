#pragma once

#include <algorithm>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Spreads what a window allows over the round trip: short bursts at a rate. A burst is what the rate carries in a
/// millisecond, at least two segments (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.2). A timer that came
/// late is made up for, by a millisecond at most, so that a coarse clock does not slow the sender down.
class Pacer {
 public:
  static constexpr Duration burst = std::chrono::milliseconds(1);

  void set_rate(Rate rate) { rate_ = rate; }
  [[nodiscard]] Rate rate() const { return rate_; }

  /// The size of a burst, of segments of `segment` bytes.
  [[nodiscard]] Bytes quantum(Bytes segment) const { return std::max(segment * 2, rate_.in(burst)); }

  /// What may leave now; without a rate, anything.
  [[nodiscard]] Bytes allowance(Instant now, Bytes segment) const {
    if (rate_ == Rate()) return Bytes::max();
    if (now < next_) return Bytes();
    return quantum(segment) + rate_.in(late(now));
  }

  /// So many bytes left.
  void spend(Instant now, Bytes sent) {
    if (rate_ == Rate() || sent <= Bytes()) return;
    next_ = (now < next_ ? next_ : now - late(now)) + rate_.time_for(sent);
  }

  /// Whether something waits for its turn; it is from now on the clock's matter, see deadline().
  void wait(bool waits) { waits_ = waits; }
  [[nodiscard]] bool holds_back(Instant now) const { return rate_ != Rate() && now < next_; }
  /// When the next burst may leave, if one waits.
  [[nodiscard]] Instant deadline() const { return waits_ ? next_ : never; }

 private:
  /// By how much the clock missed the instant that was waited for. Without anybody waiting there is nothing to make up.
  [[nodiscard]] Duration late(Instant now) const {
    return waits_ && now > next_ ? std::min(now - next_, burst) : Duration::zero();
  }

  Rate rate_;
  Instant next_{};
  bool waits_ = false;
};

}  // namespace sluice::tcp
