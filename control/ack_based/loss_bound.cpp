// Bound of losses on the bytes in flight to one UE. DelayBasedController calls on_acknowledged() for each ACK and
// bound_at() for each window. Invariant: the bound is below the floor only during a trial, or if a trial loses more
// than random loss can be. Losses that no window of this sender causes therefore do not starve a UE.
#include "control/ack_based/loss_bound.hpp"

#include <algorithm>
#include <cmath>

#include "control/ack_based/seconds.hpp"
#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

/// Share of the bytes in flight to which losses lower the bound: CUBIC's multiplicative decrease factor (RFC 9438
/// section 4.6).
constexpr double beta = 0.7;
/// Constant C of CUBIC in segments/s³, which determines how fast the bound grows again (RFC 9438 section 5.1).
constexpr double cubic_c = 0.4;
/// Number of segments that may be lost beyond the tolerated loss before the bound on the bytes in flight is lowered.
constexpr double excess_segments = 1;
/// Factor of the path's random loss (a share of all bytes, 0 … 1). The product is a number of segments that is added to
/// `excess_segments`, because random losses come at uneven distances.
constexpr double excess_per_random_loss = 500;
/// Share of all bytes that may be lost on any path without an effect on the bound.
constexpr double tolerated = 0.0005;
/// Factor of the path's random loss (a share of all bytes, 0 … 1). The product is the share of bytes that may be lost
/// in addition to `tolerated`.
constexpr double tolerated_random_loss = 2.5;
/// Largest share of all bytes that may be lost in addition to `tolerated`, however large the path's random loss is.
constexpr double max_tolerated = 0.06;
/// Factor of rate × base delay (RTT without a queue) in the floor (lowest value) of the loss bound. It is above 1, so
/// that the rate can still grow.
constexpr double reserve = 1.05;
/// Largest factor by which the base delay (RTT without a queue) in the floor (lowest value of the bound) may grow per
/// round trip. Cross traffic may make the measured base delay too long.
constexpr double base_delay_growth = 1.05;
/// Multiple of the floor (lowest value of the bound). If losses continue with at most this in flight, a trial begins.
/// The trial tests with 0.8 of the floor in flight whether losses continue without a queue.
constexpr double near_floor = 1.1;
/// Share of the floor (lowest value of the bound) that may be in flight during a trial, which tests whether losses
/// continue without a queue.
constexpr double trial = 0.8;
/// A trial tests with 0.8 of the floor (lowest value of the bound) in flight whether losses continue. A round of it
/// counts as free of a queue if at most this share of the floor was in flight.
constexpr double clear = 0.9;
/// Number of segments over which the path's random loss is averaged. Random loss is measured in trials (rounds with 0.8
/// of the floor in flight, so that no queue exists).
constexpr double random_loss_memory = 500;
/// Multiple of the mean number of bytes between two random losses. If no loss occurs within it, the estimate of random
/// loss is halved. By chance only one of 3000 distances is as long.
constexpr double absent_losses = 8;
/// Number of delivered segments without loss that are added to the result of each trial (rounds with 0.8 of the floor
/// in flight). In a short trial a few losses would otherwise give too large an estimate of random loss.
constexpr double min_trial = 50;
/// Largest share of lost bytes that counts as random loss of the path. A path that loses more is overloaded.
constexpr double max_random_loss = 0.05;

double as_double(Bytes bytes) {
  return static_cast<double>(bytes.count());
}

}  // namespace

/// True if more bytes were lost than are tolerated, so that the bound must be lowered.
bool LossBound::is_excessive() const {
  return excess_ > segment_ * (excess_segments + excess_per_random_loss * random_loss_);
}

bool LossBound::on_acknowledged(const Sample& sample) {
  const Bytes gone = sample.delivered + sample.lost;
  sent_ += gone;
  lost_ += sample.lost;
  max_in_flight_ = greater(max_in_flight_, sample.in_flight + gone);
  round_left_ -= gone;
  if (round_left_ > Bytes{} || sent_ <= Bytes{}) [[likely]]
    return false;
  measure_path(sample);
  const bool lowered = sample.base_delay > Duration::zero() && end_round(sample);
  round_began_ = sample.now;
  round_left_ = sample.in_flight;
  sent_ = lost_ = max_in_flight_ = Bytes{};
  return lowered;
}

/// Measures the path's rate and base delay (RTT without a queue) over a whole round trip, because bursts of ACKs
/// falsify a shorter measurement. The base delay rises by at most 5 % per round trip, because cross traffic may keep
/// the queue full.
void LossBound::measure_path(const Sample& sample) {
  earlier_rate_ = rate_;
  const double base_delay = in_seconds(sample.base_delay);
  base_delay_ = base_delay_ > 0 ? lesser(base_delay, base_delay_ * base_delay_growth) : base_delay;
  if (sample.now > round_began_) rate_ = as_double(sent_ - lost_) / in_seconds(sample.now - round_began_);
}

/// Returns the floor (lowest value) of the loss bound: the bytes that fill the path without a queue. It is 1.05 · rate
/// · base delay (RTT without a queue), plus `beyond_bdp`, the further bytes that keep the link busy.
double LossBound::floor(double beyond_bdp) const {
  const double bdp = greater(rate_, earlier_rate_) * base_delay_;
  return reserve * bdp + beyond_bdp;
}

/// Estimates the path's random loss from the losses of the last round if no queue existed in it (`is_clear` is true).
/// Halves the estimate if no loss has occurred within eight times the mean distance between two random losses.
void LossBound::measure_random_loss(bool is_clear) {
  const double sent = as_double(sent_);
  const double lost = as_double(lost_);
  if (is_clear) {
    measured_bytes_ += sent;
    measured_lost_ += lost;
    random_loss_ += (lost / sent - random_loss_) * sent / (sent + random_loss_memory * segment_);
    random_loss_ = lesser(random_loss_, max_random_loss);
  } else if (trial_floor_ <= 0) {
    measured_bytes_ = lost > 0 ? 0 : measured_bytes_ + sent;
    if (measured_bytes_ * random_loss_ < absent_losses * segment_) return;
    random_loss_ /= 2;
    measured_bytes_ = 0;
  }
}

/// Evaluates a round (the time in which all bytes in flight at its start are delivered or lost). Returns true if its
/// losses have lowered the bound.
bool LossBound::end_round(const Sample& sample) {
  // Mostly no loss has ever set a bound, and this round has none. There is nothing to evaluate then.
  if (!is_set() && !may_lower(Bytes{})) [[likely]]
    return false;
  if (predates_reduction_) {
    predates_reduction_ = false;
    return false;
  }
  const double most = as_double(max_in_flight_);
  const bool is_clear = trial_floor_ > 0 && most <= clear * trial_floor_;
  if (!is_clear && in_seconds(sample.now - lowered_at_) >= cubic_k_) trial_floor_ = 0;
  measure_random_loss(is_clear);
  const double share = lesser(tolerated_random_loss * random_loss_, max_tolerated);
  excess_ = greater(0.0, excess_ + as_double(lost_) - (tolerated + share) * as_double(sent_));
  if (!is_excessive()) return false;
  if (is_clear) return end_trial(sample);
  const double floor = this->floor(sample.beyond_bdp);
  if (most <= near_floor * floor) {
    trial_floor_ = floor;
    lower(sample, trial * lesser(most, floor));
  } else {
    trial_floor_ = 0;
    lower(sample, greater(beta * most, floor));
  }
  return true;
}

/// Evaluates a trial (rounds with 0.8 of the floor in flight, so that no queue exists) in which losses continued. If at
/// most `max_random_loss` was lost, the losses count as random, and the bound returns from 0.8 of its floor to its
/// floor. If more was lost, the bound is 0.8 of the bytes in flight, which may be below the floor. Returns true in that
/// case.
bool LossBound::end_trial(const Sample& sample) {
  const double share = measured_lost_ / (measured_bytes_ + min_trial * segment_);
  random_loss_ = lesser(greater(random_loss_, share), max_random_loss);
  if (share > max_random_loss) {
    lower(sample, trial * as_double(max_in_flight_));
    return true;
  }
  trial_floor_ = excess_ = 0;
  return false;
}

/// Sets the bound to `level` bytes. From there it grows by CUBIC's function, whose W_max is the largest number of bytes
/// in flight of this round.
void LossBound::lower(const Sample& sample, double level) {
  w_max_ = as_double(max_in_flight_);
  cubic_k_ = std::cbrt(greater(w_max_ - level, 0.0) / segment_ / cubic_c);
  lowered_at_ = sample.now;
  excess_ = measured_bytes_ = measured_lost_ = 0;
  predates_reduction_ = true;
}

double LossBound::bound_at(Instant now, double beyond_bdp) const {
  if (!is_set()) return unbounded;
  const double since = in_seconds(now - lowered_at_) - cubic_k_;
  const double cubic = w_max_ + cubic_c * segment_ * since * since * since;
  const double share = trial_floor_ > 0 && since < 0 ? trial : 1;
  return greater(cubic, share * floor(beyond_bdp));
}

void LossBound::forget() {
  *this = LossBound(segment_);
}

}  // namespace sluice::control
