// Implements DualPI2 (RFC 9332): DualPi2Control computes the probabilities, DualPi2Queue is a router's queue with them.
// The radio queue uses the same control through DualPi2Qdisc (`cell/radio_qdisc`). Updates run at multiples of tupdate
// and are caught up when a packet comes or goes, so no timer is needed. Marks and drops are deterministic:
// probabilities are summed, and each whole is one event (recur() of appendix A).

#include "emulator/aqm/dualpi2.hpp"

#include <stdexcept>

namespace sluice::emulator {
namespace {

/// Coupled probability above which marks alone are not enough to slow L4S traffic down, so that packets are dropped as
/// well (p_Lmax of RFC 9332).
constexpr double max_scalable = 1;

const DualPi2Parameters& checked(const DualPi2Parameters& p) {
  constexpr Duration zero = Duration::zero();
  if (p.target <= zero || p.tupdate <= zero || p.step <= zero || p.shift < zero) {
    throw std::invalid_argument("DualPI2: target, tupdate and step must be above 0, and shift 0 or more");
  }
  if (!(p.alpha > 0) || !(p.beta > 0) || !(p.coupling >= 1)) {
    throw std::invalid_argument("DualPI2: alpha and beta must be above 0, and the coupling 1 or more");
  }
  return p;
}

}  // namespace

DualPi2Control::DualPi2Control(const DualPi2Parameters& parameters) : parameters_(checked(parameters)) {}

void DualPi2Control::follow(Instant oldest, Instant now) {
  if (!next_) next_ = now + parameters_.tupdate;
  for (; *next_ <= now; *next_ += parameters_.tupdate) {
    // Updates of an idle queue change nothing, so they are skipped.
    if (oldest >= *next_ && base_ == 0 && before_ == Duration::zero()) {
      *next_ += (now - *next_) / parameters_.tupdate * parameters_.tupdate;
      continue;
    }
    update(std::max(*next_ - oldest, Duration::zero()));
  }
}

/// Updates the base probability like dualpi2_update() of RFC 9332, appendix A.1. `delay` is the waiting time of the
/// oldest packet of both queues.
void DualPi2Control::update(Duration delay) {
  base_ += parameters_.alpha * to_seconds(delay - parameters_.target) + parameters_.beta * to_seconds(delay - before_);
  base_ = std::clamp(base_, 0.0, 1.0);
  before_ = delay;
}

bool DualPi2Control::recur(double& sum, double likelihood) {
  sum += likelihood;
  if (sum <= 1) return false;
  sum -= 1;
  return true;
}

/// Decides whether a packet of the L queue is sent unchanged, marked or dropped (RFC 9332 appendix A.2). `waited` is
/// its queueing delay, and `behind` the bytes that remain in the queue. Without overload (k·p' < 1) it is marked with
/// probability k·p'. It is always marked if it waited longer than DualPi2Parameters::step and more than a full packet
/// is behind it. At overload it is dropped with probability p'², and otherwise marked.
DualPi2Control::Verdict DualPi2Control::judge_scalable(Duration waited, Bytes behind) {
  const double coupled = parameters_.coupling * base_;
  if (coupled >= max_scalable && recur(scalable_drop_sum_, base_ * base_)) return Verdict::drop;
  const bool above = waited > parameters_.step && behind > parameters_.max_packet;
  const double likelihood = above && coupled < max_scalable ? max_scalable : std::min(coupled, max_scalable);
  return likelihood >= max_scalable || recur(scalable_sum_, likelihood) ? Verdict::mark : Verdict::pass;
}

/// Decides whether a classic packet is sent unchanged, marked or dropped (RFC 9332 appendix A.2). A packet with
/// `ecn_capable` true is marked instead of dropped, except at overload (k·p' >= 1).
DualPi2Control::Verdict DualPi2Control::judge_classic(bool ecn_capable) {
  const double likelihood = base_ * base_;
  if (!recur(classic_sum_, likelihood)) return Verdict::pass;
  const double most = std::min(1.0 / (parameters_.coupling * parameters_.coupling), 1.0);
  return ecn_capable && likelihood < most ? Verdict::mark : Verdict::drop;
}

void DualPi2Queue::enqueue(packet::Packet packet, Instant now) {
  if (!fits(packet, limit_)) {
    refused(&DisciplineCounters::dropped_full);
    return;
  }
  on_enqueued(packet);
  queues_.push({std::move(packet), now});
}

packet::Packet DualPi2Queue::dequeue(Instant now) {
  constexpr Duration least{1};  // an idle line sends a packet that arrives in this very instant
  auto next = queues_.dequeue(
      now, now + least, [this](const Queued& gone) { dropped(gone, &DisciplineCounters::dropped_early); },
      [this] { record_mark(); });
  if (!next) return {};
  return departs(std::move(*next), now);
}

}  // namespace sluice::emulator
