#include "control/base_delay.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Without a packet near the base delay for so long the queue is drained.
constexpr Duration believed_for = seconds(5);
/// After so long without a round trip as it is to be nothing that was known is believed.
constexpr Duration hopeless_after = seconds(20);
/// The base delay is doubted when the rate is down to this share of what it was, and no packet was near it for …
constexpr double suspicious_share = 0.7;
constexpr Duration least_suspicion = milliseconds(500);
constexpr std::int64_t suspicious_round_trips = 8;
/// … but after doubts without cause not again for up to this.
constexpr Duration longest_doubt_wait = seconds(8);
/// A drain that takes longer has met an outage, and is given up, but for the one after a start-up that may have filled
/// a slow link.
constexpr Duration longest_drain = seconds(1);
constexpr std::uint8_t enough_probes = 4;

}  // namespace

Duration BaseDelay::nearby() const {
  return value_ + value_ / 8 + milliseconds(1);
}

bool BaseDelay::is_near(Duration round_trip) const {
  return round_trip <= nearby();
}

void BaseDelay::note(Duration round_trip) {
  value_ = known() ? std::min(value_, round_trip) : round_trip;
}

void BaseDelay::judge(Duration round_trip, Duration listened, Duration margin, Duration most) {
  far_for_ = round_trip <= nearby() + margin ? Duration::zero() : far_for_ + listened;
  if (round_trip <= most) {
    late_for_ = Duration::zero();
  } else {
    least_late_ = late_for_ <= Duration::zero() ? round_trip : std::min(least_late_, round_trip);
    late_for_ += std::max(listened, Duration(1));
  }
}

void BaseDelay::lengthen(Duration value) {
  shorter_ = value_;
  value_ = value;
  longer_ = Duration::zero();
  phase_ = Phase::none;
  believe();
}

void BaseDelay::settle(Duration excess) {
  value_ = std::max(shorter_, value_ - std::min(excess, value_));
  shorter_ = Duration::zero();
}

void BaseDelay::forget() {
  value_ = longer_ = shorter_ = Duration::zero();
}

std::optional<Duration> BaseDelay::beyond_hope() const {
  if (late_for_ < hopeless_after) return std::nullopt;
  return least_late_;
}

bool BaseDelay::is_doubted(Instant now, const DeliveryEstimator& delivery) const {
  if (!known() || !delivery.known()) return false;
  if (unproven_ || now >= again_at_) return true;
  if (far_for_ >= believed_for) return longer_ <= Duration::zero() || now >= next_doubt_;
  const bool slower = delivery.rate() < delivery.peak() * suspicious_share;
  return slower && now >= next_doubt_ && late_for_ >= std::max(least_suspicion, value_ * suspicious_round_trips);
}

void BaseDelay::begin_drain(Instant now) {
  phase_ = Phase::emptying;
  drained_from_ = value_;
  again_at_ = never;
  drain_began_ = now;
  probes_ = 0;
  ++drains_;
}

bool BaseDelay::on_drained(const Acknowledged& news, double under_way) {
  if (phase_ == Phase::emptying) {
    if (static_cast<double>(news.in_flight.count()) <= under_way) {
      phase_ = Phase::probing;
      drain_began_ = news.now;
    } else if (!unproven_ && news.now - drain_began_ > longest_drain + 2 * value_) {
      phase_ = Phase::none;
      far_for_ = Duration::zero();
    }
    return false;
  }
  if (news.round_trip > Duration::zero() && news.now - news.round_trip >= drain_began_) {
    probed_ = probes_ == 0 ? news.round_trip : std::min(probed_, news.round_trip);
    if (probes_ == 0) probed_at_ = news.now;
    ++probes_;
  }
  if (probes_ < enough_probes && (probes_ == 0 || news.now - probed_at_ < probed_ / 2)) return false;
  phase_ = Phase::none;
  return true;
}

std::optional<Duration> BaseDelay::conclude(Instant now, Duration margin) {
  unproven_ = false;
  if (probed_ <= nearby() + margin) {
    value_ = std::min(probed_, nearby());
    // Some of what was too much may still have stood: one more, once the window is what the new delay makes it.
    far_for_ = Duration::zero();
    const bool shorter = value_ < drained_from_ * 7 / 8;
    again_at_ = shorter ? now + 2 * drained_from_ : never;
    longer_ = Duration::zero();
    doubt_wait_ = shorter ? first_doubt_wait : std::min(doubt_wait_ * 2, longest_doubt_wait);
    next_doubt_ = now + doubt_wait_;
    return std::nullopt;
  }
  next_doubt_ = now + std::max(least_suspicion, probed_ * suspicious_round_trips);
  doubt_wait_ = first_doubt_wait;
  if (longer_ > Duration::zero() && now - longer_at_ <= 2 * believed_for) return std::min(probed_, longer_);
  longer_ = probed_;
  longer_at_ = now;
  far_for_ = std::max(far_for_, believed_for);
  return std::nullopt;
}

}  // namespace sluice::control
