#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "control/acknowledged.hpp"
#include "control/delivery_estimator.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// What a packet of a UE takes there and back where none waits in the radio queue: a minimum of round trips. A queue
/// that never empties hides it, and a way that has become longer leaves it too short. So it is doubted where no packet
/// has come near it for five seconds, or where the rate falls although the window is what limits it. The owner then
/// drains the queue for a round trip, and the delay is measured anew, whether it is longer or shorter. State and work
/// are constant. No clock inside; thread: its owner's.
class BaseDelay {
 public:
  [[nodiscard]] bool known() const { return value_ > Duration::zero(); }
  /// Zero while unknown.
  [[nodiscard]] Duration value() const { return value_; }
  /// About the base delay: as near as a timer's tick and an eighth.
  [[nodiscard]] bool is_near(Duration round_trip) const;

  /// A packet took so long, > 0.
  void note(Duration round_trip);
  /// It was near, and no longer than it is to be; or something else tells that the base delay is right.
  void believe() { far_for_ = late_for_ = Duration::zero(); }
  /// It may have been too long. `listened`: for so long this is news. It is near within `margin`, and as it is to be up
  /// to `most`.
  void judge(Duration round_trip, Duration listened, Duration margin, Duration most);
  /// A longer one is believed, at once; there is no drain any more. The link is to be found anew, and settle() follows.
  void lengthen(Duration value);
  [[nodiscard]] bool was_lengthened() const { return shorter_ > Duration::zero(); }
  /// The longer one had this in it, which is known now; it is no less than the one before.
  void settle(Duration excess);
  /// Nothing is known any more.
  void forget();

  /// Whether the packets by which it was found can have waited for an outage, or for each other.
  void prove(bool proven) { unproven_ = !proven; }
  [[nodiscard]] bool is_unproven() const { return unproven_; }
  /// The last drain has confirmed it.
  [[nodiscard]] bool is_confirmed() const { return doubt_wait_ > first_doubt_wait; }
  /// No round trip has been as it is to be for so long that nothing which was known is believed: the least of these.
  [[nodiscard]] std::optional<Duration> beyond_hope() const;
  /// It is to be measured anew, by what the link delivers.
  [[nodiscard]] bool is_doubted(Instant now, const DeliveryEstimator& delivery) const;

  /// The queue is drained from now on.
  void begin_drain(Instant now);
  void give_up_drain() { phase_ = Phase::none; }
  /// News while it is drained to so many bytes under way. Returns whether enough is known: the drain is over then, and
  /// conclude() is to follow.
  bool on_drained(const Acknowledged& news, double under_way);
  /// What a drain has shown: the delay is confirmed or shorter, within `margin`; or it may be longer. Returns the
  /// longer one once it was seen twice: a link that stood still for a moment looks like a longer way.
  std::optional<Duration> conclude(Instant now, Duration margin);
  [[nodiscard]] bool draining() const { return phase_ != Phase::none; }
  /// The queue is empty, and packets that were sent since are to tell the delay.
  [[nodiscard]] bool probing() const { return phase_ == Phase::probing; }
  /// How often the queue was drained.
  [[nodiscard]] std::uint32_t drains() const { return drains_; }

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  /// The queue is drained in two steps: until what was under way is gone; until segments sent since have come back.
  enum class Phase : std::uint8_t { none, emptying, probing };

  /// After a doubt without cause not again for this, which doubles each time.
  static constexpr Duration first_doubt_wait = std::chrono::seconds(1);

  [[nodiscard]] Duration nearby() const;

  Duration value_{};
  Duration far_for_{};        ///< of listening, no round trip was about the base delay
  Duration late_for_{};       ///< … and every one was longer than it is to be although the window was the limit
  Duration least_late_{};     ///< the least of these
  Instant drain_began_{};     ///< and, while probing, when the queue was empty
  Duration drained_from_{};   ///< base delay when the drain began
  Instant again_at_ = never;  ///< when it is drained once more
  Instant next_doubt_{};      ///< not before this is it doubted because of the rate
  Duration doubt_wait_ = first_doubt_wait;  ///< that was for nothing so far: the next one comes later
  Duration probed_{};                       ///< the least round trip since the queue was empty
  Instant probed_at_{};                     ///< when the first one came
  Duration longer_{};                       ///< than it was what a drain found, once; zero: nothing was
  Instant longer_at_{};
  Duration shorter_{};  ///< what was believed before a longer one was; zero: that is settled
  std::uint32_t drains_ = 0;
  std::uint8_t probes_ = 0;
  Phase phase_ = Phase::none;
  bool unproven_ = false;
};

}  // namespace sluice::control
