// SMVS, the sliding-mode variable-structure controller of one bearer (Ren & Lin, TMC 2011, section 4, eqs. 17 to 36).
// Reporter calls step() at the Node-B, and AllowanceController at the proxy. ReceiveWindowControl uses it for the
// window that is advertised to the server. Invariant: amounts are clamped, so no counter from outside makes an integer
// conversion undefined.

#include "control/smvs/smvs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice::control {
namespace {

std::size_t steps_of_delay(const SmvsParameters& parameters) {
  if (parameters.step <= Duration::zero() || parameters.one_way_delay <= Duration::zero()) return 0;
  return static_cast<std::size_t>((parameters.one_way_delay + parameters.step - Duration(1)) / parameters.step);
}

/// Largest allowance (bytes to send in one step). It exceeds the capacity of any link. The limit also keeps the
/// conversion to an integer in range, whatever value a reported counter has.
constexpr double largest_allowance = 1e12;
constexpr double fastest = 1e14;  ///< largest service rate that is accepted, in bytes/s

/// Largest time by which an observation may be older than the last one and still count as reordered, so that it is
/// ignored. An even older observation comes from a clock that was reset.
constexpr Duration largest_step_back = std::chrono::seconds(1);

/// Returns the predicted queue in bytes: the bytes in the queue and in flight to it, minus those that the link is
/// expected to transmit before the next allowance arrives. The result is at least zero, unlike in the linear model of
/// the SMVS paper. With a negative queue the first burst after a pause would exceed the target by the data of one round
/// trip to the Node-B.
double predicted_queue(double queue_and_in_flight, double drained_meanwhile) {
  return std::max(0.0, queue_and_in_flight - drained_meanwhile);
}

double sign_or_saturation(double error, double layer) {
  if (layer > 0) return std::clamp(error / layer, -1.0, 1.0);
  return error > 0 ? 1.0 : error < 0 ? -1.0 : 0.0;
}

}  // namespace

Smvs::Smvs(const SmvsParameters& parameters)
    : parameters_(parameters), delay_steps_(steps_of_delay(parameters)), eta_(parameters.eta_window) {
  refuse_errors(validate(parameters));
  // Early reports cause more than one command per Ts, so twice the regular number is kept.
  if (parameters_.prediction == Prediction::commanded) commands_.resize(4 * delay_steps_ + 4);
}

void Smvs::seed(Rate mean) {
  mean_ = mean.bytes_per_second();
  mean_known_ = mean_ > 0;
}

void Smvs::restart() {
  last_.reset();
  eta_.clear();
  commands_used_ = 0;
}

Bytes Smvs::step(const SmvsObservation& observation) {
  if (last_ && last_->now - observation.now > largest_step_back) restart();
  if (last_ && observation.now <= last_->now) return state_.allowance;
  if (last_) measure(observation);
  if (!last_ || !is_idle(observation)) busy_until_ = observation.now;
  if (observation.now - busy_until_ > parameters_.restart_after_idle) seed(Rate());
  last_ = observation;
  ++state_.steps;
  state_.mean_rate = Rate::bytes_per_second(mean_);
  if (!mean_known_) return grant(observation.now, first_allowance(observation));
  return grant(observation.now, law(observation));
}

bool Smvs::is_idle(const SmvsObservation& observation) const {
  return observation.arrived == last_->arrived && observation.queue <= Bytes(0);
}

/// Updates the service rate b(k), its mean b̄ and the bounds of η, the deviation of the rate from its mean. Uses the
/// changes since the last observation.
void Smvs::measure(const SmvsObservation& observation) {
  const bool infer = !observation.served || !last_->served;
  if (observation.arrived < last_->arrived || (!infer && *observation.served < *last_->served)) return;
  const double elapsed_s = to_seconds(observation.now - last_->now);
  const double served = infer ? static_cast<double>((last_->queue - observation.queue).count()) +
                                    static_cast<double>(observation.arrived - last_->arrived)
                              : static_cast<double>(*observation.served - *last_->served);
  const double rate = std::clamp(served / elapsed_s, 0.0, fastest);
  state_.rate = Rate::bytes_per_second(rate);
  const bool starved = parameters_.empty_queue == EmptyQueue::hold && observation.queue < parameters_.frame;
  if (starved && rate < mean_) return;
  if (!mean_known_) {
    if (rate > 0) seed(state_.rate);
    return;
  }
  const double step_s = to_seconds(parameters_.step);
  // Nearly every report is on time, so std::pow is rarely needed.
  const double past = elapsed_s == step_s ? parameters_.alpha : std::pow(parameters_.alpha, elapsed_s / step_s);
  mean_ = past * mean_ + (1 - past) * rate;
  eta_.add(observation.now, (rate - mean_) * std::min(elapsed_s, step_s));
}

double Smvs::first_allowance(const SmvsObservation& observation) const {
  return static_cast<double>((parameters_.initial_allowance - observation.queue).count()) - in_flight(observation);
}

/// Returns the bytes on the way to the radio queue, which arrive there before the bytes that this step permits to send.
/// They are measured, or computed from earlier allowances (Prediction).
double Smvs::in_flight(const SmvsObservation& observation) const {
  if (parameters_.prediction == Prediction::measured) return static_cast<double>(observation.in_flight.count());
  const Duration horizon = parameters_.step * static_cast<std::int64_t>(2 * delay_steps_);
  double sum = 0;
  Instant until = observation.now;
  for (std::size_t i = 0; i < commands_used_; ++i) {
    const Command& command = commands_[(next_command_ + commands_.size() - 1 - i) % commands_.size()];
    if (observation.now - command.at > horizon) break;
    sum += command.bytes * std::min(1.0, to_seconds(until - command.at) / to_seconds(parameters_.step));
    until = command.at;
  }
  return sum;
}

/// Returns the bytes that may be sent in the next step (Ren & Lin, TMC 2011, eq. 36); may be negative.
double Smvs::law(const SmvsObservation& observation) {
  const double step_s = to_seconds(parameters_.step);
  const auto frame = static_cast<double>(parameters_.frame.count());
  const Rate mean = Rate::bytes_per_second(mean_);
  const double horizon_s = parameters_.prediction == Prediction::measured
                               ? to_seconds(observation.round_trip.value_or(2 * parameters_.one_way_delay))
                               : 2 * static_cast<double>(delay_steps_) * step_s;
  state_.reference = smvs_reference(parameters_, mean, observation.reference_factor);
  const double arriving = static_cast<double>(observation.queue.count()) + in_flight(observation);
  state_.predicted_error = predicted_queue(arriving, mean_ * horizon_s) - state_.reference;
  const WindowedRange::Range eta = eta_.range(observation.now).value_or(WindowedRange::Range{});
  state_.eta_low = eta.low;
  state_.eta_high = eta.high;
  const double eta_middle = (state_.eta_high + state_.eta_low) / 2;
  const double eta_half = (state_.eta_high - state_.eta_low) / 2;
  const double direction =
      sign_or_saturation(state_.predicted_error, parameters_.boundary_layer.in_bytes(parameters_.frame, mean));
  const double x = eta_middle - parameters_.delta * step_s * state_.predicted_error -
                   (eta_half + parameters_.epsilon * frame * step_s) * direction;
  return mean_ * step_s + x;
}

std::optional<SmvsParameters> in_steps_of(const SmvsParameters& parameters, Duration period) {
  const double ratio = to_seconds(period) / to_seconds(parameters.step);
  SmvsParameters fitted = parameters;
  fitted.step = period;
  fitted.alpha = std::clamp(std::pow(parameters.alpha, ratio), 0.01, 0.9999);
  fitted.delta = parameters.delta / ratio;
  fitted.epsilon = parameters.epsilon / ratio;
  fitted.eta_window = std::max(parameters.eta_window, 2 * period);
  if (parameters.reference.unit() == Reference::Unit::time) {
    const double span = parameters.reference.value();
    const double longer = std::max(span + to_seconds(period - parameters.step), span / 4);
    fitted.reference = Reference::time(from_seconds(longer));
    if (parameters.boundary_layer.unit() == Reference::Unit::time) {
      fitted.boundary_layer = Reference::time(from_seconds(parameters.boundary_layer.value() * longer / span));
    }
  }
  const std::vector<Violation> broken = validate(fitted);
  const bool holds = std::none_of(broken.begin(), broken.end(),
                                  [](const Violation& rule) { return rule.severity == Violation::Severity::error; });
  return holds ? std::optional(fitted) : std::nullopt;
}

double smvs_reference(const SmvsParameters& parameters, Rate mean, double part) {
  const double asked = std::max(part * parameters.reference.in_bytes(parameters.frame, mean),
                                static_cast<double>(parameters.minimum_reference.count()));
  const auto buffer = static_cast<double>(parameters.buffer.count());
  return std::min(asked, buffer > 0 ? buffer / 2 : largest_allowance);
}

Bytes Smvs::grant(Instant now, double allowance) {
  const double total = std::clamp(allowance, 0.0, largest_allowance) + fraction_;
  const double whole = std::floor(total);
  fraction_ = total - whole;
  state_.allowance = Bytes(whole);
  if (!commands_.empty()) {
    commands_[next_command_] = {now, whole};
    next_command_ = (next_command_ + 1) % commands_.size();
    commands_used_ = std::min(commands_used_ + 1, commands_.size());
  }
  return state_.allowance;
}

}  // namespace sluice::control
