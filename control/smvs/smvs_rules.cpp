// Rules of SMVS' parameters: ranges, Proposition 1 (eqs. 37–43) and section 5.2 of Ren & Lin, TMC 2011. Smvs refuses
// parameters with errors; configuration and scenarios report warnings too.

#include <cmath>

#include "control/rule_checker.hpp"
#include "control/smvs/smvs.hpp"

namespace sluice::control {
namespace {

using Severity = Violation::Severity;

/// Largest one-way delay in steps. It exceeds the delay of any network, and bounds the memory that
/// Prediction::commanded needs.
constexpr double max_delay_steps = 4096;

void check_ranges(const SmvsParameters& p, RuleChecker& check) {
  const double ts = to_seconds(p.step);
  check.require(p.step, ts > 0, Severity::error, "Ts > 0", print("Ts = ", ts, " s"));
  check.require(p.alpha, p.alpha > 0 && p.alpha < 1, Severity::error, "0 < α < 1", print("α = ", p.alpha));
  check.require(p.delta, p.delta > 0, Severity::error, "δ > 0", print("δ = ", p.delta, " 1/s"));
  check.require(p.epsilon, p.epsilon > 0 && std::isfinite(p.epsilon), Severity::error, "ε > 0",
                print("ε = ", p.epsilon, " frames/s"));
  check.require(p.frame, p.frame > Bytes(0), Severity::error, "frame > 0", print("frame = ", p.frame.count(), " B"));
  check.require(p.buffer, p.buffer >= Bytes(0), Severity::error, "Bmax ≥ 0", print("Bmax = ", p.buffer.count(), " B"));
  check.require(p.initial_allowance, p.minimum_reference >= Bytes(0) && p.initial_allowance > Bytes(0), Severity::error,
                "start-up amounts", "minimum reference ≥ 0 and initial allowance > 0 are needed to start at all");
  check.require(p.one_way_delay, p.one_way_delay >= Duration::zero(), Severity::error, "τp ≥ 0",
                print("τp = ", to_seconds(p.one_way_delay), " s"));
  check.require(p.eta_window, p.eta_window >= p.step, Severity::error, "η window ≥ Ts",
                print(to_seconds(p.eta_window), " s < Ts = ", ts, " s: no step would ever lie in it"));
  if (ts > 0) {
    const double steps = std::ceil(to_seconds(p.one_way_delay) / ts);
    check.require(p.one_way_delay, steps <= max_delay_steps, Severity::error, "d = ⌈τp/Ts⌉ ≤ 4096",
                  print("d = ", steps));
  }
}

/// Checks Proposition 1 and eq. 43 of the SMVS paper (Ren & Lin, TMC 2011): the queue must stay above zero and below
/// the buffer size. `mean` is the mean service rate b̄. While it is unknown, a target in time counts as
/// `minimum_reference`.
void check_band(const SmvsParameters& p, std::optional<Rate> mean, RuleChecker& check) {
  const double ts = to_seconds(p.step);
  const auto frame = static_cast<double>(p.frame.count());
  const double band = p.epsilon * ts / (1 - p.delta * ts);
  const double asked = p.reference.in_bytes(p.frame, mean.value_or(Rate())) / frame;
  const double q0 = smvs_reference(p, mean.value_or(Rate())) / frame;  // held, whatever reference is configured
  check.require(p.epsilon, band < q0, Severity::error, "ε·Ts/(1−δ·Ts) < q0",
                print("band ", band, " frames ≥ q0 = ", q0, " frames: the queue may run empty"));
  if (p.buffer <= Bytes(0)) return;
  const double room = static_cast<double>(p.buffer.count()) / frame - q0;
  check.require(p.epsilon, band < room, Severity::error, "ε·Ts/(1−δ·Ts) < Bmax − q0",
                print("band ", band, " frames ≥ Bmax − q0 = ", room, " frames: the buffer may overflow"));
  const double half = static_cast<double>(p.buffer.count()) / frame / 2;
  check.require(p.reference, asked <= half, Severity::warning, "q0 ≤ Bmax/2",
                print("q0 = ", asked, " frames: ", half, " frames are held, half of the buffer"));
}

/// Checks the rules of the SMVS paper (Ren & Lin, TMC 2011, section 5.2) on the length Ts of a step. `mean` is the mean
/// service rate b̄, and `variation` the period Tb with which the rate varies. A rule whose value is unknown is not
/// checked.
void check_step(const SmvsParameters& p, std::optional<Rate> mean, std::optional<Duration> variation,
                RuleChecker& check) {
  const double ts = to_seconds(p.step);
  if (p.buffer > Bytes(0) && mean && *mean > Rate()) {
    const double drained_in = static_cast<double>(p.buffer.count()) / mean->bytes_per_second();
    check.require(
        p.step, ts < drained_in, Severity::warning, "Ts < Bmax/b̄",
        print("Ts = ", ts, " s ≥ ", drained_in, " s: a full buffer drains within one step and the queue oscillates"));
  }
  if (variation) {
    check.require(
        p.step, ts < to_seconds(*variation) / 2, Severity::warning, "Ts < Tb/2",
        print("Ts = ", ts, " s ≥ ", to_seconds(*variation) / 2, " s: the bandwidth varies faster than it is sampled"));
  }
  check.require(p.delta, p.delta * ts >= 0.6, Severity::warning, "δ·Ts → 1",
                print("δ·Ts = ", p.delta * ts, ": the queue takes long to settle"));
}

}  // namespace

std::vector<Violation> validate(const SmvsParameters& parameters, std::optional<Rate> mean,
                                std::optional<Duration> variation) {
  RuleChecker check;
  check_ranges(parameters, check);
  if (!check.clean()) return check.take();  // the checks below divide by these
  const double product = parameters.delta * to_seconds(parameters.step);
  check.require(parameters.delta, product < 1, Severity::error, "δ·Ts < 1",
                print("δ·Ts = ", product, ": every step overshoots the reference"));
  if (!check.clean()) return check.take();
  check_band(parameters, mean, check);
  check_step(parameters, mean, variation, check);
  return check.take();
}

}  // namespace sluice::control
