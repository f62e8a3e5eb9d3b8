#pragma once

#include <algorithm>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Pacer that spreads cwnd over the round trip in short bursts. A burst is the data of one millisecond at the pacing
/// rate, at least two segments (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.2). If the timer fires late,
/// the next burst is larger, by at most one millisecond of data. So a coarse clock does not slow the sender.
class Pacer {
 public:
  static constexpr Duration burst = std::chrono::milliseconds(1);

  void set_rate(Rate rate) { rate_ = rate; }
  [[nodiscard]] Rate rate() const { return rate_; }

  /// Returns the size of a burst in bytes, for segments of `segment` bytes.
  [[nodiscard]] Bytes quantum(Bytes segment) const { return std::max(segment * 2, rate_.in(burst)); }

  /// Returns the bytes that may be sent now; unlimited without a rate.
  [[nodiscard]] Bytes allowance(Instant now, Bytes segment) const {
    if (rate_ == Rate()) return Bytes::max();
    if (now < next_) return Bytes();
    return quantum(segment) + rate_.in(late(now));
  }

  /// Records that `sent` bytes were sent, and computes when the next burst may leave.
  void spend(Instant now, Bytes sent) {
    if (rate_ == Rate() || sent <= Bytes()) return;
    next_ = (now < next_ ? next_ : now - late(now)) + rate_.time_for(sent);
  }

  /// Records whether data waits for the pacer. deadline() returns a time only while data waits.
  void wait(bool waits) { waits_ = waits; }
  [[nodiscard]] bool holds_back(Instant now) const { return rate_ != Rate() && now < next_; }
  /// Returns when the next burst may leave, or never if no data waits.
  [[nodiscard]] Instant deadline() const { return waits_ ? next_ : never; }

 private:
  /// Returns how late the timer fired, at most the duration of a burst. Returns zero if no data waited, because nothing
  /// was delayed then.
  [[nodiscard]] Duration late(Instant now) const {
    return waits_ && now > next_ ? std::min(now - next_, burst) : Duration::zero();
  }

  Rate rate_;
  Instant next_{};
  bool waits_ = false;
};

}  // namespace sluice::tcp
