#pragma once

#include <cstdint>
#include <limits>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Upper bound that losses set on the bytes in flight to one UE. It is needed for a buffer shorter than the target
/// queue, and for a policer. These cause losses but no delay, so a window based on delay alone would overfill them
/// permanently.
///
/// Losses are counted per round. A round ends when all bytes in flight at its start are delivered or lost. A small
/// share of lost bytes is tolerated, and so is the path's random loss. Further lost bytes add up over rounds, so
/// an AQM that drops one packet per round has the same effect as an overflowing buffer. If their sum
/// exceeds one segment, the bound falls to 0.7 of the bytes in flight (RFC 9438 section 4.6). On a path with random
/// loss the sum must exceed more segments. The bound never falls below a floor, except in a trial (see below). After a
/// reduction the bound grows with time by CUBIC's function (RFC 9438 section 4.2).
///
/// The floor is the number of bytes that fill the path without a queue. It is the greater rate of the last two rounds
/// times the base delay, plus `beyond_bdp`. If losses continue at the floor, a trial limits the bytes in flight to 0.8
/// of the floor:
///
/// - If the losses stop in the trial, the path's buffer is too short for the floor. The bound grows from the trial's
///   level.
/// - If the losses continue, they count as random loss of the path. That loss is tolerated from then on, and the bound
///   returns to the floor.
/// - If more than a twentieth is lost in the trial, cross traffic overloads the path. The bound is lowered further.
///
/// Memory and work per ACK are constant. Reads no clock. Not thread-safe.
class LossBound {
 public:
  static constexpr double unbounded = std::numeric_limits<double>::infinity();

  /// Values of one ACK of the UE, or of several that arrived at once.
  struct Sample {
    Instant now;
    Bytes delivered;        ///< bytes newly received by the UE, ≥ 0
    Bytes lost;             ///< bytes marked lost since the last sample, ≥ 0
    Bytes in_flight;        ///< bytes in flight after the ACK, ≥ 0
    Duration base_delay{};  ///< round trip through an empty queue; ≤ 0 while unknown
    /// Bytes that must be in flight beyond rate × base delay (RTT without a queue), so that the link stays busy, ≥ 0.
    /// Only used if may_lower(lost) is true.
    double beyond_bdp = 0;
  };

  /// Makes a bound without losses. `segment` is the size of a full packet in bytes, > 0.
  explicit LossBound(double segment) : segment_(segment) {}

  /// True if the next sample, with `lost` lost bytes, may lower the bound: if the sample or the present round has
  /// losses, or if earlier rounds had more losses than are tolerated.
  [[nodiscard]] bool may_lower(Bytes lost) const { return lost_ + lost > Bytes{} || excess_ > 0; }
  /// Adds a sample to the present round (about a round trip). Returns true if losses have lowered the bound.
  bool on_acknowledged(const Sample& sample);
  /// Returns the bound on the bytes in flight at `now`; unbounded if no loss has set one. `beyond_bdp` is the number of
  /// bytes that must be in flight beyond rate × base delay (RTT without a queue), so that the link stays busy.
  [[nodiscard]] double bound_at(Instant now, double beyond_bdp) const;
  /// Discards all losses and the bound, because the path may have changed.
  void forget();

  /// True if losses have set a bound on the bytes in flight.
  [[nodiscard]] bool is_set() const { return w_max_ > 0; }
  /// Returns the share of all bytes that the path loses at random, 0 … 1.
  [[nodiscard]] double random_loss() const { return random_loss_; }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
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
  double cubic_k_ = 0;  ///< K of CUBIC: seconds from a reduction of the bound until it reaches `w_max_` again
  Instant lowered_at_{};
  double random_loss_ = 0;
  /// Floor (lowest bound) in bytes when the present trial began; zero: no trial. A trial tests with 0.8 of the floor in
  /// flight whether losses continue without a queue.
  double trial_floor_ = 0;
  /// Number of bytes delivered or lost, from which random loss is estimated. In a trial (rounds with 0.8 of the floor
  /// in flight) it counts only rounds without a queue. Outside trials it counts from the last loss on.
  double measured_bytes_ = 0;
  double measured_lost_ = 0;  ///< lost bytes that are part of `measured_bytes_`
  /// true if the data of this round was sent before the last reduction of the bound, so that its losses do not count
  bool predates_reduction_ = false;
  // Each round changes the next four members.
  double base_delay_ = 0;    ///< round trip through an empty queue in s, which rises slowly; zero while unknown
  double rate_ = 0;          ///< delivery rate of the last round (about a round trip) in bytes/s
  double earlier_rate_ = 0;  ///< delivery rate of the round (about a round trip) before the last one, in bytes/s
  Instant round_began_{};

  // Each ACK reads the members from here on.
  double w_max_ = 0;  ///< W_max of CUBIC: bytes in flight when losses lowered the bound; zero: no bound
  /// sum of the bytes lost beyond the tolerated loss, ≥ 0; above a limit of one segment or more it lowers the bound
  double excess_ = 0;
  /// bytes that must still be delivered or lost before the round ends: the rest of the data in flight at its start
  Bytes round_left_;
  Bytes sent_;           ///< bytes delivered or lost in this round (about a round trip)
  Bytes lost_;           ///< lost bytes that are part of `sent_`
  Bytes max_in_flight_;  ///< most bytes in flight in this round (about a round trip)
};

}  // namespace sluice::control
