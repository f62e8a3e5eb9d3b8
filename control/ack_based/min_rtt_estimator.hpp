#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// What a packet of a UE takes there and back where none waits in the radio queue: a minimum of round trips. A queue
/// that never empties hides it, and a path that has become longer leaves it too short. So the owner drains the queue
/// now and then, and the delay is measured again, whether it is longer or shorter.
///
/// Routine drains begin at multiples of five seconds, for all UEs of all threads alike. UEs that share a queue (a thin
/// backhaul, two addresses of one host) then drain it together: one alone drains its own part only, and takes what the
/// others leave for the path. Drains that find nothing shorter become rarer, down to one in eight slots of five
/// seconds, but every slot has one while no round trip comes near the base delay. Between slots a drain begins where
/// round trips stay long although less is in flight (StandingDelayDetector).
///
/// A longer path is believed after two routine drains, or one and one between slots that found what was suspected.
/// State and work are constant. The class reads no clock; thread: its owner's.
class MinRttEstimator {
 public:
  [[nodiscard]] bool known() const { return value_ > Duration::zero(); }
  /// Zero while unknown.
  [[nodiscard]] Duration value() const { return value_; }
  /// About the base delay: as near as a timer's tick and an eighth.
  [[nodiscard]] bool is_near(Duration round_trip) const;

  /// A packet took so long, > 0.
  void record(Duration round_trip);
  /// It was near, and no longer than it is to be; or something else tells that the base delay is right.
  void mark_fresh() { far_for_ = late_for_ = Duration::zero(); }
  /// The base delay is right, because it has just been measured or the reported queue explains the round trips. Skips
  /// the routine drain of this slot.
  void confirm(Instant now) {
    if (!draining()) drain_began_ = now;
    mark_fresh();
  }
  /// It may have been too long. `listened`: for so long this is news. It is near within `margin`, and as it is to be up
  /// to `most`.
  void add_sample(Duration round_trip, Duration listened, Duration margin, Duration most);
  /// Returns for how long every round trip has been longer than the window is to make it.
  [[nodiscard]] Duration late_for() const { return late_for_; }
  /// A longer one is believed, at once; there is no drain any more. The link is to be found anew, and clamp() follows.
  void raise(Duration value);
  [[nodiscard]] bool was_raised() const { return shorter_ > Duration::zero(); }
  /// The longer one had this in it, which is known now; it is no less than the one before.
  void clamp(Duration excess);
  /// Nothing is known any more.
  void forget();

  /// Whether the packets by which it was found can have waited for an outage, or for each other.
  void mark_validated(bool validated) { unvalidated_ = !validated; }
  [[nodiscard]] bool is_unvalidated() const { return unvalidated_; }
  /// The last drain has confirmed it.
  [[nodiscard]] bool is_confirmed() const { return every_ > 1; }
  /// No round trip has been as it is to be for so long that nothing which was known is believed: the least of these.
  [[nodiscard]] std::optional<Duration> forced_reset_value() const;
  /// The queue is to be drained at `now`, for whatever reason.
  [[nodiscard]] bool is_stale(Instant now) const;

  /// The path may have become as long as this round trip: a drain is to begin at once, unless one has just found
  /// otherwise.
  void suspect(Instant now, Duration round_trip);
  /// A routine drain is due: its slot has begun, and it may begin although another drain is under way.
  [[nodiscard]] bool is_routine(Instant now) const;
  /// The queue is drained from now on. `trip`: what packets take there and back now, ≥ 0. What others who drain as well
  /// have sent before is gone after that.
  void begin_drain(Instant now, Duration trip);
  void cancel_drain() {
    phase_ = Phase::none;
    asked_ = false;
  }
  /// An acknowledgement during a drain.
  struct Probe {
    Instant now;
    Duration round_trip{};        ///< of the newest segment that was sent once; zero when there is none
    Bytes in_flight;              ///< after it
    bool may_be_delayed = false;  ///< by the UE's delayed acknowledgements, so a long round trip proves nothing
    bool is_alone = true;         ///< it is of the UE's only connection, so one that is not delayed comes soon
  };
  /// An acknowledgement while the queue is drained to `in_flight` bytes in flight. Returns true if enough is known: the
  /// drain is over then, and finish_probe() is to follow. What comes near the base delay within `margin` confirms it.
  bool on_drained(const Probe& probe, double in_flight, Duration margin);
  /// What a drain has shown of the base delay.
  enum class Finding : std::uint8_t {
    confirmed,  ///< it is the same or shorter; value() is the new one
    unclear,    ///< no packet came near it: the path is longer, the link stood still, or others fill the queue
    unmoved,    ///< the same, of a drain that was asked for, and packets took as long as was suspected
    longer,     ///< two routine drains have found a longer one, or one and one that was asked for: longer()
  };
  /// Ends a drain; what comes near the base delay within `margin` confirms it.
  Finding finish_probe(Instant now, Duration margin);
  /// The longer delay that a drain has found or that is suspected; zero if the last drain has confirmed value().
  [[nodiscard]] Duration longer() const { return longer_; }
  [[nodiscard]] bool draining() const { return phase_ != Phase::none; }
  /// The queue is empty, and packets that were sent since are to tell the delay.
  [[nodiscard]] bool probing() const { return phase_ == Phase::probe_rtt; }
  /// How often the queue was drained.
  [[nodiscard]] std::uint32_t drains() const { return drains_; }

  /// Its state, for a trace (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  /// The queue is drained in two steps: until what was under way is gone; until segments sent since have come back.
  enum class Phase : std::uint8_t { none, drain, probe_rtt };

  /// After a doubt without cause not again for this, which doubles each time.
  static constexpr Duration first_suspicion_wait = std::chrono::seconds(1);

  [[nodiscard]] Duration nearby() const;
  [[nodiscard]] bool is_confirmed_longer(Instant now) const;

  Duration value_{};
  Duration far_for_{};   ///< of listening, no round trip was about the base delay
  Duration late_for_{};  ///< … and every one was longer than it is to be although the window was the limit
  Duration min_late_{};  ///< the least of these
  Instant drain_began_{};
  Instant empty_at_{};                              ///< while probing: from when on packets find the queue empty
  Instant others_gone_at_{};                        ///< when others who drain as well have emptied theirs
  Duration drained_from_{};                         ///< base delay when the drain began
  Instant again_at_ = never;                        ///< when it is drained once more
  Instant next_suspicion_{};                        ///< suspect() asks for no drain before this
  Duration suspicion_wait_ = first_suspicion_wait;  ///< that was for nothing so far: the next one comes later
  Duration probed_{};                               ///< the least round trip since the queue was empty
  Instant probed_at_{};                             ///< when the first one came
  Duration longer_{};                               ///< than it was what a drain found, once; zero: nothing was
  Instant longer_at_{};
  Duration shorter_{};  ///< what was believed before a longer one was; zero: that is settled
  std::uint32_t drains_ = 0;
  std::uint8_t probes_ = 0;
  std::uint8_t every_ = 1;  ///< so many slots are between two routine drains, a power of two
  Phase phase_ = Phase::none;
  bool unvalidated_ = false;
  bool evidence_ =
      false;             ///< a routine drain has found longer_, or one that was asked for and found what was suspected
  bool asked_ = false;   ///< suspect() has asked for the drain under way or the next one
  bool prompt_ = false;  ///< the UE cannot have delayed every probe of this drain
};

}  // namespace sluice::control
