#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "control/reference.hpp"
#include "control/sliding_extremes.hpp"
#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// What stands for the sum of eq. 34, the data that is under way to the queue.
enum class Prediction : std::uint8_t {
  measured,  ///< what was really injected and has not arrived (Observation::in_flight); right for idle flows too
  commanded  ///< the allowances of the last 2d steps, as the paper prints it
};

/// How a step counts whose queue was empty at its end: the server had nothing left to send, so what it served is not
/// what it could have served.
enum class EmptyQueue : std::uint8_t {
  hold,   ///< such a step may raise b̄ but never lowers it
  follow  ///< such a step counts like any other, as the paper has it
};

/// Parameters of the sliding-mode controller (Ren & Lin, TMC 2011, section 4). Frames are `frame` bytes. The defaults
/// are for a Node-B 10 ms away; tests/bench/figures/laws.md says what they were chosen on.
struct SmvsParameters {
  Duration step = std::chrono::milliseconds(5);  ///< Ts, > 0
  double alpha = 0.92;  ///< weight of the past in b̄, 0 < α < 1; about exp(−Ts / 3 round trips)
  double delta = 180;   ///< δ, 1/s; 0 < δ·Ts < 1 and close to 1
  double epsilon = 20;  ///< ε, frames/s, > 0
  Reference reference = Reference::time(std::chrono::milliseconds(20));  ///< q0; about one round trip 2·τp
  Bytes frame{40};                                                       ///< size of a radio frame, > 0
  Bytes buffer{};                                          ///< Bmax of the radio queue; 0 = unlimited or unknown
  Duration one_way_delay = std::chrono::milliseconds(10);  ///< τp between Node-B and proxy, ≥ 0
  /// How far back the bounds of η look, ≥ Ts. One burst of the link stays in them for so long.
  Duration eta_window = std::chrono::milliseconds(100);
  /// φ: sat(ŝ/φ) stands for sgn(ŝ); 0 = sgn, as in the paper. Frames of a few dozen bytes against bursts of tens of
  /// kilobytes make η2 dwarf ε·Ts, and sgn then swings the queue by η2 each way.
  Reference boundary_layer = Reference::time(std::chrono::milliseconds(40));
  Prediction prediction = Prediction::measured;
  EmptyQueue empty_queue = EmptyQueue::hold;
  /// q0 is never taken for less than this: a reference in time is nothing at all while the mean rate is zero.
  Bytes minimum_reference{3000};
  /// What may be under way while no service rate is known yet (RFC 6928's initial window).
  Bytes initial_allowance{14600};
  /// After so long without any data the known service rate is taken for stale and found anew.
  Duration forget_after = std::chrono::seconds(10);
};

/// Checks parameters against Proposition 1 (eqs. 37–43) and the rules of section 5.2. What depends on the link is
/// checked where it is given: `mean` service rate b̄, `variation` the period Tb of bandwidth variation.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const SmvsParameters& parameters,
                                                                        std::optional<Rate> mean = {},
                                                                        std::optional<Duration> variation = {});

/// The same law in steps of `period` (> 0), as the reports come: what is meant for each step is for a longer or shorter
/// one, and a reference in time holds a step more or less, since it is to last for a round trip and a step. Nothing
/// where the rules do not hold in such steps.
[[nodiscard]] std::optional<SmvsParameters> in_steps_of(const SmvsParameters& parameters, Duration period);

/// What the controller is told at the end of a step. All of one bearer. Counters are cumulative; one that runs
/// backwards (the sender has restarted) starts the measurement anew.
struct SmvsObservation {
  Instant now;                          ///< when queue and counters were read, on any clock that runs evenly
  Bytes queue;                          ///< q(k)
  std::uint64_t arrived = 0;            ///< bytes that reached the queue
  std::optional<std::uint64_t> served;  ///< bytes that left over the air; without it b(k) is inferred by eq. 17
  Bytes in_flight;  ///< injected by the proxy or granted to it, and not arrived; Prediction::measured
  /// 2·τp where it is measured; otherwise twice SmvsParameters::one_way_delay. Prediction::measured.
  std::optional<Duration> round_trip = std::nullopt;
  double reference_part = 1;  ///< of q0 that is to wait: less while somebody waits behind it, 0 … 1
};

/// A snapshot for observers: logs, plots, metrics. Amounts in bytes, those of η per step of Ts.
struct SmvsState {
  Rate rate;                   ///< b(k) of the last step
  Rate mean_rate;              ///< b̄
  double reference = 0;        ///< q0
  double predicted_error = 0;  ///< ŝ: predicted queue less the reference
  double eta_low = 0;          ///< ηl
  double eta_high = 0;         ///< ηu
  Bytes allowance;             ///< w of the last step
  std::uint64_t steps = 0;
};

/// q0 in bytes at a mean service rate; `part` of it, but no less than the least reference.
[[nodiscard]] double smvs_reference(const SmvsParameters& parameters, Rate mean, double part = 1);

/// The sliding-mode variable-structure controller of one bearer (eqs. 17–36). Computes, once per step, how many bytes
/// the proxy may inject in the coming step. The same object serves at the Node-B and at the proxy. No clock inside.
class Smvs {
 public:
  /// Parameters must be free of errors according to validate(); throws std::invalid_argument otherwise.
  explicit Smvs(const SmvsParameters& parameters);

  /// One step. Returns the allowance for the coming Ts; it replaces what is left of the one before. Steps may be of
  /// irregular length (a report that is early for a sharp change, or late): b(k) is taken over the time that really
  /// passed. An observation no newer than the last one changes nothing and returns the last allowance; one that is more
  /// than a second older comes from a clock that was set anew, and the measurement restarts.
  Bytes step(const SmvsObservation& observation);

  [[nodiscard]] const SmvsState& state() const { return state_; }
  [[nodiscard]] const SmvsParameters& parameters() const { return parameters_; }
  /// Starts with a known mean rate instead of from nothing (a law that takes over from another, a bearer that returns).
  /// Zero makes it unknown again.
  void seed(Rate mean);
  /// The observations' clock or counters begin anew (the Node-B has restarted, a handover). b̄ is kept.
  void restart();

  /// Its state, for a trace (control/trace/states.hpp).
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
  [[nodiscard]] double under_way(const SmvsObservation& observation) const;
  [[nodiscard]] double law(const SmvsObservation& observation);
  Bytes grant(Instant now, double allowance);

  SmvsParameters parameters_;
  std::size_t delay_steps_;  ///< d = ceil(τp / Ts)
  SlidingExtremes eta_;
  std::vector<Command> commands_;  ///< ring of the last 2d allowances; only for Prediction::commanded
  std::size_t next_command_ = 0;
  std::size_t commands_used_ = 0;
  std::optional<SmvsObservation> last_;
  Instant busy_until_{};  ///< when data was last seen
  double mean_ = 0;       ///< b̄, bytes/s
  bool mean_known_ = false;
  double fraction_ = 0;  ///< part of a byte carried to the next step
  SmvsState state_;
};

}  // namespace sluice::control
