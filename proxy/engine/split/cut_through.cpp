// Cut-through of split connections: forwards in-order data in the frame in which it arrived, before the burst ends.
// Called by rx_path.cpp for data with a good checksum. Equivalent to receive, relay and emit, except that frames and
// PSH flags stay the sender's. The ACK to the sender is sent at the end of the burst.
#include <utility>

#include "proxy/engine/relay/leg_output.hpp"
#include "proxy/engine/split/short_flow.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {
namespace {

/// True if the segment `parsed` can be forwarded together with `first`, the first segment of its GRO run (consecutive
/// segments of a flow). The segment must be complete, and have a correct checksum and the same link headers as `first`.
bool can_forward_with(const Leg& to, const packet::Parsed& first, const packet::Packet& packet,
                      const packet::Parsed& parsed) {
  const bool can_cut_through =
      packet::have_same_headers(first, parsed)
          ? packet.size() == parsed.frame_length()
          : to.endpoint.cuts_through_size(parsed.segment.payload_len) && packet::can_cut_through(packet, parsed);
  return can_cut_through && packet::same_link(to.headers, packet) &&
         packet::verify_tcp_checksum(packet, parsed) == packet::ChecksumState::good;
}

}  // namespace

/// Returns how many segments of a GRO run (consecutive segments of a flow) can be forwarded together, including the
/// first one. The first one must be within both limits: `room` limits the payload bytes of all segments, and `most`
/// their IP bytes. Subtracts the buffers of the other segments from the buffer budget.
inline std::size_t SplitFlows::coalesce(const Leg& to, std::span<const packet::Packet> packets,
                                        std::span<const packet::Parsed> parsed, Bytes room, Bytes most) {
  std::size_t count = 1;
  for (; count < packets.size() && !shard_.budget.is_low(); ++count) {
    room -= Bytes(parsed[count - 1].segment.payload_len);
    most -= Bytes(parsed[count - 1].ip_length);
    if (Bytes(parsed[count].segment.payload_len) > room || Bytes(parsed[count].ip_length) > most ||
        !can_forward_with(to, parsed[0], packets[count], parsed[count]))
      break;
    shard_.budget.on_taken();
  }
  return count;
}

/// Updates the controller's bytes in flight after data was forwarded to a UE whose ACKs are the controller's input.
/// Returns true if the flow need not be scheduled for serve(), which processes all of its events. For that, the UE must
/// have no other flow, and no window, timer or sum of the bearer may remain to be updated. If an ACK to the server is
/// due, schedules only this ACK and returns true.
inline bool SplitFlows::is_idle_after_cut_through(const ServedFlow& served) {
  const auto& [flow, id, bearer, now] = served;
  budget_sharing_.record_passed(flow, id, bearer);
  if (!bearer.rate_control().is_ack_based() || bearer.load.backlogged_flows != 0) return false;
  if (bearer.flow_count != 1 || &bearer.sibling() != &bearer) return false;
  if (ReceiveWindowControl::window_nearly_closed(flow)) return false;
  if ((flow.events != StreamEvents::none && flow.events != due_to(Side::core)) || UndeliveredAckLimit::waits(flow))
    return false;
  if (ReceiveWindowControl::data_opens_if_ack_based(flow, bearer)) [[unlikely]] {
    if (!begin_transfer(flow, id, bearer, now)) return false;
  }
  const bool due = flow.events != StreamEvents::none || !flow.leg(Side::core).endpoint.nothing_to_emit(now);
  if (!due && !FlowTimers::is_armed_before(flow, FlowTimers::next_deadline(flow))) return false;
  if (flow.share.short_flow && !short_flow::extend(flow, bearer, now)) return false;
  flow.last_activity = now;
  if (due) {
    pending_.schedule(flow, id, due_to(Side::core));
    return true;
  }
  return buffer_quota_.record(flow, StreamEvents::data_to_radio) == flow.share.reserved;
}

/// Starts to count a flow as transferring after the first data to a UE that had acknowledged everything. Updates the
/// window advertised to the server and the timer, and counts the flow in BearerLoad::transferring_flows (flows with
/// unacknowledged data). Changes nothing and returns false if the caller must schedule the flow instead, so that
/// serve() processes all of its events. That is so if a flow of the bearer is already counted there, or if the
/// advertised window is closed or has no controller.
bool SplitFlows::begin_transfer(Flow& flow, FlowId id, Bearer& bearer, Instant now) {
  const bool alone = !flow.share.transferring && bearer.load.transferring_flows == 0;
  if (!alone || flow.share.window_closed || flow.window_loop == no_id) return false;
  receive_windows_.update_of_server(flow, bearer, now);
  bearer.load.set_transferring(flow.share, true);
  flow_timers_.update(flow, id, now);
  return true;
}

/// Completes a cut-through, in which data was forwarded in the frames in which it was received. Schedules the flow if
/// an ACK to the sender is due, if a rate controller runs, or if ACKs are withheld. Else only updates the timer.
/// `first_waited` is true if the first one of several segments would have caused only a delayed ACK by itself. The
/// timer is then set as for that segment alone. Timers with equal times thus expire in the same order as if segments
/// arrived one by one.
template <Side in>
void SplitFlows::finish_cut_through(const ServedFlow& served, bool first_waited) {
  const auto& [flow, id, bearer, now] = served;
  flow.last_activity = now;
  const bool follows_later = bearer.rate_control().is_rate_controlled() || UndeliveredAckLimit::waits(flow);
  const bool due = !flow.leg(in).endpoint.nothing_to_emit(now);
  if ((!due || first_waited) && !follows_later && flow.events == StreamEvents::none) flow_timers_.update(flow, id, now);
  if (due || follows_later) pending_.schedule(flow, id, is_plain(flow, bearer) ? due_to(in) : data_to(opposite(in)));
}

template <Side in>
std::size_t SplitFlows::cut_through(Flow& flow, FlowId id, std::span<packet::Packet> packets,
                                    std::span<const packet::Parsed> parsed, Instant now) {
  constexpr Side out = opposite(in);
  Leg& from = flow.leg(in);
  Leg& to = flow.leg(out);
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  if (flow.release_reason != ReleaseReason::none || to.keepalive_passed || bearer.rate_control().limits_inflight())
    return 0;
  if (shard_.budget.is_low() || !shard_.config.cut_through) return 0;
  if (!to.endpoint.can_cut_through(from.endpoint, parsed[0].segment, now) ||
      !packet::can_cut_through(packets[0], parsed[0]))
    return 0;
  Bytes most = Bytes::max();
  if (out == Side::radio) {
    most = bearer.rate_control().is_ack_based()
               ? budget_sharing_.budget_to_pass(flow, id, bearer, Bytes(parsed[0].ip_length), now)
               : bearer.allowance(now);
  }
  if (most < Bytes(parsed[0].ip_length)) return 0;

  // Update the journal first, because the forwarded segments also acknowledge earlier data to their receiver.
  keep_journal(flow, id);
  if (to.endpoint.snd_una() == from.endpoint.rcv_nxt()) relay::record_progress(flow, out, now);
  from.has_sent_data = true;
  LegOutput output(flow, out, bearer.counts() ? &bearer : nullptr, shard_);
  shard_.budget.on_taken();
  std::size_t count = 1;
  bool first_waits = false;
  if (packets.size() > 1) {
    first_waits = from.endpoint.nothing_to_emit(now) && !from.endpoint.acknowledges_next();
    count = coalesce(to, packets, parsed, to.endpoint.cut_through_bytes(from.endpoint), most);
  }
  const tcp::SeqNum edge = to.endpoint.rcv_adv();
  const tcp::CutThroughHeader header = to.endpoint.begin_cut_through();
  if (to.endpoint.rcv_adv() != edge) [[unlikely]]
    bearer.load.reserve(flow.share, to.endpoint.rcv_adv() - edge);
  for (std::size_t i = 0; i < count; ++i) {
    output.cut_through(parsed[i], header, packets[i], now);
    to.endpoint.cut_through(parsed[i].segment, std::move(packets[i]), now);
  }
  shard_.counters.add(Counter::segments_cut_through, count);
  if (count > 1) {  // the caller has counted the first one
    shard_.counters.add(Counter::optimised, count - 1);
    count_received(flow, id, in, parsed.subspan(1, count - 1), now);
  }
  to.endpoint.end_cut_through(from.endpoint, parsed[0].segment, parsed[count - 1].segment,
                              static_cast<std::uint32_t>(count), now);
  const ServedFlow served{flow, id, bearer, now};
  if (out == Side::radio) {
    count_to_radio(flow, bearer, output.cut_through_bytes(), now);
    if (bearer.rate_control().uses_ack_feedback() && is_idle_after_cut_through(served)) return count;
  }
  finish_cut_through<in>(served, count > 1 && first_waits);
  return count;
}

template std::size_t SplitFlows::cut_through<Side::radio>(Flow&, FlowId, std::span<packet::Packet>,
                                                          std::span<const packet::Parsed>, Instant);
template std::size_t SplitFlows::cut_through<Side::core>(Flow&, FlowId, std::span<packet::Packet>,
                                                         std::span<const packet::Parsed>, Instant);

}  // namespace sluice::proxy
