// Split connections under a law that gives each flow a window: it bounds what is in flight towards the UE beside the
// congestion window, as the window of an ACK does in the law's paper.

#include <algorithm>

#include "dataplane/packet/build.hpp"
#include "proxy/shard_impl.hpp"

namespace sluice::proxy {
namespace {

/// The least a window is taken for: without an acknowledgement under way none would ever open it.
constexpr std::int64_t least_segments = 2;

}  // namespace

/// What is in flight towards the UE as IP bytes. Headers are counted as those of full segments.
Bytes Shard::Impl::flight_on_wire(const Flow& flow) const {
  const tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
  const std::int64_t segment = endpoint.effective_mss();
  const std::int64_t segments = (endpoint.in_flight().count() + segment - 1) / segment;
  const std::int64_t header = segment_on_wire(flow).count() - segment;
  return endpoint.in_flight() + Bytes(header * segments);
}

/// A full segment towards the UE as an IP packet.
Bytes Shard::Impl::segment_on_wire(const Flow& flow) const {
  const Leg& leg = flow.leg(Side::radio);
  tcp::Segment data;
  data.has_timestamps = leg.endpoint.uses_timestamps();
  return Bytes(packet::header_length(leg.headers, data) - leg.headers.l2_len) + Bytes(leg.endpoint.effective_mss());
}

/// The flow's law, made when it is first asked.
GovernedFlow* Shard::Impl::law_of(Flow& flow, Bearer& bearer) {
  if (flow.governed == no_id) {
    const control::LawStart start{flow.leg(Side::radio).endpoint.least_rtt(), segment_on_wire(flow)};
    flow.governed = governed_.emplace(bearer, start);
    if (flow.governed == no_id) return nullptr;  // cannot be: there is a place for every flow
    governed_[flow.governed].on_sent(bearer, flight_on_wire(flow));
  }
  return &governed_[flow.governed];
}

/// Tells the law what the UE has acknowledged and the Node-B has reported since the flow was served last.
void Shard::Impl::follow_law(Flow& flow, Bearer& bearer, Instant now) {
  GovernedFlow* const governed = law_of(flow, bearer);
  if (governed == nullptr) return;
  const tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
  governed->measured(endpoint.least_rtt());
  governed->on_report(bearer, now);
  const Bytes acked = governed->sent() - flight_on_wire(flow);
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

/// What may be sent now so that no more than the window is in flight, as IP bytes.
Bytes Shard::Impl::room_in_window(Flow& flow, Bearer& bearer, Instant now) {
  const Bytes flight = flight_on_wire(flow);
  Bytes window = segment_on_wire(flow) * least_segments;
  if (GovernedFlow* const governed = law_of(flow, bearer)) {
    window = std::max(window, governed->window(bearer, governed->sent() - flight, now));
  }
  return std::max(window - flight, Bytes{});
}

/// Segments of so many IP bytes went towards the UE.
void Shard::Impl::note_sent(Flow& flow, const Bearer& bearer, Bytes sent) {
  GovernedFlow& governed = governed_[flow.governed];
  governed.on_sent(bearer, governed.sent() + sent);
}

/// After a report: windows may have grown, so every flow that waits is served.
void Shard::Impl::serve_windowed(Bearer& bearer, Instant now) {
  FlowId id = bearer.first_flow;
  for (std::uint32_t i = 0; i < bearer.flow_count; ++i) {
    Flow& flow = registry_.flow(id);
    if (flow.terminated() && flow.backlog != 0) mark(flow, id, Streams::to_radio);
    id = flow.bearer_next;
  }
  // The next one is first in turn.
  if (bearer.flow_count > 0) bearer.first_flow = registry_.flow(bearer.first_flow).bearer_next;
  serve_marked(now);
}

/// Feedback takes over on a running flow: its law goes on from the flow's part of what the path was measured to hold.
void Shard::Impl::begin_steering(Flow& flow, Bearer& bearer, Instant now) {
  GovernedFlow* const governed = law_of(flow, bearer);
  if (governed == nullptr) return;
  const Bytes window = bearer.seed_window(flow.leg(Side::radio).endpoint.least_rtt());
  governed->seed(window / std::max<std::uint32_t>(bearer.backlogged_flows, 1), bearer.queue_view(now));
}

void Shard::Impl::forget_law(Flow& flow, Bearer& bearer) {
  governed_[flow.governed].leave(bearer);
  governed_.erase(flow.governed);
  flow.governed = no_id;
}

}  // namespace sluice::proxy
