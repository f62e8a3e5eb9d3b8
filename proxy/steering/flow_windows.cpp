#include "proxy/steering/flow_windows.hpp"

#include <algorithm>

#include "proxy/relay/leg_output.hpp"

namespace sluice::proxy {
/// Returns the flow's controller and creates it on first use.
GovernedFlow* FlowWindows::law_of(Flow& flow, Bearer& bearer) {
  if (flow.governed == no_id) {
    const Leg& radio = flow.leg(Side::radio);
    const control::LawStart start{radio.endpoint.least_rtt(), segment_on_wire(radio)};
    flow.governed = laws_.emplace(bearer, registry_.key_of(flow), start);
    if (flow.governed == no_id) return nullptr;  // cannot happen: there is a place for every flow
    laws_[flow.governed].on_sent(bearer, flight_on_wire(radio));
  }
  return &laws_[flow.governed];
}

void FlowWindows::follow(Flow& flow, Bearer& bearer, Instant now) {
  GovernedFlow* const governed = law_of(flow, bearer);
  if (governed == nullptr) return;
  const tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
  governed->measured(endpoint.least_rtt());
  governed->on_report(bearer, now);
  const Bytes acked = governed->sent() - flight_on_wire(flow.leg(Side::radio));
  if (acked <= governed->acked()) return;
  control::AckView ack;
  ack.now = now;
  ack.ack = acked;
  ack.newly = acked - governed->acked();
  ack.offered = endpoint.snd_window();
  ack.limited = endpoint.unsent() > Bytes{};
  ack.in_loss = endpoint.in_recovery();
  governed->on_ack(bearer, ack);
}

Bytes FlowWindows::room(Flow& flow, Bearer& bearer, Instant now) {
  const Bytes flight = flight_on_wire(flow.leg(Side::radio));
  Bytes window = segment_on_wire(flow.leg(Side::radio)) * least_window_segments;
  if (GovernedFlow* const governed = law_of(flow, bearer)) {
    window = std::max(window, governed->window(bearer, governed->sent() - flight, now));
  }
  return std::max(window - flight, Bytes{});
}

void FlowWindows::note_sent(const Flow& flow, const Bearer& bearer, Bytes bytes) {
  GovernedFlow& governed = laws_[flow.governed];
  governed.on_sent(bearer, governed.sent() + bytes);
}

void FlowWindows::begin(Flow& flow, Bearer& bearer, Instant now) {
  GovernedFlow* const governed = law_of(flow, bearer);
  if (governed == nullptr) return;
  const Bytes window = bearer.seed_window(flow.leg(Side::radio).endpoint.least_rtt());
  governed->seed(bearer, window / std::max<std::uint32_t>(bearer.load.backlogged_flows, 1), bearer.queue().view(now));
}

void FlowWindows::forget(Flow& flow, Bearer& bearer) {
  if (flow.governed == no_id) return;
  laws_[flow.governed].leave(bearer);
  laws_.erase(flow.governed);
  flow.governed = no_id;
}

}  // namespace sluice::proxy
