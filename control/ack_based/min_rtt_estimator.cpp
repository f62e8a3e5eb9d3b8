#include "control/ack_based/min_rtt_estimator.hpp"

#include <algorithm>
#include <utility>

namespace sluice::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A routine drain begins at a multiple of the slot, or with the first acknowledgement after it that comes within
/// `slot_begin` or two base delays.
constexpr Duration slot = seconds(5);
constexpr Duration slot_begin = milliseconds(300);
/// A drain that follows up another one begins at a multiple of this, for all who share the queue alike.
constexpr Duration short_slot = milliseconds(500);
/// If no round trip has come near the base delay for this time, every slot has a routine drain.
constexpr Duration believed_for = seconds(5);
/// Otherwise at least one slot in so many has one.
constexpr std::uint8_t max_slots = 8;
/// Drains that are farther apart do not confirm each other.
constexpr Duration longer_for = 2 * slot + seconds(1);
/// After so long without a round trip as it is to be nothing that was known is believed.
constexpr Duration hopeless_after = seconds(20);
/// The wait after a drain that was asked for and found nothing doubles up to this.
constexpr Duration longest_doubt_wait = seconds(8);
/// A drain that takes longer has met an outage, and is given up, but for the one after a start-up that may have filled
/// a slow link.
constexpr Duration longest_drain = seconds(1);
constexpr std::uint8_t enough_probes = 4;
/// If no other acknowledgement comes within this time, those that may have been delayed end the drain.
constexpr Duration longest_probing = milliseconds(200);
/// Linux delays an acknowledgement by 40 ms, and a timer's tick.
constexpr Duration longest_delay = milliseconds(50);

std::int64_t slot_of(Instant at) {
  return at.time_since_epoch() / slot;
}

/// The next multiple of a short slot after `at`.
Instant next_short_slot(Instant at) {
  return Instant{} + (at.time_since_epoch() / short_slot + 1) * short_slot;
}

/// A drain that began then is one that all who share the queue may have made.
bool is_common(Instant began, Duration base) {
  return began.time_since_epoch() % slot <= std::max(slot_begin, 2 * base);
}

}  // namespace

Duration MinRttEstimator::nearby() const {
  return value_ + value_ / 8 + milliseconds(1);
}

bool MinRttEstimator::is_near(Duration round_trip) const {
  return round_trip <= nearby();
}

void MinRttEstimator::record(Duration round_trip) {
  value_ = known() ? std::min(value_, round_trip) : round_trip;
}

void MinRttEstimator::add_sample(Duration round_trip, Duration listened, Duration margin, Duration most) {
  far_for_ = round_trip <= nearby() + margin ? Duration::zero() : far_for_ + listened;
  if (round_trip <= most) {
    late_for_ = Duration::zero();
  } else {
    min_late_ = late_for_ <= Duration::zero() ? round_trip : std::min(min_late_, round_trip);
    late_for_ += std::max(listened, Duration(1));
  }
}

void MinRttEstimator::raise(Duration value) {
  shorter_ = value_;
  value_ = value;
  longer_ = Duration::zero();
  phase_ = Phase::none;
  every_ = 1;
  mark_fresh();
}

void MinRttEstimator::clamp(Duration excess) {
  value_ = std::max(shorter_, value_ - std::min(excess, value_));
  shorter_ = Duration::zero();
}

void MinRttEstimator::forget() {
  value_ = longer_ = shorter_ = Duration::zero();
  evidence_ = asked_ = false;
  again_at_ = never;
  every_ = 1;
}

std::optional<Duration> MinRttEstimator::forced_reset_value() const {
  if (late_for_ < hopeless_after) return std::nullopt;
  return min_late_;
}

bool MinRttEstimator::is_stale(Instant now) const {
  return known() && (unvalidated_ || now >= again_at_ || is_routine(now));
}

void MinRttEstimator::suspect(Instant now, Duration round_trip) {
  if (now < next_suspicion_) return;
  asked_ = true;
  evidence_ = false;
  longer_ = round_trip;
  again_at_ = longer_at_ = now;
}

/// A packet near the base delay does not confirm it where others' queue may be in it, so there are such drains even so.
bool MinRttEstimator::is_routine(Instant now) const {
  if (slot_of(drain_began_) == slot_of(now) || !is_common(now, value_)) return false;
  return far_for_ >= believed_for || slot_of(now) % every_ == 0;
}

void MinRttEstimator::begin_drain(Instant now, Duration trip) {
  phase_ = Phase::drain;
  others_gone_at_ = now + std::min(trip, longest_drain);
  drained_from_ = value_;
  again_at_ = never;
  drain_began_ = now;
  probes_ = 0;
  prompt_ = false;
  ++drains_;
}

bool MinRttEstimator::on_drained(const Probe& probe, double in_flight, Duration margin) {
  if (phase_ == Phase::drain) {
    if (static_cast<double>(probe.in_flight.count()) <= in_flight) {
      phase_ = Phase::probe_rtt;
      empty_at_ = probe.now;
      probed_ = Duration::zero();
    } else if (!unvalidated_ && probe.now - drain_began_ > longest_drain + 2 * value_) {
      cancel_drain();
      far_for_ = Duration::zero();
    }
    return false;
  }
  if (probe.round_trip > Duration::zero() && probe.now - probe.round_trip >= empty_at_) {
    probed_ = probed_ > Duration::zero() ? std::min(probed_, probe.round_trip) : probe.round_trip;
    prompt_ = prompt_ || !probe.may_be_delayed;
    if (!probe.may_be_delayed || !probe.is_alone || probe.round_trip <= nearby() + margin) {
      if (probes_ == 0) probed_at_ = probe.now;
      ++probes_;
    }
  }
  const bool enough = probes_ >= enough_probes || (probes_ > 0 && probe.now - probed_at_ >= probed_ / 2);
  if (!enough && (probed_ <= Duration::zero() || probe.now - empty_at_ < longest_probing + 2 * value_)) return false;
  if (probed_ > nearby() + margin && empty_at_ < others_gone_at_) {
    empty_at_ = std::max(probe.now, others_gone_at_);
    probed_ = Duration::zero();
    probes_ = 0;
    return false;
  }
  phase_ = Phase::none;
  return true;
}

/// A routine drain, after another one or after one that found what was suspected. Between routine drains others who
/// share the queue may fill it.
bool MinRttEstimator::is_confirmed_longer(Instant now) const {
  return prompt_ && evidence_ && now - longer_at_ <= longer_for && slot_of(longer_at_) < slot_of(drain_began_) &&
         is_common(drain_began_, value_);
}

MinRttEstimator::Finding MinRttEstimator::finish_probe(Instant now, Duration margin) {
  unvalidated_ = false;
  const bool asked = std::exchange(asked_, false);
  if (probed_ <= nearby() + margin) {
    value_ = std::min(probed_, nearby());
    // Some of what was too much may still have stood: one more, once the window is what the new delay makes it.
    far_for_ = Duration::zero();
    const bool shorter = value_ < drained_from_ * 7 / 8;
    again_at_ = shorter ? next_short_slot(now + 2 * drained_from_) : never;
    every_ = shorter ? std::uint8_t{1} : static_cast<std::uint8_t>(std::min(2 * every_, +max_slots));
    longer_ = Duration::zero();
    evidence_ = false;
    if (asked) next_suspicion_ = now + suspicion_wait_;
    suspicion_wait_ = asked && !shorter ? std::min(suspicion_wait_ * 2, longest_doubt_wait) : first_suspicion_wait;
    return Finding::confirmed;
  }
  if (asked) next_suspicion_ = now + slot;
  suspicion_wait_ = first_suspicion_wait;
  if (is_confirmed_longer(now)) {
    longer_ = std::min(probed_, longer_);
    return Finding::longer;
  }
  const Duration delayed = prompt_ ? Duration::zero() : longest_delay;
  const bool agrees = std::chrono::abs(probed_ - longer_) <= longer_ / 8 + margin + delayed;
  if (prompt_) {
    longer_ = probed_;
    longer_at_ = drain_began_;
    evidence_ = (asked && agrees) || is_common(drain_began_, value_);
  }
  return asked && agrees ? Finding::unmoved : Finding::unclear;
}

}  // namespace sluice::control
