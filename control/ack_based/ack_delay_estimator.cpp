#include "control/ack_based/ack_delay_estimator.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Mean lateness from which on the uplink is taken for one that makes acknowledgements wait: timestamps are that exact.
constexpr Duration notable_late = milliseconds(2);
/// An upload of the same UE may fill a modem's buffer, which is what acknowledgements wait behind.
constexpr Duration longest_late = seconds(1);
constexpr Duration late_memory = milliseconds(500);
/// The newest lateness holds for so long; the greatest is forgotten when so much was heard of which it is unknown, and
/// a silence is nothing heard.
constexpr Duration late_known_for = seconds(1);

}  // namespace

Duration AckDelayEstimator::take_out(const AckSample& ack_sample, Duration since, const DeliveryEstimator& delivery) {
  if (ack_sample.ack_delay < Duration::zero()) {
    unknown_for_ += std::min(since, longest_listening);
    if (unknown_for_ > late_known_for) max_ack_delay_ = Duration::zero();
    if (ack_sample.now - newest_at_ > late_known_for) newest_ = Duration::zero();
    // On a connection that has just begun: as late as the others, about, and by how much the round trip is longer is
    // not known.
    return newest_ > Duration::zero() ? Duration::zero() : ack_sample.round_trip;
  }
  newest_ = std::min(ack_sample.ack_delay, longest_late);
  newest_at_ = ack_sample.now;
  unknown_for_ = Duration::zero();
  usual_ += (newest_ - usual_) / 32;
  if (newest_ > Duration::zero() || max_ack_delay_ > Duration::zero()) record_max(ack_sample, since, delivery);
  // A clock that was set back makes an acknowledgement later than it can be.
  return std::max(ack_sample.round_trip - ack_sample.ack_delay, Duration::zero());
}

/// Meanwhile no more has come than was in flight: beyond that the link stood still as well.
void AckDelayEstimator::record_max(const AckSample& ack_sample, Duration since, const DeliveryEstimator& delivery) {
  const Duration most =
      delivery.has_sample() ? delivery.rate().time_for(ack_sample.in_flight + ack_sample.delivered) : longest_late;
  const Duration passed = std::min(since, late_memory);
  max_ack_delay_ -= from_seconds(to_seconds(max_ack_delay_) * to_seconds(passed) / to_seconds(late_memory));
  max_ack_delay_ = std::max(max_ack_delay_, std::min(newest_, most));
}

bool AckDelayEstimator::is_known() const {
  return unknown_for_ <= late_known_for;
}

bool AckDelayEstimator::is_notable() const {
  return usual_ >= notable_late && is_known();
}

}  // namespace sluice::control
