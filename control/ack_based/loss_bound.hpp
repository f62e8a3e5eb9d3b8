#pragma once

#include <cstdint>
#include <limits>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Upper bound that losses set on the bytes in flight to one UE. A delay-based window alone would permanently overfill
/// a buffer that holds less than its reference, or a policer, because these show loss and no delay.
///
/// Losses are counted per round, that is, until all that was in flight at its start is delivered or lost. What is lost
/// beyond a small share and the path's random loss adds up over rounds. Two segments of it lower the bound: to 0.7 of
/// what was in flight (RFC 9438 section 4.6), but not below the floor. So an AQM that drops one packet in each round
/// lowers it as well as a buffer that overflows. The bound then grows with time by CUBIC's function (RFC 9438
/// section 4.2).
///
/// The floor is what fills the path without a queue: the rate of the last two rounds times the base delay, and what
/// must be in flight beside that. If losses go on at the floor, a trial has 0.8 of it in flight. Losses that stop in
/// the trial are those of a queue too short for the floor, so the bound grows from there. Losses that go on are the
/// path's random loss, so they are tolerated from then on, and the floor is in force again. If a trial loses more than
/// a twentieth, others overload the path, and the bound is lowered further.
///
/// State and work are constant. The class reads no clock; thread: its owner's.
class LossBound {
 public:
  static constexpr double unbounded = std::numeric_limits<double>::infinity();

  /// One ACK of the UE, or several that came at once.
  struct Sample {
    Instant now;
    double delivered = 0;   ///< bytes newly received by the UE, ≥ 0
    double lost = 0;        ///< bytes marked lost since the last sample, ≥ 0
    double in_flight = 0;   ///< bytes in flight after the ACK, ≥ 0
    Duration base_delay{};  ///< minimum round trip; ≤ 0 while unknown
    double beyond_bdp = 0;  ///< bytes that must be in flight beyond rate times base delay, ≥ 0
  };

  /// `segment`: bytes of a full packet, > 0.
  explicit LossBound(double segment) : segment_(segment) {}

  /// Returns true if the sample has lowered the bound.
  bool on_acknowledged(const Sample& sample);
  /// Returns the bound at `now` in bytes; unbounded if no loss has set one. Parameters as in Sample.
  [[nodiscard]] double bound_at(Instant now, double beyond_bdp) const;
  /// Discards all losses, because the path may be another one.
  void forget();

  /// True if losses have set a bound.
  [[nodiscard]] bool is_set() const { return w_max_ > 0; }
  /// Share of all bytes that the path loses at random, 0 … 1.
  [[nodiscard]] double random_loss() const { return random_loss_; }

  /// Calls `visit` with each state member and its name, for recorded decisions (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  bool end_round(const Sample& sample);
  void lower(const Sample& sample, double level);
  void measure_path(const Sample& sample);
  void measure_random_loss(bool is_clear);
  bool end_trial(const Sample& sample);
  [[nodiscard]] double floor(double beyond_bdp) const;
  [[nodiscard]] bool is_excessive() const;

  double segment_;
  double w_max_ = 0;    ///< in flight when losses lowered the bound, bytes: CUBIC's W_max; zero: no bound
  double cubic_k_ = 0;  ///< s after which the bound is at w_max_ again: CUBIC's K
  Instant lowered_at_{};
  double random_loss_ = 0;
  double excess_ = 0;          ///< bytes lost beyond what is tolerated, ≥ 0
  double trial_floor_ = 0;     ///< the floor when a trial began, bytes; zero: no trial
  double measured_bytes_ = 0;  ///< bytes delivered or lost: in a trial while no queue stood, else since the last loss
  double measured_lost_ = 0;   ///< bytes of these that were lost
  double base_delay_ = 0;      ///< minimum that rises slowly, s; zero while unknown
  double rate_ = 0;            ///< delivered in the last round, bytes/s
  double earlier_rate_ = 0;    ///< delivered in the round before it, bytes/s
  Instant round_began_{};
  double round_left_ = 0;            ///< bytes to be delivered or lost before the round ends
  double sent_ = 0;                  ///< bytes delivered or lost in this round
  double lost_ = 0;                  ///< bytes of these that were lost
  double max_in_flight_ = 0;         ///< most bytes in flight in this round
  bool predates_reduction_ = false;  ///< the data of this round left before the bound was lowered
};

}  // namespace sluice::control
