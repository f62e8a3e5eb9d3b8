#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "dataplane/tcp/model_ack.hpp"
#include "dataplane/units/rate.hpp"

namespace sluice::tcp {

/// What losses say of a path, for BBR 3 (draft-ietf-ccwg-bbr-06 section 5.5.10): how much may be in flight in the long
/// term, found while probing, and how much and how fast in the short term, since losses came while not probing.
class LossBounds {
 public:
  static constexpr std::uint32_t unbounded = UINT32_MAX;
  static constexpr double beta = 0.7;       ///< BBR.Beta: no bound falls to less than this share at once
  static constexpr double headroom = 0.15;  ///< BBR.Headroom

  /// Something was taken for lost; true when it is the first of this round.
  bool note_loss(std::uint32_t delivered);
  /// UpdateLatestDeliverySignals(): takes a sample; see round_started().
  void begin(const RateSample& sample, std::uint32_t delivered);
  /// UpdateCongestionSignals(): at the end of a round, not while probing, the short-term bounds follow what was
  /// delivered in it if anything was lost. `bandwidth` and `cwnd` are where they begin.
  void adapt(bool probing, Rate bandwidth, std::uint32_t cwnd);
  /// AdvanceLatestDeliverySignals().
  void end(const RateSample& sample);

  /// ResetCongestionSignals(), ResetShortTermModel().
  void forget_signals();
  void forget_short_term();

  /// More than the long-term bound was in flight, and no more was lost than is tolerated.
  void raise_longterm(std::uint32_t bytes) {
    if (inflight_longterm_ != unbounded) inflight_longterm_ = std::max(inflight_longterm_, bytes);
  }
  void set_longterm(std::uint32_t bytes) { inflight_longterm_ = bytes; }

  /// SaveStateUponLoss(); undo() brings all bounds back to what they were then, at least.
  void save();
  void undo();

  /// A round of losses has begun with this sample.
  [[nodiscard]] bool round_started() const { return round_started_; }
  [[nodiscard]] std::uint32_t inflight_longterm() const { return inflight_longterm_; }
  [[nodiscard]] std::uint32_t inflight_shortterm() const { return inflight_shortterm_; }
  [[nodiscard]] Rate bandwidth_shortterm() const { return bandwidth_shortterm_; }
  /// The largest amount delivered in a sample of this round.
  [[nodiscard]] std::uint32_t inflight_latest() const { return inflight_latest_; }
  /// InflightWithHeadroom(): the long-term bound less what is left to others.
  [[nodiscard]] std::uint32_t with_headroom(std::uint32_t mss, std::uint32_t least) const;

 private:
  static constexpr Rate unlimited = Rate::bytes_per_second(std::numeric_limits<double>::infinity());

  Rate bandwidth_shortterm_ = unlimited;
  Rate bandwidth_latest_;  ///< largest of this round
  Rate saved_bandwidth_ = unlimited;
  std::uint32_t inflight_longterm_ = unbounded;
  std::uint32_t inflight_shortterm_ = unbounded;
  std::uint32_t inflight_latest_ = 0;
  std::uint32_t saved_longterm_ = unbounded;
  std::uint32_t saved_shortterm_ = unbounded;
  std::uint32_t round_end_ = 0;  ///< value of delivered() that ends the round of losses
  bool round_started_ = false;
  bool loss_in_round_ = false;
};

}  // namespace sluice::tcp
