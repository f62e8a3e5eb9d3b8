// Generalized Window Advertising (Gerla et al., ETT 2002, section 5): number of active flows and advertised window.
// GwaController and the emulator's Reporter and GwaRouter call gwa_window(); RadioQueue counts the flows of a queue.
// Invariant: N is at least one and at least the flows observed within Δ, so advertised windows fit the buffer.

#include "control/window_laws/gwa.hpp"

#include <algorithm>
#include <cmath>

#include "control/rule_checker.hpp"

namespace sluice::control {
namespace {

constexpr double slowest_decay = 0.999;
constexpr Duration shortest_interval = std::chrono::milliseconds(1);
/// Mean number of flows (eq. 9 of the GWA paper, Gerla et al., ETT 2002) below which it is set to zero. It would
/// otherwise approach zero without end.
constexpr double nothing = 1e-6;
/// Factor of an even share of the link. A flow that uses less than this product counts as the part of an even share
/// that it uses, and any other flow as one. A starting flow exceeds the product within a few round trips.
constexpr double little = 0.125;

double share(const GwaParameters& parameters, const GwaObservation& seen, double flows) {
  const auto buffer = static_cast<double>(parameters.buffer.count());
  const auto queue = static_cast<double>(seen.queue.count());
  switch (parameters.policy) {
    case GwaPolicy::round_robin:
      return buffer / flows - queue;
    case GwaPolicy::fcfs:
      return (buffer - queue) / flows;
    case GwaPolicy::bandwidth_aware:
      return seen.rate.bytes_per_second() / flows * to_seconds(seen.round_trip);
  }
  return 0;
}

}  // namespace

std::vector<Violation> validate(const GwaParameters& p, Rate rate, Duration round_trip) {
  using Severity = Violation::Severity;
  RuleChecker check;
  check.require(p.buffer, p.buffer > Bytes(0), Severity::error, "B > 0", print("B = ", p.buffer.count(), " B"));
  check.require(p.decay, p.decay >= 0 && p.decay <= slowest_decay, Severity::error, "0 ≤ λ ≤ 0.999",
                print("λ = ", p.decay));
  check.require(p.interval, p.interval >= shortest_interval, Severity::error, "Δ ≥ 1 ms",
                print("Δ = ", to_seconds(p.interval), " s"));
  if (!check.clean() || p.policy == GwaPolicy::bandwidth_aware) return check.take();
  const double product = rate.bytes_per_second() * to_seconds(round_trip);
  check.require(p.buffer, static_cast<double>(p.buffer.count()) >= product, Severity::warning, "B ≥ C·RTT",
                print("B = ", p.buffer.count(), " B < ", product, " B: the link is used to ",
                      100 * static_cast<double>(p.buffer.count()) / product, " % only"));
  return check.take();
}

GwaFlowCount::GwaFlowCount(const GwaParameters& parameters)
    : counts_by_weight_(parameters.policy == GwaPolicy::bandwidth_aware),
      decay_(parameters.decay),
      interval_(parameters.interval),
      flows_(parameters.interval) {
  refuse_errors(validate(parameters));
}

void GwaFlowCount::seen(Instant now, Mark& mark, Bytes taken, Rate rate) {
  if (!any_) next_ = now + interval_;
  any_ = true;
  roll(now);
  if (counts_by_weight_) weigh(now, mark, static_cast<double>(taken.count()), rate);
  flows_.seen(now, mark.last_, mark.weight_);
}

void GwaFlowCount::weigh(Instant now, Mark& mark, double taken, Rate rate) const {
  const double even = rate.bytes_per_second() * to_seconds(interval_) / std::max<std::uint32_t>(flows_.count(now), 1);
  const Duration::rep number = now.time_since_epoch() / interval_;
  if (number != mark.interval_) {
    const bool follows = mark.interval_ >= 0 && number == mark.interval_ + 1;
    const double part = even > 0 ? mark.taken_ / even : 1;
    mark.weight_ = follows && mark.whole_ && part < little ? part : 1;
    mark.whole_ = follows;
    mark.interval_ = number;
    mark.taken_ = 0;
  }
  mark.taken_ += taken;
  if (mark.taken_ > little * even) mark.weight_ = 1;
}

double GwaFlowCount::count(Instant now) {
  if (any_) roll(now);
  // With λ = 0 eq. 9 is the count of the last Δ, which is known at any instant and not only at its ends.
  return std::max({decay_ > 0 ? average_ : 0, flows(now), 1.0});
}

void GwaFlowCount::roll(Instant now) {
  for (; next_ <= now; next_ += interval_) {
    const double seen_in_it = flows(next_ - Duration(1));
    average_ = decay_ * average_ + (1 - decay_) * seen_in_it;
    if (seen_in_it > 0 || average_ > nothing) continue;
    average_ = 0;  // the average stays zero however long the silence lasts
    next_ = now;
  }
}

Bytes gwa_window(const GwaParameters& parameters, const GwaObservation& seen) {
  const double own = std::max(0.0, share(parameters, seen, std::max(seen.flows, 1.0)));
  if (!(own < static_cast<double>(seen.upstream.count()))) return std::max(seen.upstream, Bytes(0));
  return Bytes(std::floor(own));
}

}  // namespace sluice::control
