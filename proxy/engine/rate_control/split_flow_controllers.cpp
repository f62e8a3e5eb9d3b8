#include "proxy/engine/rate_control/split_flow_controllers.hpp"

#include <algorithm>

#include "proxy/engine/relay/leg_output.hpp"

namespace sluice::proxy {
/// Returns the flow's controller. Creates it on first use. Returns null if the maximum number is reached.
ControlledFlow* SplitFlowControllers::controller_of(Flow& flow, Bearer& bearer) {
  if (flow.controller == no_id) {
    const Leg& radio = flow.leg(Side::radio);
    const control::FlowControllerStart start{radio.endpoint.min_rtt(), segment_on_wire(radio)};
    flow.controller = controllers_.emplace(bearer, registry_.key_of(flow), start);
    if (flow.controller == no_id) return nullptr;  // cannot happen: there is a place for every flow
    controllers_[flow.controller].on_sent(bearer, flight_on_wire(radio));
  }
  return &controllers_[flow.controller];
}

void SplitFlowControllers::follow(Flow& flow, Bearer& bearer, Instant now) {
  ControlledFlow* const controlled = controller_of(flow, bearer);
  if (controlled == nullptr) return;
  const tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
  controlled->measured(endpoint.min_rtt());
  controlled->on_report(bearer, now);
  const Bytes acked = controlled->sent() - flight_on_wire(flow.leg(Side::radio));
  if (acked <= controlled->acked()) return;
  control::AckView ack;
  ack.now = now;
  ack.ack = acked;
  ack.newly = acked - controlled->acked();
  ack.offered = endpoint.snd_window();
  ack.limited = endpoint.unsent() > Bytes{};
  ack.in_loss = endpoint.in_recovery();
  controlled->on_ack(bearer, ack);
}

Bytes SplitFlowControllers::send_budget(Flow& flow, Bearer& bearer, Instant now) {
  const Bytes flight = flight_on_wire(flow.leg(Side::radio));
  Bytes window = segment_on_wire(flow.leg(Side::radio)) * min_window_segments;
  if (ControlledFlow* const controlled = controller_of(flow, bearer)) {
    window = std::max(window, controlled->window(bearer, controlled->sent() - flight, now));
  }
  return std::max(window - flight, Bytes{});
}

void SplitFlowControllers::record_sent(const Flow& flow, const Bearer& bearer, Bytes bytes) {
  ControlledFlow& controlled = controllers_[flow.controller];
  controlled.on_sent(bearer, controlled.sent() + bytes);
}

void SplitFlowControllers::begin(Flow& flow, Bearer& bearer, Instant now) {
  ControlledFlow* const controlled = controller_of(flow, bearer);
  if (controlled == nullptr) return;
  const Bytes window = bearer.seed_window(flow.leg(Side::radio).endpoint.min_rtt());
  controlled->seed(bearer, window / std::max<std::uint32_t>(bearer.load.backlogged_flows, 1), bearer.queue().view(now));
}

void SplitFlowControllers::forget(Flow& flow, Bearer& bearer) {
  if (flow.controller == no_id) return;
  controllers_[flow.controller].leave(bearer);
  controllers_.erase(flow.controller);
  flow.controller = no_id;
}

}  // namespace sluice::proxy
