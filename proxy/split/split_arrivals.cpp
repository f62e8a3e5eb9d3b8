// What split connections make of the packets that come in.

#include <cstddef>
#include <span>
#include <utility>

#include "proxy/shard/checksum.hpp"
#include "proxy/split/split_flows.hpp"

namespace sluice::proxy {
namespace {

/// The host's MAC addresses, DSCP or TTL are no longer those that were learned: a router has failed over.
bool outdated(const packet::HeaderTemplate& known, const packet::Packet& packet, const packet::Parsed& parsed) {
  constexpr std::uint8_t dscp_mask = 0xfc;
  return !packet::same_macs(known, packet) || known.ttl != parsed.ttl || ((known.tos ^ parsed.tos) & dscp_mask) != 0;
}

}  // namespace

void SplitFlows::receive(Arrival& arrival, FlowId id) {
  const std::span packets(&arrival.packet, 1);
  const std::span parsed(&arrival.parsed, 1);
  Flow& flow = shard_.registry.flow(id);
  if (arrival.in == Side::radio) {
    receive_some<Side::radio>(packets, parsed, flow, id, arrival.now);
  } else {
    receive_some<Side::core>(packets, parsed, flow, id, arrival.now);
  }
}

std::size_t SplitFlows::receive(Side in, std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at,
                                Instant now) {
  return in == Side::radio ? receive_burst<Side::radio>(burst, known, at, now)
                           : receive_burst<Side::core>(burst, known, at, now);
}

template <Side in>
std::size_t SplitFlows::receive_burst(std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at,
                                      Instant now) {
  Flow* flow = flow_of(known, at);
  do {
    const FlowId id = known.id(at);
    if (const std::size_t train = known.train(at, burst.size()); train > 1) {
      at += receive_train<in>(burst.subspan(at, train), std::span(known.parsed).subspan(at, train), *flow, id, now);
    } else {
      receive_some<in>(burst.subspan(at).template first<1>(), std::span(known.parsed).subspan(at).template first<1>(),
                       *flow, id, now);
      ++at;
    }
    flow = at < burst.size() ? flow_of(known, at) : nullptr;
  } while (flow != nullptr);
  return at;
}

template <Side in>
std::size_t SplitFlows::receive_train(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed,
                                      Flow& flow, FlowId id, Instant now) {
  return receive_some<in>(packets, parsed, flow, id, now);
}

/// Takes the first of a train's segments, and as many of the others as go the same way. Returns how many.
template <Side in>
inline std::size_t SplitFlows::receive_some(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed,
                                            Flow& flow, FlowId id, Instant now) {
  packet::Packet& first = packets.front();
  const packet::ChecksumState checksum = packet::verify_tcp_checksum(first, parsed.front());
  if (!accept_checksum(shard_.config, shard_.counters, in, checksum)) [[unlikely]] {
    first.reset();
    return 1;
  }
  shard_.counters.add(Counter::optimised);
  if (outdated(flow.leg(opposite(in)).headers, first, parsed.front())) [[unlikely]] {
    deliver_rerouted<in>(first, parsed.front(), flow, id, now);
    return 1;
  }
  if (parsed.front().segment.payload_len == 0) {
    if (!hear<in>(first, parsed.front().segment, flow, id, now))
      deliver_segment<in>(first, parsed.front(), flow, id, now);
    return 1;
  }
  if (checksum == packet::ChecksumState::good) {
    if (const std::size_t passed = pass<in>(flow, id, packets, parsed, now); passed != 0) return passed;
  }
  deliver_segment<in>(first, parsed.front(), flow, id, now);
  if (packets.size() == 1) return 1;
  return 1 + deliver_train<in>(packets.subspan(1), parsed.subspan(1), flow, now);
}

/// The first segment has brought the headers up to date, given the flow to be served and told all the news there is.
/// What is left is to see that each is whole, and that there is room for it. Where nothing of the first one waits here
/// (it brought what had come before), those behind it may pass.
template <Side in>
inline std::size_t SplitFlows::deliver_train(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed,
                                             Flow& flow, Instant now) {
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  if (!contains(flow.events, data_to(opposite(in))) || own.endpoint.unread() == Bytes{}) return 0;
  if (!own.endpoint.takes_next(parsed[0].segment) || !own.heard || other.keepalive_passed) return 0;
  Bytes room = own.endpoint.advertised();
  std::size_t count = 0;
  for (; count < packets.size() && !shard_.budget.tight(); ++count) {
    const packet::Parsed& next = parsed[count];
    room -= Bytes(next.segment.payload_len);
    if (room < Bytes{}) break;
    if (packet::verify_tcp_checksum(packets[count], next) != packet::ChecksumState::good) break;
    if (!packet::same_macs(other.headers, packets[count])) break;
    shard_.budget.taken();
    packet::strip_to_payload(packets[count], next);
  }
  if (count == 0) return 0;
  shard_.counters.add(Counter::optimised, count);
  own.endpoint.receive_train(parsed[count - 1].segment, packets.first(count), now);
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  flow.last_activity = now;
  return count;
}

/// The headers are other ones than before: they stay only if the numbers are the host's.
template <Side in>
void SplitFlows::deliver_rerouted(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow, FlowId id,
                                  Instant now) {
  packet::HeaderTemplate& known = flow.leg(opposite(in)).headers;
  const packet::HeaderTemplate before = known;
  known = packet::learn(packet, parsed);
  if (!deliver_segment<in>(packet, parsed, flow, id, now)) known = before;
}

/// A segment without payload that acknowledges something, on a leg that nothing disturbs: what deliver_segment() comes
/// to. False, and nothing has happened, where it is anything else.
template <Side in>
inline bool SplitFlows::hear(packet::Packet& packet, const tcp::Segment& segment, Flow& flow, FlowId id, Instant now) {
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  Bearer& bearer = shard_.registry.bearer(flow.bearer);
  const bool listening = in == Side::radio && bearer.listens();
  const tcp::SeqNum before = own.endpoint.snd_una();
  tcp::AckNews news;
  if (!own.endpoint.hear(segment, now, listening ? &news : nullptr)) [[unlikely]]
    return false;
  packet.reset();
  if (listening) acks_.hear(flow, id, bearer, news, now);
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  flow.last_activity = now;
  if (other.keepalive_passed) [[unlikely]] {
    other.keepalive_passed = false;
    other.endpoint.answer_keepalive();
  }
  relay::note_progress(flow, in, now);
  after_hearing<in>(flow, id, bearer, static_cast<std::uint32_t>(segment.ack - before), now);
  return true;
}

/// The host behind `in` has acknowledged so much, and nothing else has happened. Where it comes to no more than a wider
/// window for the other host, what serve() would do is done here.
template <Side in>
inline void SplitFlows::after_hearing(Flow& flow, FlowId id, Bearer& bearer, std::uint32_t acked, Instant now) {
  constexpr Side sender = opposite(in);
  if (!has_opened_window<in>(flow, bearer, acked, now)) {
    mark(flow, id, acked_by(in));
    return;
  }
  bearer.load.commit(flow.share, -std::int64_t{acked});
  if (!flow.leg(sender).endpoint.nothing_to_emit(now)) {
    mark(flow, id, due_to(sender));
    return;
  }
  keep_journal(flow, id);
  reschedule(flow, id, now);
}

/// Nothing waits to be sent, and the other host has the window that it is to have now. False, and nothing has happened,
/// where only serve() finds out. Where no law steers, memory is asked when the other host is told of a window; until
/// then there is as much more for it as was acknowledged.
template <Side in>
inline bool SplitFlows::has_opened_window(Flow& flow, Bearer& bearer, std::uint32_t acked, Instant now) {
  Leg& sender = flow.leg(opposite(in));
  if (flow.events != StreamEvents::none || flow.release_reason != ReleaseReason::none || flow.share.backlog != 0)
    return false;
  if (!sender.endpoint.on_fast_path() || !flow.leg(in).endpoint.nothing_to_emit(now)) return false;
  if (in == Side::radio && bearer.clocked()) return law_has_opened_window(flow, bearer, now);
  sender.regained =
      sender.at_limit && flow.window_loop == no_id && is_plain(flow, bearer) && sender.endpoint.regain_room(acked);
  return sender.regained;
}

/// The same of the server of a UE whose only connection this is, under a law by its acknowledgements.
bool SplitFlows::law_has_opened_window(Flow& flow, Bearer& bearer, Instant now) {
  if (bearer.flow_count != 1 || &bearer.sibling() != &bearer || Exposure::waits(flow)) return false;
  if (!flow.share.moving || flow.leg(Side::radio).endpoint.held() == Bytes{}) return false;
  if (flow.share.young) {
    if (flow.sent_to_radio >= bearer.treatment().smvs.short_flow) return false;
    bearer.expect_young(now);
  }
  receive_windows_.update_of_server(flow, bearer, now);
  return true;
}

/// Returns whether its numbers are the host's. Whatever concerns more than the segment is learned only then.
template <Side in>
inline bool SplitFlows::deliver_segment(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow, FlowId id,
                                        Instant now) {
  const tcp::Segment& segment = parsed.segment;
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  const auto recoveries = own.endpoint.counters().fast_recoveries;
  const tcp::SeqNum acked = own.endpoint.snd_una();
  StreamEvents events = StreamEvents::none;
  const bool brings = segment.payload_len != 0 || segment.flags.fin();
  if (brings && other.endpoint.snd_una() == own.endpoint.rcv_nxt()) relay::note_progress(flow, opposite(in), now);
  bool believed = false;
  tcp::AckNews news;
  Bearer* const listening = in == Side::radio ? listener(flow) : nullptr;
  tcp::AckNews* const told = listening != nullptr ? &news : nullptr;
  if (segment.payload_len != 0) {
    events = data_to(opposite(in));
    if (!memory_.keeps(flow, in, segment)) [[unlikely]] {
      shard_.counters.add(Counter::payload_refused);
      packet.reset();
      believed = own.endpoint.receive_without_payload(segment, now, told);
    } else {
      shard_.budget.taken();
      packet::strip_to_payload(packet, parsed);
      believed = own.endpoint.receive(segment, std::move(packet), now, told);
    }
    if (believed) [[likely]]
      own.heard = true;
  } else {
    packet.reset();
    believed = own.endpoint.receive(segment, {}, now, told);
  }
  if (news.delivered != 0) acks_.hear(flow, id, *listening, news, now);
  if (!own.endpoint.on_fast_path() && own.endpoint.counters().fast_recoveries != recoveries) [[unlikely]] {
    shard_.counters.add(in == Side::radio ? Counter::fast_recoveries_radio : Counter::fast_recoveries_core);
  }
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  if (believed) [[likely]]
    flow.last_activity = now;
  if (other.keepalive_passed && believed) [[unlikely]] {
    other.keepalive_passed = false;
    other.endpoint.answer_keepalive();
  }
  if (own.endpoint.snd_una() != acked) {
    events = events | acked_by(in);
    relay::note_progress(flow, in, now);
  }
  mark(flow, id, events != StreamEvents::none ? events : StreamEvents::all);
  return believed;
}

}  // namespace sluice::proxy
