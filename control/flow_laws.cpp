#include "control/flow_laws.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

/// An ACK that covers more packets than this counts as so many: what came before a hole was filled arrived long ago.
constexpr int most_packets_per_ack = 64;

/// One flow's part of the buffer: what B is to laws that know of one flow only. Never less than two segments, the least
/// with which ACKs keep coming.
Bytes share(const QueueView& queue, Bytes segment) {
  return std::max(Bytes(static_cast<double>(queue.buffer.count()) / std::max(queue.flows, 1.0)), segment * 2);
}

ClampWindowParameters clamp_of(const LawParameters& parameters, const LawStart& start) {
  ClampWindowParameters clamp = parameters.clamp;
  clamp.segment = start.segment;
  clamp.largest = std::max(clamp.largest, start.segment * 2);
  return clamp;
}

/// Until the first report says what B is.
constexpr int first_segments = 10;

}  // namespace

ClampLaw::ClampLaw(const LawParameters& parameters, const LawStart& start)
    : segment_(start.segment), window_(clamp_of(parameters, start), start.round_trip) {}

AckRelease ClampLaw::on_ack(const AckView& ack, const QueueView& queue, const FlowView& /*flow*/) {
  if (ack.in_loss) window_.on_loss();
  Bytes left = ack.newly;
  for (int i = 1; left > Bytes(0); ++i) {
    const Bytes packet = i < most_packets_per_ack ? std::min(left, segment_) : left;
    window_.on_data(ack.now, packet, queue.price, ack.offered, ack.limited);
    left -= packet;
  }
  return AckRelease::all();
}

Bytes ClampLaw::window(Bytes /*ack*/, const QueueView& /*queue*/, const FlowView& /*flow*/) const {
  return Bytes(window_.state().window);
}

template <WindowRegulation form>
RegulatorLaw<form>::RegulatorLaw(const LawParameters& /*parameters*/, const LawStart& start)
    : segment_(start.segment), regulator_({form, start.segment * first_segments, start.segment}) {}

template <WindowRegulation form>
AckRelease RegulatorLaw<form>::on_queue(const QueueView& queue, const FlowView& flow) {
  regulator_.set_buffer(share(queue, segment_));
  return regulator_.on_dequeue(flow.left, flow.empty());
}

template <WindowRegulation form>
AckRelease RegulatorLaw<form>::on_ack(const AckView& ack, const QueueView& /*queue*/, const FlowView& flow) {
  return regulator_.on_ack(ack.ack, flow.empty());
}

template class RegulatorLaw<WindowRegulation::fixed>;
template class RegulatorLaw<WindowRegulation::dynamic>;
template class RegulatorLaw<WindowRegulation::ack_buffer>;

AckTimingLaw::AckTimingLaw(const LawParameters& /*parameters*/, const LawStart& start)
    : segment_(start.segment), regulator_({start.segment * first_segments, start.segment}) {}

AckRelease AckTimingLaw::on_queue(const QueueView& queue, const FlowView& flow) {
  regulator_.set_buffer(share(queue, segment_));
  if (queue.dropped && !flow.empty()) regulator_.on_drop(flow.sent);
  return regulator_.on_queue(flow.sent - flow.left);
}

AckRelease AckTimingLaw::on_ack(const AckView& ack, const QueueView& /*queue*/, const FlowView& /*flow*/) {
  return regulator_.on_ack(ack.ack);
}

template <GwaPolicy policy>
Bytes GwaLaw<policy>::window(Bytes /*ack*/, const QueueView& queue, const FlowView& flow) const {
  GwaParameters parameters;
  parameters.policy = policy;
  parameters.buffer = queue.buffer;
  GwaObservation seen;
  seen.queue = policy == GwaPolicy::round_robin ? flow.queued() : queue.queue;
  seen.flows = queue.flows;
  seen.rate = queue.best_rate;  // what is carried now is what this law lets through: the mean would only fall
  seen.round_trip = flow.round_trip;
  if (policy == GwaPolicy::fcfs) seen.upstream = queue.advertised;
  if (policy == GwaPolicy::bandwidth_aware && !(queue.best_rate > Rate())) return segment_ * first_segments;
  return gwa_window(parameters, seen);
}

template class GwaLaw<GwaPolicy::round_robin>;
template class GwaLaw<GwaPolicy::fcfs>;
template class GwaLaw<GwaPolicy::bandwidth_aware>;

}  // namespace sluice::control
