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

/// Source of the sum in eq. 34, the bytes in flight to the queue.
enum class Prediction : std::uint8_t {
  measured,  ///< bytes injected that have not arrived (SmvsObservation::in_flight); correct for idle flows too
  commanded  ///< allowances of the last 2d steps, as in the paper
};

/// Treatment of a step that ends with an empty queue. The server had nothing left to send, so the rate served is below
/// what the link could have served.
enum class EmptyQueue : std::uint8_t {
  hold,   ///< an empty-queue step may raise b̄ but never lowers it
  follow  ///< an empty-queue step counts like any other, as in the paper
};

/// Parameters of the sliding-mode controller (Ren & Lin, TMC 2011, section 4). Frames are `frame` bytes.
/// Defaults are for a Node-B 10 ms away; tests/bench/figures/laws.md states on what data they were chosen.
struct SmvsParameters {
  Duration step = std::chrono::milliseconds(5);  ///< Ts, > 0
  double alpha = 0.92;  ///< weight of the past in b̄, 0 < α < 1; about exp(−Ts / 3 round trips)
  double delta = 180;   ///< δ in 1/s; 0 < δ·Ts < 1 and close to 1
  double epsilon = 20;  ///< ε in frames/s, > 0
  Reference reference = Reference::time(std::chrono::milliseconds(20));  ///< q0; about one round trip 2·τp
  Bytes frame{40};                                                       ///< size of a radio frame, > 0
  Bytes buffer{};                                          ///< Bmax of the radio queue; 0 = unlimited or unknown
  Duration one_way_delay = std::chrono::milliseconds(10);  ///< τp between Node-B and proxy, ≥ 0
  /// Length of the window for the bounds of η, ≥ Ts. One burst of the link stays in them for this time.
  Duration eta_window = std::chrono::milliseconds(100);
  /// φ: sat(ŝ/φ) replaces sgn(ŝ); 0 = sgn, as in the paper.
  /// With frames of a few dozen bytes, bursts of tens of kilobytes make η2 much larger than ε·Ts. With sgn the queue
  /// then swings by η2 in each direction.
  Reference boundary_layer = Reference::time(std::chrono::milliseconds(40));
  Prediction prediction = Prediction::measured;
  EmptyQueue empty_queue = EmptyQueue::hold;
  /// Smallest q0, because a reference in time is zero while the mean rate is zero.
  Bytes minimum_reference{3000};
  /// Largest number of bytes in flight while no service rate is known (initial window of RFC 6928).
  Bytes initial_allowance{14600};
  /// Time without any data after which the known service rate is discarded.
  Duration forget_after = std::chrono::seconds(10);
};

/// Checks parameters against Proposition 1 (eqs. 37–43) and the rules of section 5.2. Rules that depend on the link are
/// checked if given: `mean` is the service rate b̄, `variation` the period Tb of bandwidth variation.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const SmvsParameters& parameters,
                                                                        std::optional<Rate> mean = {},
                                                                        std::optional<Duration> variation = {});

/// Converts the parameters to steps of `period` > 0, the period of the reports. Values per step are scaled.
/// A reference in time grows or shrinks by the difference of the steps, because it must last for a round trip and a
/// step.
/// Returns nothing if the rules do not hold in such steps.
[[nodiscard]] std::optional<SmvsParameters> in_steps_of(const SmvsParameters& parameters, Duration period);

/// Input of the controller at the end of a step, for one bearer. Counters are cumulative; a decrease (the sender has
/// restarted) restarts the measurement.
struct SmvsObservation {
  Instant now;                          ///< time at which queue and counters were read, on any steady clock
  Bytes queue;                          ///< q(k)
  std::uint64_t arrived = 0;            ///< bytes that reached the queue
  std::optional<std::uint64_t> served;  ///< bytes that left over the air; without it b(k) is inferred by eq. 17
  Bytes in_flight;  ///< bytes injected by the proxy or granted to it that have not arrived; for Prediction::measured
  /// Measured 2·τp; default: twice SmvsParameters::one_way_delay. For Prediction::measured.
  std::optional<Duration> round_trip = std::nullopt;
  double reference_factor = 1;  ///< share of q0 to use; below 1 while a short flow waits behind the queue, 0 … 1
};

/// State of the controller for logs, plots and metrics. Amounts in bytes, those of η per step Ts.
struct SmvsState {
  Rate rate;                   ///< b(k), the service rate of the last step
  Rate mean_rate;              ///< b̄, the mean service rate
  double reference = 0;        ///< q0, the reference queue
  double predicted_error = 0;  ///< ŝ: predicted queue minus the reference
  double eta_low = 0;          ///< ηl, lower bound of the deviation η from the mean
  double eta_high = 0;         ///< ηu, upper bound of η
  Bytes allowance;             ///< w, the allowance of the last step
  std::uint64_t steps = 0;
};

/// Returns q0 in bytes at a mean service rate, multiplied by `part`, but at least the smallest reference.
[[nodiscard]] double smvs_reference(const SmvsParameters& parameters, Rate mean, double part = 1);

/// Sliding-mode variable-structure controller of one bearer (eqs. 17–36). Computes once per step how many bytes the
/// proxy may inject in the next step.
/// Node-B and proxy use this class alike. Reads no clock.
class Smvs {
 public:
  /// Makes a controller with parameters that pass validate() without errors; throws std::invalid_argument otherwise.
  explicit Smvs(const SmvsParameters& parameters);

  /// Executes one step. Returns the allowance for the next Ts, which replaces the rest of the previous one.
  /// Steps may have irregular length, because reports can be early for a sharp change, or late; b(k) is computed over
  /// the real time.
  /// An observation not newer than the last one changes nothing and returns the last allowance. One that is more than a
  /// second older comes from a reset clock, and the measurement restarts.
  Bytes step(const SmvsObservation& observation);

  [[nodiscard]] const SmvsState& state() const { return state_; }
  [[nodiscard]] const SmvsParameters& parameters() const { return parameters_; }
  /// Sets a known mean rate, for a controller that replaces another one or a bearer that returns. Zero makes it
  /// unknown.
  void seed(Rate mean);
  /// Restarts the measurement, because the clock or the counters of the observations restart (Node-B restart,
  /// handover). b̄ is kept.
  void restart();

  /// Calls `visit` with each state member and its name, for recorded decisions (control/decision_log/states.hpp).
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
  std::size_t delay_steps_;  ///< d = ceil(τp / Ts)
  WindowedRange eta_;
  std::vector<Command> commands_;  ///< ring of the last 2d allowances; only for Prediction::commanded
  std::size_t next_command_ = 0;
  std::size_t commands_used_ = 0;
  std::optional<SmvsObservation> last_;
  Instant busy_until_{};  ///< last time at which data was observed
  double mean_ = 0;       ///< b̄ in bytes/s
  bool mean_known_ = false;
  double fraction_ = 0;  ///< part of a byte carried to the next step
  SmvsState state_;
};

}  // namespace sluice::control
