#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "dataplane/tcp/model_ack.hpp"
#include "dataplane/units/rate.hpp"

namespace sluice::tcp {

/// Limits that losses set in BBR 3 (draft-ietf-ccwg-bbr-06 section 5.5.10). Probing for bandwidth finds the long-term
/// limit of the bytes in flight. Losses outside of probing set the short-term limits of bytes in flight and bandwidth.
class LossBounds {
 public:
  static constexpr std::uint32_t unbounded = UINT32_MAX;
  static constexpr double beta = 0.7;  ///< BBR.Beta: a reduction leaves at least this share of a limit
  /// BBR.Headroom: share of the long-term bound of bytes in flight that is left to other flows.
  static constexpr double headroom = 0.15;

  /// Records a loss; returns true if it is the first of this round trip. `delivered` is the total of bytes delivered,
  /// DeliveryRate::delivered().
  bool record_loss(std::uint32_t delivered);
  /// Adds a delivery-rate sample (UpdateLatestDeliverySignals()). `delivered` is DeliveryRate::delivered().
  /// round_started() then states whether a round began with this sample.
  void begin(const RateSample& sample, std::uint32_t delivered);
  /// Reduces each short-term limit to 70 % (beta) at the end of a round with losses (UpdateCongestionSignals()). No
  /// limit falls below what was delivered in that round. Limits without a value start from `bandwidth` and `cwnd`.
  /// While `probing` is true, nothing is reduced.
  void adapt(bool probing, Rate bandwidth, std::uint32_t cwnd);
  /// If a round begins with `sample`, sets the maxima of delivery rate and delivered bytes to those of `sample`
  /// (AdvanceLatestDeliverySignals()).
  void end(const RateSample& sample);

  /// Clears what was recorded in this round: losses, and the maxima of delivery rate and delivered bytes
  /// (ResetCongestionSignals()). forget_short_term() clears the short-term limits (ResetShortTermModel()).
  void forget_signals();
  void forget_short_term();

  /// Raises the long-term bound of the bytes in flight to `bytes`, with which no excess losses occurred.
  void raise_longterm(std::uint32_t bytes) {
    if (inflight_longterm_ != unbounded) inflight_longterm_ = std::max(inflight_longterm_, bytes);
  }
  void set_longterm(std::uint32_t bytes) { inflight_longterm_ = bytes; }

  /// Saves all bounds (SaveStateUponLoss()). undo() restores each bound that has decreased since then.
  void save();
  void undo();

  /// True if the last delivery-rate sample began a new round trip over which losses are counted (BBR.loss_round_start).
  [[nodiscard]] bool round_started() const { return round_started_; }
  [[nodiscard]] std::uint32_t inflight_longterm() const { return inflight_longterm_; }
  [[nodiscard]] std::uint32_t inflight_shortterm() const { return inflight_shortterm_; }
  [[nodiscard]] Rate bandwidth_shortterm() const { return bandwidth_shortterm_; }
  /// Returns the maximum bytes delivered in a delivery-rate sample of this round trip.
  [[nodiscard]] std::uint32_t inflight_latest() const { return inflight_latest_; }
  /// Returns the long-term bound of the bytes in flight, less the headroom left to other flows
  /// (InflightWithHeadroom()). The headroom is at least one segment of `mss` bytes, and the result at least `least`.
  /// Without a long-term bound the result is unlimited.
  [[nodiscard]] std::uint32_t with_headroom(std::uint32_t mss, std::uint32_t least) const;

 private:
  static constexpr Rate unlimited = Rate::bytes_per_second(std::numeric_limits<double>::infinity());

  Rate bandwidth_shortterm_ = unlimited;
  Rate bandwidth_latest_;  ///< maximum delivery rate of this round
  Rate saved_bandwidth_ = unlimited;
  std::uint32_t inflight_longterm_ = unbounded;
  std::uint32_t inflight_shortterm_ = unbounded;
  std::uint32_t inflight_latest_ = 0;
  std::uint32_t saved_longterm_ = unbounded;
  std::uint32_t saved_shortterm_ = unbounded;
  /// Value of DeliveryRate::delivered() that ends the round trip over which losses are counted.
  std::uint32_t round_end_ = 0;
  bool round_started_ = false;
  bool loss_in_round_ = false;
};

}  // namespace sluice::tcp
