// Adapters that give the per-flow window controllers of the papers one interface (FlowControllerHooks). FlowController
// holds one of them per flow and calls its hooks. Invariant: a flow's share of the buffer is at least two segments, the
// smallest with which ACKs keep arriving.

#include "control/window_laws/flow_controller_types.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

/// Largest number of packets of one ACK that CLAMP counts one by one. If an ACK acknowledges more, a missing segment
/// has arrived, and most of the data had arrived earlier. The rest then counts as one packet.
constexpr int max_packets_per_ack = 64;

/// Returns one flow's equal share of the radio buffer. The result is at least two segments, because a receiver may
/// delay the ACK of a single segment.
Bytes share(const QueueView& queue, Bytes segment) {
  return std::max(Bytes(static_cast<double>(queue.buffer.count()) / std::max(queue.flows, 1.0)), segment * 2);
}

ClampWindowParameters clamp_of(const FlowControllerParameters& parameters, const FlowControllerStart& start) {
  ClampWindowParameters clamp = parameters.clamp;
  clamp.segment = start.segment;
  clamp.largest = std::max(clamp.largest, start.segment * 2);
  return clamp;
}

/// Number of segments assumed as size of the radio buffer B until the Node-B's first report.
constexpr int first_segments = 10;

/// Longest time for which CLAMP keeps its first window after it has replaced another controller. In this time the queue
/// that the other controller has built empties.
constexpr Duration longest_wait_for_drain = std::chrono::seconds(1);

/// Upper limit, in seconds, of the queueing delay that is taken as CLAMP's price. It is needed because the delay
/// computed on a stalled link may exceed the range of a duration.
constexpr double longest_wait_s = 3600;

}  // namespace

ClampController::ClampController(const FlowControllerParameters& parameters, const FlowControllerStart& start)
    : segment_(start.segment),
      target_(parameters.price.target),
      slope_(parameters.price.slope),
      frame_(parameters.price.frame),
      window_(clamp_of(parameters, start), start.round_trip) {}

/// Returns a/b, the queue in bytes to which CLAMP converges, without the bytes τ that each flow adds. Here a is the
/// target of the price, and b its slope.
Bytes ClampController::target(const QueueView& queue) const {
  const double most = static_cast<double>(feedback::max_plausible.count());
  return Bytes(std::min(target_.in_bytes(frame_, queue.mean_rate) / slope_, most));
}

void ClampController::seed(Bytes window, const QueueView& queue) {
  const double share = static_cast<double>(target(queue).count()) / std::max(queue.flows, 1.0);
  window_.seed(window + Bytes(share) + window_.gain());
  start_ = Start::draining;
  draining_until_ = never;
}

/// Returns the congestion price from which CLAMP computes the flow's window. It is the reported price. After CLAMP has
/// replaced another controller, it is a smaller price computed from the present queue, until the reported price is as
/// low.
Duration ClampController::price(Instant now, const QueueView& queue) {
  if (start_ == Start::over) return queue.price;
  if (draining_until_ == never) draining_until_ = now + longest_wait_for_drain;
  const Bytes excess = queue.queue - target(queue);
  if (start_ == Start::draining && (excess <= window_.gain() || now >= draining_until_)) start_ = Start::remembering;
  const double rate = queue.mean_rate.bytes_per_second();
  const double waiting = slope_ * static_cast<double>(std::max(excess, Bytes(0)).count());
  const Duration present = rate > 0 ? from_seconds(std::min(waiting / rate, longest_wait_s)) : Duration{};
  if (start_ == Start::remembering && queue.price <= present) start_ = Start::over;
  return std::min(queue.price, present);
}

AckRelease ClampController::on_ack(const AckView& ack, const QueueView& queue, const FlowView& /*flow*/) {
  if (ack.in_loss) window_.on_loss();
  const Duration price = this->price(ack.now, queue);
  const bool stands = start_ == Start::draining;
  Bytes left = ack.newly;
  for (int i = 1; left > Bytes(0); ++i) {
    const Bytes packet = i < max_packets_per_ack ? std::min(left, segment_) : left;
    window_.on_data(ack.now, packet, stands ? Duration{} : price, ack.offered, ack.limited && !stands);
    left -= packet;
  }
  return AckRelease::all();
}

Bytes ClampController::window(Bytes /*ack*/, const QueueView& /*queue*/, const FlowView& /*flow*/) const {
  return Bytes(window_.state().window);
}

template <WindowRegulation form>
WindowRegulatorController<form>::WindowRegulatorController(const FlowControllerParameters& /*parameters*/,
                                                           const FlowControllerStart& start)
    : segment_(start.segment), regulator_({form, start.segment * first_segments, start.segment}) {}

template <WindowRegulation form>
AckRelease WindowRegulatorController<form>::on_queue(const QueueView& queue, const FlowView& flow) {
  regulator_.set_buffer(share(queue, segment_));
  return regulator_.on_dequeue(flow.left, flow.empty());
}

template <WindowRegulation form>
AckRelease WindowRegulatorController<form>::on_ack(const AckView& ack, const QueueView& /*queue*/,
                                                   const FlowView& flow) {
  return regulator_.on_ack(ack.ack, flow.empty());
}

template class WindowRegulatorController<WindowRegulation::fixed>;
template class WindowRegulatorController<WindowRegulation::dynamic>;
template class WindowRegulatorController<WindowRegulation::ack_buffer>;

AckRegulatorController::AckRegulatorController(const FlowControllerParameters& /*parameters*/,
                                               const FlowControllerStart& start)
    : segment_(start.segment), regulator_({start.segment * first_segments, start.segment}) {}

AckRelease AckRegulatorController::on_queue(const QueueView& queue, const FlowView& flow) {
  regulator_.set_buffer(share(queue, segment_));
  if (queue.dropped && !flow.empty()) regulator_.on_drop(flow.sent);
  return regulator_.on_queue(flow.sent - flow.left);
}

AckRelease AckRegulatorController::on_ack(const AckView& ack, const QueueView& /*queue*/, const FlowView& /*flow*/) {
  return regulator_.on_ack(ack.ack);
}

template <GwaPolicy policy>
Bytes GwaController<policy>::window(Bytes /*ack*/, const QueueView& queue, const FlowView& flow) const {
  GwaParameters parameters;
  parameters.policy = policy;
  parameters.buffer = queue.buffer;
  GwaObservation seen;
  seen.queue = policy == GwaPolicy::round_robin ? flow.queued() : queue.queue;
  seen.flows = queue.flows;
  seen.rate = queue.best_rate;  // the mean rate would only fall, as this controller limits it
  seen.round_trip = flow.round_trip;
  if (policy == GwaPolicy::fcfs) seen.upstream = queue.advertised;
  if (policy == GwaPolicy::bandwidth_aware && !(queue.best_rate > Rate())) return segment_ * first_segments;
  return gwa_window(parameters, seen);
}

template class GwaController<GwaPolicy::round_robin>;
template class GwaController<GwaPolicy::fcfs>;
template class GwaController<GwaPolicy::bandwidth_aware>;

}  // namespace sluice::control
