#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates the base delay of a UE, which is its round trip through an empty radio queue, as the minimum of round
/// trips. The minimum is too long if the queue never empties, and too short after the path has become longer. So the
/// owner drains the queue from time to time: it lowers the bytes in flight, and the base delay is measured again.
///
/// Routine drains begin at multiples of five seconds, for all UEs of all threads. UEs that share a queue (a thin
/// backhaul, two addresses of one host) then drain it together. A single UE would drain its own bytes only, and the
/// wait behind bytes of other UEs would count as part of the base delay. Drains that confirm the base delay become
/// rarer, down to one in forty seconds. While no round trip is near the base delay, there is one every five seconds.
/// Further drains begin if round trips stay long although fewer bytes are in flight (StandingDelayDetector). Data of
/// other UEs in a shared queue is one cause of such round trips, and these drains cannot distinguish it from a longer
/// path. If a routine drain contradicts such a drain, none are requested until a routine drain finds no further cause.
///
/// A longer path is accepted after two routine drains that found it. One requested drain and then a routine one also
/// suffice if the former agrees with the suspected delay. Memory and work per ACK are constant. Reads no clock. Not
/// thread-safe.
class MinRttEstimator {
 public:
  /// True if a base delay (round trip through an empty radio queue) has been measured.
  [[nodiscard]] bool known() const { return value_ > Duration::zero(); }
  /// Returns the base delay (round trip through an empty radio queue); zero while unknown.
  [[nodiscard]] Duration value() const { return value_; }
  /// True if the round trip exceeds the base delay (round trip through an empty queue) by at most an eighth plus 1 ms.
  [[nodiscard]] bool is_near(Duration round_trip) const;

  /// Sets the base delay (RTT without a queue) to `round_trip`, > 0, if that is shorter or no base delay is known.
  void record(Duration round_trip);
  /// Records that a round trip was as short as the target queue allows, or that the base delay (RTT without a queue) is
  /// right. Restarts two periods: after one a queue drain is due, and after the other the base delay is replaced.
  void mark_fresh() {
    stale_for_ = above_target_for_ = Duration::zero();
    suspicion_stands_ = suspicion_stands_ && (distrusts_suspicions_ || draining());
  }
  /// Confirms the base delay (RTT without a queue). Called because it has just been measured, or because the queue in a
  /// Node-B's report explains the long round trips. The next routine drain of the queue begins at a later multiple of 5
  /// s.
  void confirm(Instant now) {
    if (!draining()) drain_began_ = now;
    mark_fresh();
  }
  /// Adds a round trip. If it exceeds near_limit() by more than `margin`, the time `stale_for_` grows by `observed`;
  /// otherwise that time restarts. It is the time without a round trip near the base delay (RTT without a queue).
  /// `observed` is the time since the last ACK, without outages. `most` is the longest round trip that the target queue
  /// allows.
  void add_sample(Duration round_trip, Duration observed, Duration margin, Duration most);
  /// Returns for how long all round trips have been longer than the target queue allows.
  [[nodiscard]] Duration above_target_for() const { return above_target_for_; }
  /// Accepts `value` as a longer base delay (RTT without a queue), and ends a queue drain. The owner then restarts slow
  /// start or refills the path, and calls clamp() at the end of that.
  void raise(Duration value);
  /// True after raise() has accepted a longer base delay (RTT without a queue), until clamp() is called.
  [[nodiscard]] bool was_raised() const { return before_raise_ > Duration::zero(); }
  /// Subtracts `excess` from the base delay (RTT without a queue) that raise() has set, but not below the base delay
  /// before raise(). `excess` is the transmission time of packets that waited behind each other in slow start.
  void clamp(Duration excess);
  /// Records that the path has become longer in one step. For a minute, a routine drain of the queue then begins at
  /// every multiple of 5 s. Such a path often becomes shorter again soon, and only an empty queue shows that.
  void mark_changed(Instant now) { changed_at_ = now; }
  /// Discards the base delay (RTT without a queue) and the results of all queue drains, because the path may have
  /// changed.
  void forget();

  /// Sets whether the base delay (RTT without a queue) measured in slow start is valid. It is invalid if packets of
  /// slow start may have waited for an outage or behind each other.
  void mark_validated(bool validated) { unvalidated_ = !validated; }
  /// True until a queue drain has validated the base delay (RTT without a queue) measured in slow start.
  [[nodiscard]] bool is_unvalidated() const { return unvalidated_; }
  /// True if a drain, which empties the queue, has confirmed the present base delay (RTT without a queue).
  [[nodiscard]] bool is_confirmed() const { return slots_per_drain_ > 1; }
  /// Returns the shortest round trip of the last 20 s or more if all of these were longer than the target queue allows;
  /// else nothing. The owner then raises the base delay (RTT without a queue) to the returned value.
  [[nodiscard]] std::optional<Duration> forced_reset_value() const;
  /// True if a drain, which empties the queue to measure the path, is due at `now`. A routine drain is due at some
  /// multiples of 5 s. After a drain that found a shorter base delay (RTT without a queue), another one is due at a
  /// later multiple of 0.5 s. After suspect(), or while the base delay of slow start is not validated, a drain is due
  /// at once.
  [[nodiscard]] bool is_stale(Instant now) const;

  /// Requests a queue drain at once, because the path's base delay (RTT without a queue) may have become `round_trip`.
  /// Has no effect for 1 to 8 s after a drain that was requested before.
  void suspect(Instant now, Duration round_trip);
  /// Does the same as suspect() for round trips that stay long although fewer bytes are in flight. Other UEs' data in a
  /// shared queue may cause them. If a routine drain has shown that, only routine drains can lengthen the base delay
  /// (RTT without a queue), so this function requests no drain.
  void suspect_longer(Instant now, Duration round_trip);
  /// Requests a queue drain at once, because the path may have become shorter. Unlike suspect(), it does not change
  /// candidate(). Has no effect for 1 to 8 s after a drain that was requested before.
  void request_drain(Instant now);
  /// True if a routine drain of the queue is due. All UEs begin routine drains at the same multiples of 5 s, because
  /// they may share the queue. The owner begins it even if another drain is in progress.
  [[nodiscard]] bool is_routine(Instant now) const;
  /// Begins a drain, which empties the queue. Other UEs that share the queue begin to drain it, too. `rtt` ≥ 0 is the
  /// time after which their earlier bytes have left it, about a round trip.
  void begin_drain(Instant now, Duration rtt);
  /// Ends a drain, which empties the queue, without a result.
  void cancel_drain() {
    phase_ = Phase::none;
    requested_ = false;
  }
  /// Values of one ACK during a queue drain.
  struct Probe {
    Instant now;
    /// RTT of the newest segment that was sent only once (Karn's algorithm); zero if there is none.
    Duration round_trip{};
    Bytes in_flight;  ///< bytes in flight after the ACK
    /// True if the UE may have delayed this ACK, so that a long round trip need not be that of the path.
    bool may_be_delayed = false;
    /// True if the UE has only one connection. After a delayed ACK another ACK of that connection follows soon without
    /// delay, so the drain waits for it.
    bool is_alone = true;
  };
  /// Processes an ACK during a queue drain. The queue counts as empty once at most `in_flight` bytes are in flight.
  /// Returns true when up to four round trips of segments sent after that are measured; call finish_probe() next. A
  /// round trip is long if it exceeds near_limit() by more than `margin`. A long one does not count if the UE may have
  /// delayed the ACK.
  bool on_drained(const Probe& probe, double in_flight, Duration margin);
  /// Result of a drain, which empties the queue to measure the base delay (RTT without a queue).
  enum class DrainResult : std::uint8_t {
    /// The measured base delay (RTT without a queue) is about equal to the previous one, or shorter; value() is the new
    /// one.
    confirmed,
    /// All measured round trips were longer than the base delay (RTT without a queue) for an unknown reason. The path
    /// may be longer, the link may stall, or other UEs may have a queue.
    unclear,
    /// all round trips of a requested drain were longer than the base delay (RTT without a queue), and agree with the
    /// delay given to suspect()
    as_suspected,
    /// A longer path is confirmed by a second queue drain; candidate() is its base delay (RTT without a queue).
    longer,
  };
  /// Evaluates the round trips that a queue drain has measured. The base delay (RTT without a queue) is confirmed if
  /// the shortest of them exceeds near_limit() by at most `margin`. Otherwise the path may be longer.
  DrainResult finish_probe(Instant now, Duration margin);
  /// Returns the longer base delay (RTT without a queue) that a queue drain has measured or suspect() was called with;
  /// zero if a drain has confirmed value() since.
  [[nodiscard]] Duration candidate() const { return candidate_; }
  /// True during both phases of a drain, in which the queue is emptied and then the path is measured.
  [[nodiscard]] bool draining() const { return phase_ != Phase::none; }
  /// True in the second phase of a drain: the queue is empty, and packets sent since then measure the base delay (RTT
  /// without a queue).
  [[nodiscard]] bool probing() const { return phase_ == Phase::probe_rtt; }
  /// Returns the number of drains, which empty the queue, begun so far.
  [[nodiscard]] std::uint32_t drains() const { return drains_; }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  /// Phases of a queue drain: in `drain` the queue empties, until few bytes are in flight. In `probe_rtt` segments that
  /// find it empty are sent and acknowledged.
  enum class Phase : std::uint8_t { none, drain, probe_rtt };

  /// Pause before suspect() may request another queue drain, after the first requested drain that confirmed the base
  /// delay (RTT without a queue). The pause doubles with each further one.
  static constexpr Duration first_suspicion_wait = std::chrono::seconds(1);

  /// Returns the longest round trip that counts as near the base delay (RTT without a queue): the base delay plus an
  /// eighth of it plus 1 ms.
  [[nodiscard]] Duration near_limit() const;
  [[nodiscard]] bool is_confirmed_longer(Instant now) const;

  // Each ACK reads the members up to `next_suspicion_`.
  Duration value_{};
  /// time, without outages, since a round trip was last near the base delay (RTT without a queue); after 5 s the queue
  /// is drained
  Duration stale_for_{};
  /// Time, without outages, for which all round trips have been longer than the target queue allows. A round trip of
  /// data that the window did not limit restarts it, as does a confirmed or raised base delay (RTT without a queue).
  Duration above_target_for_{};
  Duration before_raise_{};  ///< base delay (RTT without a queue) before raise(); zero after clamp()
  /// time at which the last queue drain began, or the base delay (RTT without a queue) was last confirmed without one
  Instant drain_began_{};
  /// time at which an additional queue drain is due: one that was requested, or that repeats one which found a shorter
  /// base delay (RTT without a queue)
  Instant extra_drain_at_ = never;
  std::uint32_t drains_ = 0;
  std::uint8_t probes_ = 0;  ///< number of round trips measured in this queue drain, without those of delayed ACKs
  std::uint8_t slots_per_drain_ = 1;  ///< interval of routine queue drains in units of 5 s, a power of two
  Phase phase_ = Phase::none;
  /// true if the base delay (RTT without a queue) measured in slow start may be too long, so a queue drain is due
  bool unvalidated_ = false;
  /// True if a drain has measured `candidate_`: a routine one, or a requested one whose result agrees with the
  /// suspected delay. False if it is only suspected.
  bool candidate_measured_ = false;
  /// True if suspect() or request_drain() has requested the present or the next queue drain.
  bool requested_ = false;
  /// True if a requested drain has found a longer delay as suspected, and no routine drain has examined it yet. While
  /// `distrusts_suspicions_` is true, it is true if suspect_longer() was called since the last routine drain.
  bool suspicion_stands_ = false;
  /// True if requested drains cannot show a longer path, because data of other UEs in a shared queue looks the same.
  bool distrusts_suspicions_ = false;
  bool has_undelayed_probe_ = false;  ///< true if this queue drain has an ACK that the UE cannot have delayed
  Instant next_suspicion_{};          ///< time before which suspect() and request_drain() have no effect
  /// Shortest round trip since all round trips became longer than the target queue allows.
  Duration min_above_target_{};
  Instant changed_at_{};  ///< time at which the path last became longer in one step
  Instant empty_at_{};    ///< time in phase probe_rtt from which on sent packets find the queue empty
  /// time from which on a shared queue contains no bytes that other UEs sent before they began to drain it
  Instant others_drained_at_{};
  Duration base_at_drain_{};  ///< base delay (RTT without a queue) when the present drain began
  /// pause after a requested drain that confirmed the base delay (RTT without a queue), until suspect() may request the
  /// next one
  Duration suspicion_wait_ = first_suspicion_wait;
  Duration probed_{};       ///< shortest round trip measured in this drain; zero: none yet
  Instant probed_at_{};     ///< time at which the first round trip was measured that counts in `probes_`
  Duration candidate_{};    ///< longer delay that a drain has measured or suspect() was called with; zero: none
  Instant candidate_at_{};  ///< start of the drain that measured `candidate_`, or the time of suspect()
};

}  // namespace sluice::control
