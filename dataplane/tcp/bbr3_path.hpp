#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "dataplane/tcp/model_ack.hpp"
#include "dataplane/tcp/round_count.hpp"
#include "dataplane/units/rate.hpp"

// What BBR 3 measures of a path where nothing is lost. Sections are those of draft-ietf-ccwg-bbr-06.

namespace sluice::tcp {

/// BBR.max_bw: the largest delivery rate of this cycle of bandwidth probing and the last (sections 5.5.3 to 5.5.6).
class CycleMaximum {
 public:
  void note(Rate rate) { of_[1] = std::max(of_[1], rate); }
  /// A cycle has ended. One without a sample forgets nothing.
  void advance() {
    if (of_[1] == Rate()) return;
    of_ = {of_[1], Rate()};
  }
  [[nodiscard]] Rate value() const { return std::max(of_[0], of_[1]); }

 private:
  std::array<Rate, 2> of_{};
};

/// Whether more is sent than the path delivers: three rounds in which the delivery rate did not grow by a quarter
/// (section 5.3.1.2).
class FullPipe {
 public:
  /// Looks anew: growth counts from `rate` on.
  void restart(Rate rate = Rate()) {
    rate_ = rate;
    rounds_ = 0;
    full_ = false;
  }
  /// Once for each round that begins with a sample the application did not limit.
  void note(Rate rate) {
    if (full_) return;
    if (rate >= rate_ * growth) {
      restart(rate);
      return;
    }
    full_ = ++rounds_ >= rounds_needed;
  }
  [[nodiscard]] bool full() const { return full_; }

 private:
  static constexpr double growth = 1.25;
  static constexpr std::uint8_t rounds_needed = 3;

  Rate rate_;
  std::uint8_t rounds_ = 0;
  bool full_ = false;
};

/// BBR.min_rtt, and when to look for it (sections 5.3.4.3 and 5.5.7): the least of ten seconds, refreshed from the
/// least of five, whose end calls for a probe.
class LeastRtt {
 public:
  static constexpr Duration unknown = Duration::max();

  /// `srtt` is zero while unknown.
  void begin(Duration srtt, Instant now) {
    *this = LeastRtt();
    if (srtt > Duration::zero()) value_ = srtt;
    at_ = probe_at_ = now;
  }
  /// Goes on from a smoothed round-trip time where none is known; the clock starts anew with restart().
  void seed(Duration srtt) {
    if (value_ == unknown) value_ = srtt;
  }
  void restart(Instant now) { at_ = probe_at_ = now; }
  /// `rtt` is negative where there is no sample.
  void note(Duration rtt, Instant now) {
    expired_ = now > probe_at_ + probe_interval;
    if (rtt >= Duration::zero() && (rtt < probe_value_ || expired_)) {
      probe_value_ = std::max(rtt, Duration(1));
      probe_at_ = now;
    }
    if (probe_value_ < value_ || now > at_ + valid_for) {
      value_ = probe_value_;
      at_ = probe_at_;
    }
  }
  /// A probe has ended: the next is due an interval later.
  void probed(Instant now) { probe_at_ = now; }

  [[nodiscard]] Duration value() const { return value_; }
  [[nodiscard]] bool known() const { return value_ != unknown; }
  /// A probe is due.
  [[nodiscard]] bool expired() const { return expired_; }

 private:
  static constexpr Duration probe_interval = std::chrono::seconds(5);  ///< BBR.ProbeRTTInterval
  static constexpr Duration valid_for = std::chrono::seconds(10);      ///< BBR.MinRTTFilterLen

  Duration value_ = unknown;
  Duration probe_value_ = unknown;
  Instant at_{};
  Instant probe_at_{};
  bool expired_ = false;
};

/// BBR.extra_acked: how much more is acknowledged at once than the bandwidth explains, the largest of ten rounds, of
/// one while the pipe was never full (section 5.5.9).
class AckAggregation {
 public:
  void restart(Instant now) {
    begun_ = now;
    delivered_ = 0;
  }
  void note(const ModelAck& ack, Rate bandwidth, std::uint32_t cwnd, std::uint32_t round) {
    const auto expected = [&] { return bandwidth.bytes_per_second() * to_seconds(ack.now - begun_); };
    if (delivered_ <= expected()) restart(ack.now);
    delivered_ += ack.sample.newly;
    extra_.note(round, std::clamp(delivered_ - expected(), 0.0, static_cast<double>(cwnd)));
  }
  [[nodiscard]] double value(bool was_full) const { return was_full ? extra_.value() : extra_.newest(); }

 private:
  RoundMaximum extra_;  ///< bytes
  Instant begun_{};
  double delivered_ = 0;  ///< bytes since then
};

}  // namespace sluice::tcp
