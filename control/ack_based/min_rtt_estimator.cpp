// Base delay of a UE's path: minimum of round trips, and the drains that measure it again. DelayBasedController calls
// record() and add_sample() for each round trip, is_stale() for each ACK, and on_drained() during a drain.
// Invariant: a drain alone raises value() by an eighth plus 1 ms at most. A longer one is set by raise() only.
#include "control/ack_based/min_rtt_estimator.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Interval of routine drains. A drain empties the radio queue to measure the path. Routine drains begin at multiples
/// of this interval on the clock, so that UEs which share a queue drain it together.
constexpr Duration slot = seconds(5);
/// Time after a multiple of 5 s in which an ACK may begin the routine drain of the queue. It is two base delays (RTTs
/// without a queue) if they are longer.
constexpr Duration slot_begin = milliseconds(300);
/// The additional drains of all UEs begin at multiples of this interval. One additional drain follows each drain that
/// shortens the base delay (round trip through an empty queue) by more than an eighth.
constexpr Duration short_slot = milliseconds(500);
/// Time without a round trip near the base delay (RTT without a queue) after which routine drains begin at every
/// multiple of 5 s. The base delay may then be wrong.
constexpr Duration routine_drain_after = seconds(5);
/// Time after a step to a longer path in which routine drains of the queue begin at every multiple of 5 s. The path
/// often becomes shorter again soon.
constexpr Duration unsettled_for = seconds(60);
/// Largest interval of routine queue drains, in units of 5 s. The interval doubles with each drain that confirms the
/// base delay (RTT without a queue).
constexpr std::uint8_t max_slots = 8;
/// Largest time between two queue drains of which the second may confirm the longer base delay (RTT without a queue)
/// that the first has measured.
constexpr Duration max_drain_distance = 2 * slot + seconds(1);
/// Time after which the base delay (RTT without a queue) is replaced without a drain. All round trips in this time must
/// be longer than the target queue allows.
constexpr Duration reset_after = seconds(20);
/// Limit of the pause after a drain that suspect() has requested, until suspect() may request the next one. The pause
/// doubles with each such drain that confirms the base delay (RTT without a queue).
constexpr Duration max_suspicion_wait = seconds(8);
/// Longest time, in addition to two base delays (RTTs without a queue), in which a drain must empty the queue. A drain
/// that takes longer has met an outage and is cancelled. The drain after slow start is never cancelled, because slow
/// start may have left a long queue on a slow link.
constexpr Duration longest_drain = seconds(1);
/// Number of measured round trips after which a drain (which empties the queue to measure the path) ends. It also ends
/// half a round trip after the first of them.
constexpr std::uint8_t enough_probes = 4;
/// Longest time, beyond two base delays (RTTs without a queue), for which a drain waits for an undelayed ACK once the
/// queue is empty. Then it ends with the shortest round trip measured since, even if the UE may have delayed each ACK.
constexpr Duration longest_probing = milliseconds(200);
/// Longest time for which a UE delays an ACK: 40 ms in Linux, plus one tick of its timer.
constexpr Duration longest_delay = milliseconds(50);

/// Returns the number of the slot that contains the time `at`. A slot is the 5 s between two instants at which a
/// routine queue drain may begin.
std::int64_t slot_of(Instant at) {
  return at.time_since_epoch() / slot;
}

/// Returns the next multiple of `short_slot` after `at`.
Instant next_short_slot(Instant at) {
  return Instant{} + (at.time_since_epoch() / short_slot + 1) * short_slot;
}

/// True if the drain that began at `began` was a routine one: it began shortly after a multiple of 5 s. Other UEs that
/// share the queue may then have drained it at the same time. `base` is the base delay (RTT without a queue) when the
/// drain began.
bool is_common(Instant began, Duration base) {
  return began.time_since_epoch() % slot <= greater(slot_begin, 2 * base);
}

}  // namespace

Duration MinRttEstimator::near_limit() const {
  return value_ + value_ / 8 + milliseconds(1);
}

bool MinRttEstimator::is_near(Duration round_trip) const {
  return round_trip <= near_limit();
}

void MinRttEstimator::record(Duration round_trip) {
  value_ = known() ? lesser(value_, round_trip) : round_trip;
}

void MinRttEstimator::add_sample(Duration round_trip, Duration observed, Duration margin, Duration most) {
  stale_for_ = round_trip <= near_limit() + margin ? Duration::zero() : stale_for_ + observed;
  if (round_trip <= most) {
    above_target_for_ = Duration::zero();
  } else {
    min_above_target_ = above_target_for_ <= Duration::zero() ? round_trip : lesser(min_above_target_, round_trip);
    above_target_for_ += greater(observed, Duration(1));
  }
}

void MinRttEstimator::raise(Duration value) {
  before_raise_ = value_;
  value_ = value;
  distrusts_suspicions_ = suspicion_stands_ = false;
  candidate_ = Duration::zero();
  phase_ = Phase::none;
  slots_per_drain_ = 1;
  mark_fresh();
}

void MinRttEstimator::clamp(Duration excess) {
  value_ = std::min(value_, std::max(before_raise_, value_ - std::min(excess, value_)));
  before_raise_ = Duration::zero();
}

void MinRttEstimator::forget() {
  value_ = candidate_ = before_raise_ = Duration::zero();
  candidate_measured_ = requested_ = distrusts_suspicions_ = suspicion_stands_ = false;
  extra_drain_at_ = never;
  slots_per_drain_ = 1;
}

std::optional<Duration> MinRttEstimator::forced_reset_value() const {
  if (above_target_for_ < reset_after) return std::nullopt;
  return min_above_target_;
}

bool MinRttEstimator::is_stale(Instant now) const {
  return known() && (unvalidated_ || now >= extra_drain_at_ || is_routine(now));
}

void MinRttEstimator::suspect(Instant now, Duration round_trip) {
  if (now < next_suspicion_) return;
  request_drain(now);
  candidate_measured_ = false;
  candidate_ = round_trip;
  candidate_at_ = now;
}

void MinRttEstimator::suspect_longer(Instant now, Duration round_trip) {
  if (distrusts_suspicions_) {
    suspicion_stands_ = true;
  } else {
    suspect(now, round_trip);
  }
}

void MinRttEstimator::request_drain(Instant now) {
  if (now < next_suspicion_) return;
  requested_ = true;
  extra_drain_at_ = now;
}

/// True if a routine drain of the queue is due. All UEs begin routine drains at the same multiples of 5 s. Each
/// `slots_per_drain_`-th multiple has a drain even if the base delay (RTT without a queue) is confirmed. Such a base
/// delay may still contain a queue of other UEs.
bool MinRttEstimator::is_routine(Instant now) const {
  if (slot_of(drain_began_) == slot_of(now) || !is_common(now, value_)) return false;
  const bool stepped = changed_at_ != Instant{} && now - changed_at_ <= unsettled_for;
  return stepped || stale_for_ >= routine_drain_after || slot_of(now) % slots_per_drain_ == 0;
}

void MinRttEstimator::begin_drain(Instant now, Duration rtt) {
  phase_ = Phase::drain;
  others_drained_at_ = now + std::min(rtt, longest_drain);
  base_at_drain_ = value_;
  extra_drain_at_ = never;
  drain_began_ = now;
  probes_ = 0;
  has_undelayed_probe_ = false;
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
      stale_for_ = Duration::zero();
    }
    return false;
  }
  if (probe.round_trip > Duration::zero() && probe.now - probe.round_trip >= empty_at_) {
    probed_ = probed_ > Duration::zero() ? lesser(probed_, probe.round_trip) : probe.round_trip;
    has_undelayed_probe_ = has_undelayed_probe_ || !probe.may_be_delayed;
    if (!probe.may_be_delayed || !probe.is_alone || probe.round_trip <= near_limit() + margin) {
      if (probes_ == 0) probed_at_ = probe.now;
      ++probes_;
    }
  }
  const bool enough = probes_ >= enough_probes || (probes_ > 0 && probe.now - probed_at_ >= probed_ / 2);
  if (!enough && (probed_ <= Duration::zero() || probe.now - empty_at_ < longest_probing + 2 * value_)) return false;
  if (probed_ > near_limit() + margin && empty_at_ < others_drained_at_) {
    empty_at_ = probe.now < others_drained_at_ ? others_drained_at_ : probe.now;
    probed_ = Duration::zero();
    probes_ = 0;
    return false;
  }
  phase_ = Phase::none;
  return true;
}

/// True if an earlier drain has found a longer path, too, so that the longer path is confirmed. The present drain must
/// be a routine one, which all UEs begin together. Between routine drains other UEs may fill a shared queue.
bool MinRttEstimator::is_confirmed_longer(Instant now) const {
  return has_undelayed_probe_ && candidate_measured_ && now - candidate_at_ <= max_drain_distance &&
         slot_of(candidate_at_) < slot_of(drain_began_) && is_common(drain_began_, value_);
}

MinRttEstimator::DrainResult MinRttEstimator::finish_probe(Instant now, Duration margin) {
  unvalidated_ = false;
  const bool requested = std::exchange(requested_, false);
  if (probed_ <= near_limit() + margin) {
    value_ = std::min(probed_, near_limit());
    // All UEs have emptied a shared queue together, and the path is not longer. Their data was the cause of the delay.
    if (is_common(drain_began_, base_at_drain_)) distrusts_suspicions_ = suspicion_stands_;
    suspicion_stands_ = false;
    // A shorter result may still contain a queue of the earlier, larger window, so one more drain follows.
    stale_for_ = Duration::zero();
    const bool shorter = value_ < base_at_drain_ * 7 / 8;
    extra_drain_at_ = shorter ? next_short_slot(now + 2 * base_at_drain_) : never;
    slots_per_drain_ =
        shorter ? std::uint8_t{1} : static_cast<std::uint8_t>(std::min(2 * slots_per_drain_, +max_slots));
    candidate_ = Duration::zero();
    candidate_measured_ = false;
    if (requested) next_suspicion_ = now + suspicion_wait_;
    suspicion_wait_ = requested && !shorter ? std::min(suspicion_wait_ * 2, max_suspicion_wait) : first_suspicion_wait;
    return DrainResult::confirmed;
  }
  if (requested) next_suspicion_ = now + slot;
  suspicion_wait_ = first_suspicion_wait;
  if (is_confirmed_longer(now)) {
    candidate_ = std::min(probed_, candidate_);
    return DrainResult::longer;
  }
  const Duration delayed = has_undelayed_probe_ ? Duration::zero() : longest_delay;
  const bool agrees = std::chrono::abs(probed_ - candidate_) <= candidate_ / 8 + margin + delayed;
  if (has_undelayed_probe_) {
    candidate_ = probed_;
    candidate_at_ = drain_began_;
    candidate_measured_ = (requested && agrees) || is_common(drain_began_, value_);
  }
  if (!requested || !agrees) return DrainResult::unclear;
  suspicion_stands_ = true;
  return DrainResult::as_suspected;
}

}  // namespace sluice::control
