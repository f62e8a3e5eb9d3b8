#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "dataplane/tcp/model_ack.hpp"
#include "dataplane/tcp/round_count.hpp"
#include "dataplane/units/rate.hpp"

// Measurements of BBR 3 that do not depend on losses. Section numbers are those of draft-ietf-ccwg-bbr-06.

namespace sluice::tcp {

/// Maximum delivery rate of the current and the last cycle of bandwidth probing (BBR.max_bw, draft-ietf-ccwg-bbr-06
/// sections 5.5.3 to 5.5.6).
class CycleMaximum {
 public:
  void record(Rate rate) { of_[1] = std::max(of_[1], rate); }
  /// Ends a cycle of bandwidth probing. If the cycle had no sample, the maximum of the last cycle stays in use.
  void advance() {
    if (of_[1] == Rate()) return;
    of_ = {of_[1], Rate()};
  }
  [[nodiscard]] Rate value() const { return std::max(of_[0], of_[1]); }

 private:
  std::array<Rate, 2> of_{};
};

/// Detector of a full pipe: the delivery rate has not grown by 25 % in three rounds (draft-ietf-ccwg-bbr-06 section
/// 5.3.1.2).
class FullPipe {
 public:
  /// Restarts the detection. From now on, growth of the delivery rate is measured against `rate`.
  void restart(Rate rate = Rate()) {
    rate_ = rate;
    rounds_ = 0;
    full_ = false;
  }
  /// Takes the delivery rate of a round. Called once per round, unless the first sample of the round is
  /// application-limited.
  void record(Rate rate) {
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

/// Minimum RTT of the last ten seconds, and the schedule of the probes that measure it (BBR.min_rtt,
/// draft-ietf-ccwg-bbr-06 sections 5.3.4.3 and 5.5.7). A second minimum covers the last five seconds and refreshes the
/// first. When the second minimum expires, a probe is due.
class MinRttFilter {
 public:
  static constexpr Duration unknown = Duration::max();

  /// Resets the state for a new connection. `srtt` is zero while the round-trip time is unknown.
  void begin(Duration srtt, Instant now) {
    *this = MinRttFilter();
    if (srtt > Duration::zero()) value_ = srtt;
    at_ = probe_at_ = now;
  }
  /// Sets the minimum to the smoothed RTT if no minimum is known yet. The caller then sets the times with restart().
  void seed(Duration srtt) {
    if (value_ == unknown) value_ = srtt;
  }
  void restart(Instant now) { at_ = probe_at_ = now; }
  /// Takes an RTT sample; `rtt` is negative if there is none.
  void record(Duration rtt, Instant now) {
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
  /// Records the end of a probe of the minimum RTT. The next probe is due one interval later.
  void probed(Instant now) { probe_at_ = now; }

  [[nodiscard]] Duration value() const { return value_; }
  [[nodiscard]] bool known() const { return value_ != unknown; }
  /// True if a probe of the minimum RTT is due.
  [[nodiscard]] bool expired() const { return expired_; }

 private:
  /// Time between probes of the minimum RTT (BBR.ProbeRTTInterval).
  static constexpr Duration probe_interval = std::chrono::seconds(5);
  /// Time for which a minimum RTT is valid (BBR.MinRTTFilterLen).
  static constexpr Duration valid_for = std::chrono::seconds(10);

  Duration value_ = unknown;
  Duration probe_value_ = unknown;
  Instant at_{};
  Instant probe_at_{};
  bool expired_ = false;
};

/// Maximum number of bytes that ACKs deliver beyond bandwidth times elapsed time (BBR.extra_acked,
/// draft-ietf-ccwg-bbr-06 section 5.5.9). The maximum covers ten rounds, or one round until the pipe was full for the
/// first time.
class AckAggregation {
 public:
  void restart(Instant now) {
    begun_ = now;
    delivered_ = 0;
  }
  void record(const ModelAck& ack, Rate bandwidth, std::uint32_t cwnd, std::uint32_t round) {
    const auto expected = [&] { return bandwidth.bytes_per_second() * to_seconds(ack.now - begun_); };
    if (delivered_ <= expected()) restart(ack.now);
    delivered_ += ack.sample.newly;
    extra_.record(round, std::clamp(delivered_ - expected(), 0.0, static_cast<double>(cwnd)));
  }
  [[nodiscard]] double value(bool was_full) const { return was_full ? extra_.value() : extra_.newest(); }

 private:
  RoundMaximum extra_;  ///< maximum of the bytes that ACKs delivered beyond the expected number
  Instant begun_{};
  /// Bytes delivered since begun_, the last time at which ACKs had delivered no more than bandwidth times elapsed time.
  double delivered_ = 0;
};

}  // namespace sluice::tcp
