// Implements PIE (RFC 8033) as a router's queue. QueueLine calls enqueue() and dequeue(). The probability is updated at
// multiples of tupdate; updates are caught up when a packet comes or goes, so no timer is needed. Arrivals are dropped
// or marked with that probability, spaced by the derandomisation of section 5.5.

#include "emulator/aqm/pie.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulator/aqm/ecn.hpp"

namespace sluice::emulator {
namespace {

/// Threshold for the sum of the arriving packets' drop probabilities since the last drop: below it, no packet is
/// dropped. From max_sum on, a drop is certain (RFC 8033 section 5.5).
constexpr double min_sum = 0.85;
constexpr double max_sum = 8.5;
/// Probability above which packets are dropped even if they are ECN-capable (RFC 8033 section 5.1).
constexpr double max_marked = 0.1;

const PieParameters& checked(const PieParameters& p) {
  if (p.target <= Duration::zero() || p.tupdate <= Duration::zero() || p.max_burst < Duration::zero()) {
    throw std::invalid_argument("PIE: target and tupdate must be above 0, and max_burst 0 or more");
  }
  if (!(p.alpha > 0) || !(p.beta > 0)) throw std::invalid_argument("PIE: alpha and beta must be above 0");
  return p;
}

/// Returns the factor by which an update of the drop probability is scaled. The factor is smaller at a low probability,
/// so that light congestion does not cause overshoot (RFC 8033 section 5.3).
double scale_at(double probability) {
  constexpr std::pair<double, double> steps[] = {{1e-6, 2048}, {1e-5, 512}, {1e-4, 128},
                                                 {1e-3, 32},   {1e-2, 8},   {1e-1, 2}};
  for (const auto& [below, divisor] : steps) {
    if (probability < below) return 1 / divisor;
  }
  return 1;
}

}  // namespace

PieQueue::PieQueue(const QueueLimit& limit, const PieParameters& parameters, Random random)
    : limit_(limit), parameters_(checked(parameters)), random_(random), burst_left_(parameters.max_burst) {}

Duration PieQueue::delay(Instant now) const {
  return queue_.empty() ? Duration::zero() : now - queue_.front().since;
}

/// Runs the updates of the probability that are due by `now`. Each update uses the queueing delay at the time for which
/// it was due, so the queue must not have changed since the last call.
void PieQueue::follow(Instant now) {
  if (next_ == never) next_ = now + parameters_.tupdate;
  for (; next_ <= now; next_ += parameters_.tupdate) {
    if (queue_.empty() && probability_ == 0 && before_ == Duration::zero() && burst_left_ == parameters_.max_burst) {
      // Updates of an idle queue change nothing, so they are skipped.
      next_ += (now - next_) / parameters_.tupdate * parameters_.tupdate;
      continue;
    }
    update(std::max(delay(next_), Duration::zero()));
  }
}

/// Updates the drop probability (RFC 8033 sections 4.2, 5.3 and 5.4) and the burst allowance (section 4.4). `delay` is
/// the present queueing delay.
void PieQueue::update(Duration delay) {
  double change =
      parameters_.alpha * to_seconds(delay - parameters_.target) + parameters_.beta * to_seconds(delay - before_);
  change *= scale_at(probability_);
  if (probability_ >= 0.1) change = std::min(change, 0.02);
  probability_ += change;
  if (delay == Duration::zero() && before_ == Duration::zero()) probability_ *= 0.98;
  probability_ = std::clamp(probability_, 0.0, 1.0);
  burst_left_ = std::max(burst_left_ - parameters_.tupdate, Duration::zero());
  if (probability_ == 0 && delay < parameters_.target / 2 && before_ < parameters_.target / 2)
    burst_left_ = parameters_.max_burst;
  before_ = delay;
}

/// True if the arriving packet must be dropped or marked.
bool PieQueue::drops() {
  if (burst_left_ > Duration::zero()) return false;
  if (before_ < parameters_.target / 2 && probability_ < 0.2) return false;
  if (bytes() <= parameters_.max_packet * 2) return false;
  sum_ = probability_ == 0 ? 0 : sum_ + probability_;
  if (sum_ < min_sum) return false;
  if (sum_ < max_sum && !random_.chance(probability_)) return false;
  sum_ = 0;
  return true;
}

void PieQueue::enqueue(packet::Packet packet, Instant now) {
  follow(now);
  if (!fits(packet, limit_)) {
    refused(&DisciplineCounters::dropped_full);
    return;
  }
  if (drops()) {
    if (!parameters_.ecn || probability_ > max_marked || !mark_congestion(packet)) {
      refused(&DisciplineCounters::dropped_early);
      return;
    }
    record_mark();
  }
  on_enqueued(packet);
  queue_.push({std::move(packet), now});
}

packet::Packet PieQueue::dequeue(Instant now) {
  follow(now);
  if (queue_.empty()) return {};
  return departs(queue_.pop(), now);
}

}  // namespace sluice::emulator
