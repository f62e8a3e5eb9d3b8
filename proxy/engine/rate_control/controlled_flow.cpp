// Adapter between a per-flow window controller (control/window_laws/flow_controller.hpp) and a connection: converts
// sent totals to positions and the reported queue to payload. SplitFlowControllers uses it for split connections,
// AckRewriter for end-to-end ones. Invariant: positions satisfy left ≤ arrived ≤ sent.
#include "proxy/engine/rate_control/controlled_flow.hpp"

#include <algorithm>

#include "control/decision_log/decision_log.hpp"

namespace sluice::proxy {

using FlowControllerCalls = control::RecordedController<control::FlowController>;

ControlledFlow::ControlledFlow(const Bearer& bearer, const flow::FlowKey& whose,
                               const control::FlowControllerStart& start)
    : law_(*flow_controller_of(bearer.settings().law()), bearer.settings().laws, start),
      whose_(whose),
      marks_(bearer.sent().total()),
      round_trip_(start.round_trip) {}

template <typename Call, typename... Arguments>
auto ControlledFlow::ask(const Bearer& bearer, const Arguments&... arguments) {
  const auto identify = [&] {
    return control::ControllerIdentity<control::FlowControllerOrigin>{
        {whose_.ue, whose_.ue_port, whose_.server, whose_.server_port},
        {law_.which(), law_.segment(), bearer.settings().laws}};
  };
  return control::traced<Call>(bearer.trace, law_, identify, arguments...);
}

void ControlledFlow::on_released(const Bearer& bearer, Bytes ack, Bytes window) {
  ask<FlowControllerCalls::OnReleased>(bearer, ack, window);
}

void ControlledFlow::seed(const Bearer& bearer, Bytes window, const control::QueueView& queue) {
  ask<FlowControllerCalls::Seed>(bearer, window, queue);
}

void ControlledFlow::leave(Bearer& bearer) {
  bearer.queue().left(mark_);
  if (bearer.trace != nullptr) [[unlikely]]
    bearer.trace->left(&law_);
}

void ControlledFlow::on_sent(const Bearer& bearer, Bytes end) {
  if (end <= sent_) return;
  sent_ = end;
  marks_.sent(bearer.sent().total(), end);
  ask<FlowControllerCalls::OnData>(bearer, end);
}

void ControlledFlow::carried(Bytes payload, Bytes packet) {
  if (payload < payload_ || packet <= payload) return;
  payload_ = payload;
  packet_ = packet;
}

/// Returns the state of the radio queue in the unit of this flow: payload bytes for an end-to-end connection, IP bytes
/// for a split one. In payload bytes, all values are smaller by the share of headers in a packet. A buffer of 20
/// packets thus appears as the payload of 20 segments.
control::QueueView ControlledFlow::queue(Bearer& bearer, Instant now) const {
  control::QueueView view = bearer.queue().view(now);
  if (packet_ == payload_) return view;
  const double share = static_cast<double>(payload_.count()) / static_cast<double>(packet_.count());
  view.counted_share = share;
  for (Bytes* const amount : {&view.queue, &view.buffer, &view.advertised}) {
    if (*amount != Bytes::max()) *amount = Bytes(static_cast<double>(amount->count()) * share);
  }
  for (Rate* const rate : {&view.mean_rate, &view.best_rate}) {
    *rate = Rate::bytes_per_second(rate->bytes_per_second() * share);
  }
  return view;
}

/// Returns the positions up to which the flow's data was sent, has reached and has left the radio queue. Bytes that the
/// UE has acknowledged count as having left the queue, even if the last Node-B report is older.
control::FlowView ControlledFlow::view(Bearer& bearer) {
  control::FlowView view;
  view.sent = std::max(sent_, acked_);
  view.left = std::max(marks_.passed(bearer.queue().left_total()), acked_);
  view.arrived = std::max(marks_.passed(bearer.queue().arrived_total(), false), view.left);
  view.round_trip = round_trip_;
  return view;
}

control::AckRelease ControlledFlow::on_ack(Bearer& bearer, const control::AckView& ack) {
  bearer.queue().seen(ack.now, mark_, ack.newly);
  acked_ = std::max(acked_, ack.ack);
  return ask<FlowControllerCalls::OnAck>(bearer, ack, queue(bearer, ack.now), view(bearer));
}

control::AckRelease ControlledFlow::on_report(Bearer& bearer, Instant now) {
  if (reports_ == bearer.queue().reports()) return {Bytes{}, 0};
  reports_ = bearer.queue().reports();
  return ask<FlowControllerCalls::OnQueue>(bearer, queue(bearer, now), view(bearer));
}

Bytes ControlledFlow::window(Bearer& bearer, Bytes ack, Instant now) {
  return ask<FlowControllerCalls::Window>(bearer, ack, queue(bearer, now), view(bearer));
}

void ControlledFlow::measured(Duration round_trip) {
  if (round_trip <= Duration::zero()) return;
  if (round_trip_ <= Duration::zero() || round_trip < round_trip_) round_trip_ = round_trip;
}

}  // namespace sluice::proxy
