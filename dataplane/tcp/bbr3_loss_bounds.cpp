#include "dataplane/tcp/bbr3_loss_bounds.hpp"

namespace sluice::tcp {
namespace {

std::uint32_t share(double factor, std::uint32_t bytes) {
  return static_cast<std::uint32_t>(factor * bytes);
}

}  // namespace

bool LossBounds::record_loss(std::uint32_t delivered) {
  const bool first = !loss_in_round_;
  if (first) round_end_ = delivered;
  loss_in_round_ = true;
  return first;
}

void LossBounds::begin(const RateSample& sample, std::uint32_t delivered) {
  round_started_ = false;
  if (!sample.valid()) return;
  bandwidth_latest_ = std::max(bandwidth_latest_, sample.rate());
  inflight_latest_ = std::max(inflight_latest_, sample.delivered);
  if (static_cast<std::int32_t>(sample.prior_delivered - round_end_) < 0) return;
  round_end_ = delivered;
  round_started_ = true;
}

// Implements AdaptLowerBoundsFromCongestion(), InitLowerBounds() and LossLowerBounds() of the draft.
void LossBounds::adapt(bool probing, Rate bandwidth, std::uint32_t cwnd) {
  if (!round_started_) return;
  if (loss_in_round_ && !probing) {
    if (bandwidth_shortterm_ == unlimited) bandwidth_shortterm_ = bandwidth;
    if (inflight_shortterm_ == unbounded) inflight_shortterm_ = cwnd;
    bandwidth_shortterm_ = std::max(bandwidth_latest_, bandwidth_shortterm_ * beta);
    inflight_shortterm_ = std::max(inflight_latest_, share(beta, inflight_shortterm_));
  }
  loss_in_round_ = false;
}

void LossBounds::end(const RateSample& sample) {
  if (!round_started_) return;
  bandwidth_latest_ = sample.rate();
  inflight_latest_ = sample.delivered;
}

void LossBounds::forget_signals() {
  loss_in_round_ = false;
  bandwidth_latest_ = Rate();
  inflight_latest_ = 0;
}

void LossBounds::forget_short_term() {
  bandwidth_shortterm_ = unlimited;
  inflight_shortterm_ = unbounded;
}

void LossBounds::save() {
  saved_bandwidth_ = bandwidth_shortterm_;
  saved_shortterm_ = inflight_shortterm_;
  saved_longterm_ = inflight_longterm_;
}

// Restores the saved bounds (section 5.5.11.2).
void LossBounds::undo() {
  loss_in_round_ = false;
  bandwidth_shortterm_ = std::max(bandwidth_shortterm_, saved_bandwidth_);
  inflight_shortterm_ = std::max(inflight_shortterm_, saved_shortterm_);
  inflight_longterm_ = std::max(inflight_longterm_, saved_longterm_);
}

std::uint32_t LossBounds::with_headroom(std::uint32_t mss, std::uint32_t least) const {
  if (inflight_longterm_ == unbounded) return unbounded;
  const std::uint32_t left = std::max(mss, share(headroom, inflight_longterm_));
  return std::max(inflight_longterm_ - std::min(inflight_longterm_, left), least);
}

}  // namespace sluice::tcp
