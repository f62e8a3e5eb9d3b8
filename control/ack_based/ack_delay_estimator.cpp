#include "control/ack_based/ack_delay_estimator.hpp"

#include <algorithm>

#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Smallest mean ACK delay (time that an ACK waits for the uplink) with which the uplink counts as delaying ACKs. TCP
/// timestamps, whose tick is 1 ms, do not resolve shorter delays.
constexpr Duration min_significant_ack_delay = milliseconds(2);
/// Upper limit of an estimated ACK delay (time that an ACK waits for the uplink); a longer estimate counts as this
/// value. Behind an upload in the UE's modem, an ACK can wait for about this time.
constexpr Duration ack_delay_limit = seconds(1);
/// Time constant with which AckDelayEstimator::max(), the greatest recent ACK delay, decays. An old delay does not
/// describe the present uplink.
constexpr Duration max_ack_delay_decay_time = milliseconds(500);
/// Time for which an ACK delay (wait for the uplink) stays valid after the last ACK with a usable timestamp. For max()
/// and is_known(), each gap between two ACKs adds at most 100 ms, because a longer gap may be an outage.
constexpr Duration ack_delay_valid_for = seconds(1);

}  // namespace

Duration AckDelayEstimator::adjust_rtt(const AckSample& ack_sample, Duration since, const DeliveryEstimator& delivery) {
  if (ack_sample.ack_delay < Duration::zero()) [[unlikely]] {
    unknown_for_ += lesser(since, max_observed_gap);
    if (unknown_for_ > ack_delay_valid_for) max_ack_delay_ = Duration::zero();
    if (ack_sample.now - newest_at_ > ack_delay_valid_for) newest_ = Duration::zero();
    // A new connection has no clock estimate yet. If the ACKs of others are delayed its own are, too, so its round trip
    // contains an unknown delay.
    return newest_ > Duration::zero() ? Duration::zero() : ack_sample.round_trip;
  }
  newest_ = lesser(ack_sample.ack_delay, ack_delay_limit);
  newest_at_ = ack_sample.now;
  unknown_for_ = Duration::zero();
  mean_ += (newest_ - mean_) / 32;
  if (newest_ > Duration::zero() || max_ack_delay_ > Duration::zero()) record_max(ack_sample, since, delivery);
  // The difference may be negative, because a clock that was set back shows an impossible delay.
  return greater(ack_sample.round_trip - ack_sample.ack_delay, Duration::zero());
}

/// Lets the greatest recent ACK delay decay over `since`, the time since the previous sample. Raises it to the newest
/// ACK delay if that is greater. The newest delay counts as at most the time in which the link transmits all bytes in
/// flight. A longer delay contains a stall of the link.
void AckDelayEstimator::record_max(const AckSample& ack_sample, Duration since, const DeliveryEstimator& delivery) {
  constexpr double per_decay_time = 1 / static_cast<double>(max_ack_delay_decay_time.count());
  const auto passed = static_cast<double>(lesser(since, max_ack_delay_decay_time).count());
  const double decayed = static_cast<double>(max_ack_delay_.count()) * (passed * per_decay_time);
  max_ack_delay_ -= Duration(static_cast<Duration::rep>(decayed));
  if (newest_ <= max_ack_delay_) return;
  const Duration limit =
      delivery.has_sample() ? delivery.rate().time_for(ack_sample.in_flight + ack_sample.delivered) : ack_delay_limit;
  max_ack_delay_ = greater(max_ack_delay_, lesser(newest_, limit));
}

bool AckDelayEstimator::is_known() const {
  return unknown_for_ <= ack_delay_valid_for;
}

bool AckDelayEstimator::is_significant() const {
  return mean_ >= min_significant_ack_delay && is_known();
}

}  // namespace sluice::control
