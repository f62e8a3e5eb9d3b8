#include "control/loss_bound.hpp"

#include <algorithm>
#include <cmath>

// AckClockedWindow calls on_acknowledged() for each acknowledgement and at() for each window. Invariant: the bound is
// not below the floor (what fills the path without a queue) unless a tenth and more is lost there, too, so losses that
// no window of this sender causes do not starve a UE.

namespace sluice::control {
namespace {

/// Multiplicative decrease and C of CUBIC (RFC 9438 sections 4.6 and 5.1).
constexpr double beta = 0.7;
constexpr double cubic_c = 0.4;
/// Segments by which the bound grows in a round, as Reno would (RFC 9438 section 4.3), until it is where it was
/// lowered. On slow links CUBIC's function takes longer.
constexpr double reno_growth = 3 * (1 - beta) / (1 + beta);
constexpr double least_round = 0.001;  // s
/// One segment and this share of a round may be lost on any path: a round of a slow link has ten segments.
constexpr double tolerated = 0.005;
/// A round that loses this share and so many segments lowers the bound at once.
constexpr double severe_share = 0.1;
constexpr double severe_segments = 8;
constexpr std::uint8_t enough_rounds = 2;
/// Random losses exceed their mean by three standard deviations in one of 700 rounds.
constexpr double deviations = 3;
/// The floor is so many times rate times base delay, so that the rate can still grow.
constexpr double reserve = 1.05;
/// The base delay of the floor rises by no more than this factor in a round.
constexpr double base_delay_growth = 1.05;
/// Up to this multiple of the floor in flight, losses are not those of a queue that this sender fills.
constexpr double near_floor = 1.1;
/// The mean of random loss is over about this many segments.
constexpr double random_loss_memory = 500;
/// A path that loses more is overloaded, by whomever.
constexpr double most_random_loss = 0.05;
/// Severe losses at the floor lower it by beta; each round without excessive losses raises it by this.
constexpr double floor_growth = 1.1;

}  // namespace

bool LossBound::is_excessive() const {
  const double expected = random_loss_ * sent_;
  return lost_ > segment_ + expected + deviations * std::sqrt(expected * segment_) + tolerated * sent_;
}

bool LossBound::is_severe() const {
  return lost_ >= severe_segments * segment_ && lost_ > severe_share * sent_;
}

bool LossBound::on_acknowledged(const Sample& sample) {
  const double gone = sample.delivered + sample.lost;
  sent_ += gone;
  lost_ += sample.lost;
  peak_ = std::max(peak_, sample.in_flight + gone);
  round_left_ -= gone;
  if (round_left_ > 0 || sent_ <= 0) return false;
  measure_path(sample);
  const bool lowered = sample.base_delay > Duration::zero() && end_round(sample);
  round_began_ = sample.now;
  round_left_ = sample.in_flight;
  sent_ = lost_ = peak_ = 0;
  return lowered;
}

/// A rate over a whole round is the same whether the sender's segments come evenly or in bursts. A base delay that
/// rises may be a queue that others keep full, so the floor follows it slowly.
void LossBound::measure_path(const Sample& sample) {
  earlier_rate_ = rate_;
  const double base_delay = to_seconds(sample.base_delay);
  base_delay_ = base_delay_ > 0 ? std::min(base_delay, base_delay_ * base_delay_growth) : base_delay;
  if (sample.now > round_began_) rate_ = (sent_ - lost_) / to_seconds(sample.now - round_began_);
}

double LossBound::floor(double beside) const {
  const double pipe = std::max(rate_, earlier_rate_) * base_delay_;
  return floor_share_ * (reserve * pipe + beside);
}

bool LossBound::end_round(const Sample& sample) {
  if (sent_before_) {
    sent_before_ = false;
    return false;
  }
  const bool excessive = is_excessive();
  const bool at_floor = peak_ <= near_floor * floor(sample.beside);
  if (at_floor || (!excessive && lost_ < random_loss_ * sent_)) {
    random_loss_ += (lost_ / sent_ - random_loss_) * sent_ / (sent_ + random_loss_memory * segment_);
    random_loss_ = std::min(random_loss_, most_random_loss);
  }
  if (!excessive) floor_share_ = std::min(floor_share_ * floor_growth, 1.0);
  excessive_rounds_ = excessive ? static_cast<std::uint8_t>(excessive_rounds_ + 1) : std::uint8_t{0};
  const bool severe = is_severe();
  if (!excessive || (excessive_rounds_ < enough_rounds && !severe) || (at_floor && !severe)) return false;
  if (at_floor) floor_share_ *= beta;
  lower(sample);
  return true;
}

void LossBound::lower(const Sample& sample) {
  most_ = peak_;
  const double now = std::max(beta * most_, floor(sample.beside));
  reached_after_ = std::cbrt(std::max(most_ - now, 0.0) / segment_ / cubic_c);
  lowered_at_ = sample.now;
  excessive_rounds_ = 0;
  sent_before_ = true;
}

double LossBound::at(Instant now, double beside) const {
  if (!is_set()) return unbounded;
  const double since = to_seconds(now - lowered_at_) - reached_after_;
  const double cubic = most_ + cubic_c * segment_ * since * since * since;
  const double rounds = to_seconds(now - lowered_at_) / std::max(base_delay_, least_round);
  const double reno = std::min((beta * most_) + reno_growth * segment_ * rounds, most_);
  return std::max({cubic, reno, floor(beside)});
}

void LossBound::forget() {
  *this = LossBound(segment_);
}

}  // namespace sluice::control
