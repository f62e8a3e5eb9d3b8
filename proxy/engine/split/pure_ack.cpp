// Fast path for pure ACKs of split connections. rx_path.cpp calls receive_pure_ack() for a segment without payload on a
// leg without loss. Invariant: the effect equals that of the slow path, which handles every segment that does not
// qualify.
#include "proxy/engine/split/short_flow.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Opens the window advertised to the server, as the ACK-based controller allows, if this is the UE's only connection.
/// If the UE has acknowledged everything, the flow no longer counts in BearerLoad::transferring_flows (flows with
/// unacknowledged data). Returns false if the caller must schedule the flow instead, so that serve() processes all of
/// its events.
bool SplitFlows::controller_has_opened_window(Flow& flow, Bearer& bearer, Instant now) {
  if (bearer.flow_count != 1 || &bearer.sibling() != &bearer || UndeliveredAckLimit::waits(flow)) return false;
  if (!flow.share.transferring) return false;
  if (flow.share.short_flow && !short_flow::extend(flow, bearer, now)) return false;
  receive_windows_.update_of_server(flow, bearer, now);
  if (flow.leg(Side::radio).endpoint.held() == Bytes{}) bearer.load.set_transferring(flow.share, false);
  return true;
}

/// Opens the window advertised to the sender of the data that an ACK on side `in` acknowledges, if the flow has no
/// other work. Without a rate controller the window opens by the `acked` bytes. The buffer quota is then computed only
/// when a window is next advertised. Returns false if the caller must schedule the flow instead, so that serve()
/// processes all of its events.
template <Side in>
inline bool SplitFlows::has_opened_window(const ServedFlow& served, std::uint32_t acked) {
  const auto& [flow, id, bearer, now] = served;
  Leg& sender = flow.leg(opposite(in));
  if (flow.events != StreamEvents::none || flow.release_reason != ReleaseReason::none || flow.share.backlog != 0)
    return false;
  if (!sender.endpoint.on_fast_path() || !flow.leg(in).endpoint.nothing_to_emit(now)) return false;
  if (in == Side::radio && bearer.rate_control().is_ack_based()) return controller_has_opened_window(flow, bearer, now);
  sender.space_added = sender.limited_by_quota && flow.window_loop == no_id && is_plain(flow, bearer) &&
                       sender.endpoint.add_receive_space(acked);
  return sender.space_added;
}

/// Completes the processing of a pure ACK of `acked` bytes. If the ACK only opens the window advertised to the other
/// host, opens that window at once. Otherwise schedules the flow, so that serve() processes all of its events.
template <Side in>
inline void SplitFlows::after_pure_ack(const ServedFlow& served, std::uint32_t acked) {
  const auto& [flow, id, bearer, now] = served;
  constexpr Side sender = opposite(in);
  if (!has_opened_window<in>(served, acked)) {
    pending_.schedule(flow, id, acked_by(in));
    return;
  }
  bearer.load.reserve(flow.share, -std::int64_t{acked});
  if (!flow.leg(sender).endpoint.nothing_to_emit(now)) {
    pending_.schedule(flow, id, due_to(sender));
    return;
  }
  keep_journal(flow, id);
  flow_timers_.update(flow, id, now);
}

template <Side in>
bool SplitFlows::receive_pure_ack(packet::Packet& packet, const tcp::Segment& segment, Flow& flow, FlowId id,
                                  Instant now) {
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  const bool feeds_controller = in == Side::radio && bearer.rate_control().uses_ack_feedback();
  const tcp::SeqNum before = own.endpoint.snd_una();
  tcp::AckSample ack_sample;
  if (!own.endpoint.receive_pure_ack(segment, now, feeds_controller ? &ack_sample : nullptr)) [[unlikely]]
    return false;
  packet.reset();
  if (feeds_controller) feed_controller(flow, id, bearer, ack_sample, now);
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  flow.last_activity = now;
  if (other.keepalive_passed) [[unlikely]] {
    other.keepalive_passed = false;
    other.endpoint.answer_keepalive();
  }
  relay::record_progress(flow, in, now);
  after_pure_ack<in>({flow, id, bearer, now}, static_cast<std::uint32_t>(segment.ack - before));
  return true;
}

template bool SplitFlows::receive_pure_ack<Side::radio>(packet::Packet&, const tcp::Segment&, Flow&, FlowId, Instant);
template bool SplitFlows::receive_pure_ack<Side::core>(packet::Packet&, const tcp::Segment&, Flow&, FlowId, Instant);

}  // namespace sluice::proxy
