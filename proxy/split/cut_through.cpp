#include <utility>

#include "proxy/split/split_flows.hpp"

// Data of an undisturbed connection leaves at once, in the frame in which it came: its bytes keep their places in
// sequence space, so only acknowledgement, window and echoed timestamp are others. Whatever is not as usual is left to
// deliver_segment() and serve(), which come to the same.

namespace sluice::proxy {
namespace {

/// Of a segment of the same train as `first`, which has passed: it may pass, too, is whole, and goes the same way.
bool goes_on(const Leg& to, const packet::Parsed& first, const packet::Packet& packet, const packet::Parsed& parsed) {
  const bool may_pass = packet::are_alike(first, parsed)
                            ? packet.size() == parsed.frame_length()
                            : to.endpoint.passes_size(parsed.segment.payload_len) && packet::can_pass(packet, parsed);
  return may_pass && packet::same_macs(to.headers, packet) &&
         packet::verify_tcp_checksum(packet, parsed) == packet::ChecksumState::good;
}

}  // namespace

/// How many segments of a train go on together, the first of which may: `room` bytes of payload at most, and `most` as
/// IP packets. The buffers of these are taken, but for the first one's.
inline std::size_t SplitFlows::take_together(const Leg& to, std::span<const packet::Packet> packets,
                                             std::span<const packet::Parsed> parsed, Bytes room, Bytes most) {
  std::size_t count = 1;
  for (; count < packets.size() && !shard_.budget.tight(); ++count) {
    room -= Bytes(parsed[count - 1].segment.payload_len);
    most -= Bytes(parsed[count - 1].ip_length);
    if (Bytes(parsed[count].segment.payload_len) > room || Bytes(parsed[count].ip_length) > most ||
        !goes_on(to, parsed[0], packets[count], parsed[count]))
      break;
    shard_.budget.taken();
  }
  return count;
}

/// Passes on as many as may, of a segment and those that follow it in its train, and returns how many. The others are
/// as they were. The first one's checksum was good, and its headers are those that are known; of those behind it that
/// is found out here.
template <Side in>
std::size_t SplitFlows::pass(Flow& flow, FlowId id, std::span<packet::Packet> packets,
                             std::span<const packet::Parsed> parsed, Instant now) {
  constexpr Side out = opposite(in);
  Leg& from = flow.leg(in);
  Leg& to = flow.leg(out);
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  if (flow.release_reason != ReleaseReason::none || to.keepalive_passed || bearer.bounds()) return 0;
  if (shard_.budget.tight() || !shard_.config.cut_through) return 0;
  if (!to.endpoint.may_pass(from.endpoint, parsed[0].segment, now) || !packet::can_pass(packets[0], parsed[0]))
    return 0;
  Bytes most = Bytes::max();
  if (out == Side::radio) {
    most = bearer.clocked() ? acks_.room_to_pass(flow, id, bearer, Bytes(parsed[0].ip_length), now)
                            : bearer.allowance(now);
  }
  if (most < Bytes(parsed[0].ip_length)) return 0;

  // These segments acknowledge to their receiver what came from it before.
  keep_journal(flow, id);
  if (to.endpoint.snd_una() == from.endpoint.rcv_nxt()) relay::note_progress(flow, out, now);
  from.heard = true;
  LegOutput output(flow, out, bearer.counts() ? &bearer : nullptr, shard_);
  shard_.budget.taken();
  std::size_t count = 1;
  bool first_waits = false;
  if (packets.size() > 1) {
    first_waits = from.endpoint.nothing_to_emit(now) && !from.endpoint.acknowledges_next();
    count = take_together(to, packets, parsed, to.endpoint.passage(from.endpoint), most);
  }
  const tcp::SeqNum edge = to.endpoint.rcv_edge();
  const tcp::PassedHeader header = to.endpoint.begin_passing();
  if (to.endpoint.rcv_edge() != edge) [[unlikely]]
    bearer.load.commit(flow.share, to.endpoint.rcv_edge() - edge);
  for (std::size_t i = 0; i < count; ++i) {
    output.pass(parsed[i], header, packets[i], now);
    to.endpoint.pass(parsed[i].segment, std::move(packets[i]), now);
  }
  shard_.counters.add(Counter::segments_cut_through, count);
  shard_.counters.add(Counter::optimised, count - 1);  // the first was counted before
  to.endpoint.end_passing(from.endpoint, parsed[0].segment, parsed[count - 1].segment,
                          static_cast<std::uint32_t>(count), now);
  if (out == Side::radio) {
    count_sent_to_radio(flow, bearer, output.passed(), now);
    if (bearer.listens()) [[unlikely]] {
      if (rests_after_passing(flow, id, bearer, now)) return count;
    }
  }
  after_passing<in>(flow, id, bearer, count > 1 && first_waits, now);
  return count;
}

/// Data have passed to a UE whose acknowledgements are listened to. True where to serve the flow would change nothing
/// but what is done here: a law that they clock lets the server send no more for data, as much is held and advertised
/// as before, nobody else of the UE waits, and the timer wheel looks at the flow in time. Where the server is to be
/// told of its data, that is left to be done.
bool SplitFlows::rests_after_passing(Flow& flow, FlowId id, Bearer& bearer, Instant now) {
  acks_.note_passed(flow, id, bearer);
  if (!bearer.clocked() || bearer.load.backlogged_flows != 0) return false;
  if (bearer.flow_count != 1 || &bearer.sibling() != &bearer) return false;
  if (ReceiveWindows::data_opens_if_clocked(flow, bearer)) return false;
  if ((flow.events != StreamEvents::none && flow.events != due_to(Side::core)) || Exposure::waits(flow)) return false;
  const bool due = flow.events != StreamEvents::none || !flow.leg(Side::core).endpoint.nothing_to_emit(now);
  if (!due && !is_looked_at_in_time(flow, next_deadline(flow))) return false;
  if (flow.share.young) {
    if (flow.sent_to_radio >= bearer.treatment().smvs.short_flow) return false;
    bearer.expect_young(now);
  }
  flow.last_activity = now;
  if (due) {
    mark(flow, id, due_to(Side::core));
    return true;
  }
  return memory_.note(flow, StreamEvents::data_to_radio) == flow.share.committed;
}

/// Nothing is left to be done but to acknowledge, in time. Where nothing is due yet and no law steers the sender's
/// window, what is advertised and held together is as before. Where acknowledgements wait, serve() says which may go.
/// `first_waited`: by itself the first segment of this train would have left nothing due. Then the flow has its
/// appointment before it is served, as if it had been: of what is due in the same moment the order is the same.
template <Side in>
void SplitFlows::after_passing(Flow& flow, FlowId id, const Bearer& bearer, bool first_waited, Instant now) {
  flow.last_activity = now;
  const bool follows_later = bearer.steered() || Exposure::waits(flow);
  const bool due = !flow.leg(in).endpoint.nothing_to_emit(now);
  if ((!due || first_waited) && !follows_later && flow.events == StreamEvents::none) reschedule(flow, id, now);
  if (due || follows_later) mark(flow, id, is_plain(flow, bearer) ? due_to(in) : data_to(opposite(in)));
}

template std::size_t SplitFlows::pass<Side::radio>(Flow&, FlowId, std::span<packet::Packet>,
                                                   std::span<const packet::Parsed>, Instant);
template std::size_t SplitFlows::pass<Side::core>(Flow&, FlowId, std::span<packet::Packet>,
                                                  std::span<const packet::Parsed>, Instant);

}  // namespace sluice::proxy
