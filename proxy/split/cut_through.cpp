#include <utility>

#include "proxy/split/split_flows.hpp"

// Data of an undisturbed connection leaves at once, in the frame in which it came: its bytes keep their places in
// sequence space, so only acknowledgement, window and echoed timestamp are others. Whatever is not as usual is left to
// deliver_segment() and serve(), which come to the same.

namespace sluice::proxy {
namespace {

/// Of a segment of the same train as those that have passed: it is whole, and goes the same way.
bool goes_on(const Leg& to, const packet::Packet& packet, const packet::Parsed& parsed, Bytes room) {
  const std::uint32_t length = parsed.segment.payload_len;
  return Bytes(length) <= room && to.endpoint.passes_size(length) && packet::can_pass(packet, parsed) &&
         packet::same_macs(to.headers, packet) &&
         packet::verify_tcp_checksum(packet, parsed) == packet::ChecksumState::good;
}

}  // namespace

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
  if (out == Side::radio) most = bearer.clocked() ? acks_.room_to_pass(flow, id, bearer, now) : bearer.allowance(now);
  if (most < Bytes(parsed[0].ip_length)) return 0;

  // These segments acknowledge to their receiver what came from it before.
  keep_journal(flow, id);
  if (to.endpoint.snd_una() == from.endpoint.rcv_nxt()) relay::note_progress(flow, out, now);
  from.heard = true;
  LegOutput output(flow, out, bearer.counts() ? &bearer : nullptr, shard_);
  Bytes room = to.endpoint.passage(from.endpoint);
  const tcp::PassedHeader header = to.endpoint.begin_passing();
  std::size_t count = 0;
  do {
    room -= Bytes(parsed[count].segment.payload_len);
    most -= Bytes(parsed[count].ip_length);
    shard_.budget.taken();
    output.pass(parsed[count], header, packets[count], now);
    to.endpoint.pass(from.endpoint, parsed[count].segment, std::move(packets[count]), now);
    ++count;
  } while (count < packets.size() && !shard_.budget.tight() && Bytes(parsed[count].ip_length) <= most &&
           goes_on(to, packets[count], parsed[count], room));
  shard_.counters.add(Counter::segments_cut_through, count);
  to.endpoint.end_passing(from.endpoint, parsed[count - 1].segment, now);
  if (out == Side::radio) note_sent_to_radio(flow, id, bearer, output.passed(), now);
  after_passing<in>(flow, id, bearer, now);
  return count;
}

/// The same of a train whose first segment has been dealt with.
template <Side in>
std::size_t SplitFlows::pass_train(Flow& flow, FlowId id, std::span<packet::Packet> packets,
                                   std::span<const packet::Parsed> parsed, Instant now) {
  const Leg& to = flow.leg(opposite(in));
  if (!goes_on(to, packets[0], parsed[0], Bytes::max())) return 0;
  const std::size_t count = pass<in>(flow, id, packets, parsed, now);
  shard_.counters.add(Counter::optimised, count);
  return count;
}

/// Nothing is left to be done but to acknowledge, in time. Where nothing is due yet and no law steers the sender's
/// window, what is advertised and held together is as before. Where acknowledgements wait, serve() says which may go.
template <Side in>
void SplitFlows::after_passing(Flow& flow, FlowId id, const Bearer& bearer, Instant now) {
  flow.last_activity = now;
  if (!flow.leg(in).endpoint.nothing_to_emit(now) || bearer.steered() || Exposure::waits(flow)) {
    mark(flow, id, data_to(opposite(in)));
  } else if (flow.events == StreamEvents::none) {
    reschedule(flow, id, now);
  }
}

template std::size_t SplitFlows::pass<Side::radio>(Flow&, FlowId, std::span<packet::Packet>,
                                                   std::span<const packet::Parsed>, Instant);
template std::size_t SplitFlows::pass<Side::core>(Flow&, FlowId, std::span<packet::Packet>,
                                                  std::span<const packet::Parsed>, Instant);
template std::size_t SplitFlows::pass_train<Side::radio>(Flow&, FlowId, std::span<packet::Packet>,
                                                         std::span<const packet::Parsed>, Instant);
template std::size_t SplitFlows::pass_train<Side::core>(Flow&, FlowId, std::span<packet::Packet>,
                                                        std::span<const packet::Parsed>, Instant);

}  // namespace sluice::proxy
