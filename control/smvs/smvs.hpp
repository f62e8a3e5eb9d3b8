#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "control/reference.hpp"
#include "control/smvs/windowed_range.hpp"
#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Selects how the controller determines the bytes in flight to the queue, the sum in eq. 34 of the SMVS paper (Ren &
/// Lin, TMC 2011).
enum class Prediction : std::uint8_t {
  measured,  ///< the bytes in flight are measured: sent by the proxy and not arrived (SmvsObservation::in_flight);
             ///< correct even if the UE's flows are idle
  /// Bytes in flight are the allowances of the last 2d steps, as in the SMVS paper; d is the one-way delay in steps.
  commanded
};

/// Selects how a step that ends with an empty queue (less than one frame) changes the mean service rate b̄. In such a
/// step no data was left to send, so the measured rate is below the rate that the link offers.
enum class EmptyQueue : std::uint8_t {
  hold,   ///< a step with an empty queue may raise the mean rate b̄ but never lowers it
  follow  ///< a step with an empty queue changes the mean rate b̄ like any other step, as in the SMVS paper
};

/// Parameters of SMVS, the sliding-mode controller of the radio queue (Ren & Lin, TMC 2011, section 4). Frames are
/// `frame` bytes. Defaults are for a Node-B 10 ms away; tests/bench/figures/laws.md states on what data they were
/// chosen.
struct SmvsParameters {
  Duration step = std::chrono::milliseconds(5);  ///< Ts: length of a step, > 0
  double alpha = 0.92;  ///< α: weight of the past in the mean rate b̄, 0 < α < 1; about exp(−Ts / (3 · round trip))
  /// δ: gain in 1/s with which the predicted error of the queue is reduced; 0 < δ·Ts < 1, and close to 1 for a short
  /// settling time.
  double delta = 180;
  /// ε, > 0: constant part of the reaction to an error (switching gain), in frames of `frame` bytes per second
  double epsilon = 20;

  /// q0: target length of the queue; about what the link transmits in a round trip 2·τp to the Node-B.
  Reference reference = Reference::time(std::chrono::milliseconds(20));
  Bytes frame{40};  ///< size of a radio frame, > 0
  Bytes buffer{};   ///< Bmax: capacity of the radio queue; 0 = unlimited or unknown
  /// τp: one-way delay between Node-B and proxy, ≥ 0
  Duration one_way_delay = std::chrono::milliseconds(10);

  /// Length of the time window over which ηl and ηu are taken, ≥ Ts. They are the smallest and largest deviation of the
  /// rate from its mean. A burst of the link affects them for this time.
  Duration eta_window = std::chrono::milliseconds(100);
  /// φ: half width of the boundary layer. While the predicted error ŝ of the queue is smaller than φ, the reaction is
  /// proportional to it: sat(ŝ/φ) instead of sgn(ŝ). 0 = always sgn, as in the SMVS paper. With sgn a single burst of
  /// the link makes the queue oscillate.
  Reference boundary_layer = Reference::time(std::chrono::milliseconds(40));
  Prediction prediction = Prediction::measured;
  EmptyQueue empty_queue = EmptyQueue::hold;
  /// Smallest target q0 of the queue, in bytes. It is needed because a target in time is zero bytes while the mean rate
  /// is zero.
  Bytes minimum_reference{3000};
  /// Limit of the bytes in the queue and in flight to it while no service rate is known. It is the initial window of
  /// RFC 6928.
  Bytes initial_allowance{14600};
  /// Time without data in the queue, and without arriving data, after which the mean service rate is discarded.
  Duration restart_after_idle = std::chrono::seconds(10);
};

/// Checks the parameters against the SMVS paper (Ren & Lin, TMC 2011): Proposition 1 (eqs. 37–43) and the rules of
/// section 5.2. Returns the broken rules. `mean` is the service rate b̄, and `variation` the period Tb with which the
/// link's rate varies. Rules on the step's length that need a missing value are not checked. Without `mean` a target in
/// time counts as `minimum_reference`.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const SmvsParameters& parameters,
                                                                        std::optional<Rate> mean = {},
                                                                        std::optional<Duration> variation = {});

/// Converts the parameters to steps of length `period` > 0, the period of the Node-B's reports. Values that apply per
/// step are scaled. A target queue given as a time must last for a round trip and a step. So it changes by the
/// difference of the step lengths, but not to less than a quarter of its value. Returns nothing if the result breaks a
/// rule with severity `error`.
[[nodiscard]] std::optional<SmvsParameters> in_steps_of(const SmvsParameters& parameters, Duration period);

/// Input of Smvs, the sliding-mode controller, at the end of a step, for one UE. Counters are cumulative. If a counter
/// decreases, its sender has restarted, and no rate is measured in this step.
struct SmvsObservation {
  Instant now;                ///< time at which queue and counters were read, on any steady clock
  Bytes queue;                ///< q(k): bytes in the radio queue
  std::uint64_t arrived = 0;  ///< cumulative bytes that reached the queue

  /// Total number of bytes transmitted over the radio. If absent, the rate b(k) is computed from queue and arrivals
  /// (eq. 17 of the SMVS paper).
  std::optional<std::uint64_t> served;

  /// Bytes that the proxy has sent, or was permitted to send, and that have not arrived. Used by Prediction::measured.
  Bytes in_flight;
  /// Measured round trip 2·τp between proxy and Node-B, for Prediction::measured. The default is twice
  /// SmvsParameters::one_way_delay.
  std::optional<Duration> round_trip = std::nullopt;

  /// Factor (0 … 1) that multiplies q0, the target queue. It is below 1 while a short flow is active, because packets
  /// of that flow wait in the queue.
  double reference_factor = 1;
};

/// State of Smvs, the sliding-mode controller, for logs, plots and metrics, with the symbols of the SMVS paper. Amounts
/// are in bytes; ηl and ηu are in bytes per step Ts.
struct SmvsState {
  Rate rate;                   ///< b(k), the service rate of the last step
  Rate mean_rate;              ///< b̄, the mean service rate
  double reference = 0;        ///< q0: target length of the queue in bytes
  double predicted_error = 0;  ///< ŝ: predicted length of the queue minus its target q0, in bytes
  double eta_low = 0;          ///< ηl: smallest recent difference of rate minus mean rate, in bytes per step; usually
                               ///< negative
  double eta_high = 0;         ///< ηu: largest recent difference of rate minus mean rate, in bytes per step
  Bytes allowance;             ///< w: bytes that the last step has permitted to send
  std::uint64_t steps = 0;
};

/// Returns q0, the target queue in bytes, at the service rate `mean`, multiplied by `part`. The result is at least
/// SmvsParameters::minimum_reference, and at most half of the buffer if that is known.
[[nodiscard]] double smvs_reference(const SmvsParameters& parameters, Rate mean, double part = 1);

/// SMVS: sliding-mode variable-structure controller of the radio queue of one UE (Ren & Lin, TMC 2011, eqs. 17–36).
/// Each step computes how many bytes the proxy may send in the next step. The class is used both at the Node-B and at
/// the proxy. Reads no clock.
class Smvs {
 public:
  /// Makes a controller with parameters that pass validate() without errors; throws std::invalid_argument otherwise.
  explicit Smvs(const SmvsParameters& parameters);

  /// Executes one step. Returns the bytes that may be sent in the next step, which replace the unused rest of the
  /// previous allowance. Steps may be longer or shorter than Ts, because reports can be late, or early after a sharp
  /// change of the queue. The rate b(k) is computed over the actual length. If the observation is not newer than the
  /// last one, returns the last allowance again. If it is more than a second older, the clock was reset, and the rate
  /// estimate restarts.
  Bytes step(const SmvsObservation& observation);

  [[nodiscard]] const SmvsState& state() const { return state_; }
  [[nodiscard]] const SmvsParameters& parameters() const { return parameters_; }
  /// Sets the mean service rate b̄ to `mean`, because this controller replaces another one that has measured it. Zero
  /// makes the rate unknown.
  void seed(Rate mean);
  /// Restarts the measurement of the rate, because the clock or the counters of the observations restart (Node-B
  /// restart, handover). The mean rate b̄ is kept.
  void restart();

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  struct Command {
    Instant at;
    double bytes = 0;

    template <typename Self, typename Visit>
    static void fields(Self& self, Visit& visit);
  };

  [[nodiscard]] bool is_idle(const SmvsObservation& observation) const;
  void measure(const SmvsObservation& observation);
  [[nodiscard]] double first_allowance(const SmvsObservation& observation) const;
  [[nodiscard]] double in_flight(const SmvsObservation& observation) const;
  [[nodiscard]] double law(const SmvsObservation& observation);
  Bytes grant(Instant now, double allowance);

  SmvsParameters parameters_;
  std::size_t delay_steps_;  ///< d = ceil(τp / Ts): one-way delay in steps
  WindowedRange eta_;
  /// Ring of recent allowances: at least those of the last 2d steps. Empty unless Prediction::commanded is selected.
  std::vector<Command> commands_;
  std::size_t next_command_ = 0;
  std::size_t commands_used_ = 0;
  std::optional<SmvsObservation> last_;
  Instant busy_until_{};  ///< time of the last observation with arrived bytes or with bytes in the queue
  double mean_ = 0;       ///< b̄: mean service rate in bytes/s
  bool mean_known_ = false;
  double fraction_ = 0;  ///< fraction of a byte that rounding has left over; it is added to the next step's allowance
  SmvsState state_;
};

}  // namespace sluice::control
