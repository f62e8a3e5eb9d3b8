#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates the base delay of a UE: the round trip through an empty radio queue, as a minimum of round trips. The
/// minimum is too long if the queue never empties, and too short after the path has become longer. The owner therefore
/// drains the queue from time to time, and the base delay is measured again.
///
/// Routine drains begin at multiples of five seconds, for all UEs of all threads. UEs that share a queue (a thin
/// backhaul, two addresses of one host) then drain it together. A UE alone would drain its own bytes only, and count
/// the delay by those of others as path. Drains that confirm the base delay become rarer, down to one in eight slots of
/// five seconds. Every slot has one while no round trip is near the base delay. Between slots a drain begins if round
/// trips stay long although less is in flight (StandingDelayDetector).
///
/// A longer path is accepted after two routine drains, or after a routine one and a requested one that agree with the
/// suspicion. State and work are constant. Reads no clock; thread: its owner's.
class MinRttEstimator {
 public:
  /// True if there is a base delay.
  [[nodiscard]] bool known() const { return value_ > Duration::zero(); }
  /// Returns the base delay; zero while unknown.
  [[nodiscard]] Duration value() const { return value_; }
  /// True if the round trip is near the base delay: at most an eighth plus 1 ms above it.
  [[nodiscard]] bool is_near(Duration round_trip) const;

  /// Lowers the base delay to this round trip, > 0, if that is shorter.
  void record(Duration round_trip);
  /// Restarts both staleness times, because a round trip was as short as intended or the base delay is right.
  void mark_fresh() { stale_for_ = above_target_for_ = Duration::zero(); }
  /// The base delay is right, because it has just been measured or the reported queue explains the round trips. Skips
  /// the routine drain of this slot.
  void confirm(Instant now) {
    if (!draining()) drain_began_ = now;
    mark_fresh();
  }
  /// Adds a round trip that may be too long. `observed`: observed time since the last ACK, which counts as stale if the
  /// round trip is long. `margin` is added to the limit of is_near(), and `most` is the longest intended round trip.
  void add_sample(Duration round_trip, Duration observed, Duration margin, Duration most);
  /// Returns for how long every round trip has been longer than intended.
  [[nodiscard]] Duration above_target_for() const { return above_target_for_; }
  /// Accepts a longer base delay and ends a drain. The owner restarts slow start, and calls clamp() at its end.
  void raise(Duration value);
  /// True from raise() until clamp().
  [[nodiscard]] bool was_raised() const { return before_raise_ > Duration::zero(); }
  /// Subtracts `excess`, the time on the air that a raised base delay contains. The result is at least the base delay
  /// before raise().
  void clamp(Duration excess);
  /// Discards the base delay and all evidence, because the path may be another one.
  void forget();

  /// Sets whether the base delay of slow start is valid. It is not if its packets may have waited for an outage or for
  /// each other.
  void mark_validated(bool validated) { unvalidated_ = !validated; }
  /// True until a drain validates the base delay of slow start.
  [[nodiscard]] bool is_unvalidated() const { return unvalidated_; }
  /// True if a drain has confirmed the present base delay.
  [[nodiscard]] bool is_confirmed() const { return slots_per_drain_ > 1; }
  /// Returns the shortest round trip of the last 20 s or more if all of them were longer than intended, else nothing.
  /// The owner then raises the base delay to it.
  [[nodiscard]] std::optional<Duration> forced_reset_value() const;
  /// True if a drain is due at `now`: routine, repeated, requested, or because the base delay is not validated.
  [[nodiscard]] bool is_stale(Instant now) const;

  /// Requests a drain at once, because the path may have become as long as this round trip. No effect for a while
  /// after a requested drain.
  void suspect(Instant now, Duration round_trip);
  /// True if a routine drain is due: a slot with one has just begun. It may also replace a drain in progress.
  [[nodiscard]] bool is_routine(Instant now) const;
  /// Begins a drain. `rtt` is the present round trip, ≥ 0. After that time the bytes that other UEs sent before their
  /// own drains are gone from a shared queue.
  void begin_drain(Instant now, Duration rtt);
  /// Ends a drain without a result.
  void cancel_drain() {
    phase_ = Phase::none;
    requested_ = false;
  }
  /// One ACK during a drain.
  struct Probe {
    Instant now;
    Duration round_trip{};        ///< RTT of the newest segment sent once (Karn); zero if there is none
    Bytes in_flight;              ///< bytes in flight after the ACK
    bool may_be_delayed = false;  ///< the UE may have delayed this ACK, so a long round trip proves nothing
    bool is_alone = true;         ///< the UE has one connection, so an ACK that is not delayed follows soon
  };
  /// Processes an ACK while the window drains the queue to `in_flight` bytes in flight. Returns true if the drain has
  /// enough probes and is over; call finish_probe() next. `margin` is added to the limit of is_near().
  bool on_drained(const Probe& probe, double in_flight, Duration margin);
  /// Result of a drain.
  enum class DrainResult : std::uint8_t {
    confirmed,     ///< the base delay is the same or shorter; value() is the new one
    unclear,       ///< no probe was near the base delay: a longer path, a stalled link, or a queue of others
    as_suspected,  ///< no probe was near the base delay, and those of a requested drain agree with the suspicion
    longer,        ///< a longer path is confirmed by a second drain; candidate() is its base delay
  };
  /// Evaluates the probes of a drain that is over. `margin` is added to the limit of is_near().
  DrainResult finish_probe(Instant now, Duration margin);
  /// Returns the longer delay that a drain has found or that is suspected; zero if the last drain has confirmed
  /// value().
  [[nodiscard]] Duration candidate() const { return candidate_; }
  /// True during a drain, in either phase.
  [[nodiscard]] bool draining() const { return phase_ != Phase::none; }
  /// True in the second phase of a drain: the queue is empty, and packets sent since then measure the base delay.
  [[nodiscard]] bool probing() const { return phase_ == Phase::probe_rtt; }
  /// Returns the number of drains begun so far.
  [[nodiscard]] std::uint32_t drains() const { return drains_; }

  /// Calls `visit` with each state member and its name, for recorded decisions (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  /// Phase of a drain: until few bytes are in flight (drain), then until segments sent since have been acknowledged
  /// (probe_rtt).
  enum class Phase : std::uint8_t { none, drain, probe_rtt };

  /// Wait after a requested drain that has confirmed the base delay; it doubles each time.
  static constexpr Duration first_suspicion_wait = std::chrono::seconds(1);

  /// Returns the limit of is_near(): the base delay plus an eighth plus 1 ms.
  [[nodiscard]] Duration near_limit() const;
  [[nodiscard]] bool is_confirmed_longer(Instant now) const;

  Duration value_{};
  Duration stale_for_{};            ///< observed time since a round trip was near the base delay
  Duration above_target_for_{};     ///< observed time in which every window-limited round trip was longer than intended
  Duration min_above_target_{};     ///< shortest round trip within above_target_for_
  Instant drain_began_{};           ///< begin of the last drain, or the instant of the last confirm()
  Instant empty_at_{};              ///< in phase probe_rtt: packets sent from then on find the queue empty
  Instant others_drained_at_{};     ///< when the bytes of other UEs that drain as well are gone
  Duration base_at_drain_{};        ///< base delay when the drain began
  Instant extra_drain_at_ = never;  ///< when a repeated or requested drain is due
  Instant next_suspicion_{};        ///< suspect() has no effect before this
  Duration suspicion_wait_ = first_suspicion_wait;  ///< wait after a requested drain with result `confirmed`
  Duration probed_{};                               ///< shortest round trip of this drain's probes; zero: none yet
  Instant probed_at_{};                             ///< when the first probe was acknowledged
  Duration candidate_{};     ///< longer delay that one drain found or suspect() named; zero: none
  Instant candidate_at_{};   ///< begin of that drain, or the instant of suspect()
  Duration before_raise_{};  ///< base delay before raise(); zero after clamp()
  std::uint32_t drains_ = 0;
  std::uint8_t probes_ = 0;           ///< probes of this drain that count
  std::uint8_t slots_per_drain_ = 1;  ///< slots per routine drain, a power of two
  Phase phase_ = Phase::none;
  bool unvalidated_ = false;         ///< the packets of slow start may have waited, so a drain is due
  bool candidate_measured_ = false;  ///< candidate_ is the result of a routine drain, or of a requested one that agrees
  bool requested_ = false;           ///< suspect() has requested the present or the next drain
  bool has_undelayed_probe_ = false;  ///< the UE cannot have delayed all probes of this drain
};

}  // namespace sluice::control
