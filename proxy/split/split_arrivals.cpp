#include "proxy/split/split_arrivals.hpp"

#include <utility>

#include "proxy/shard/checksum.hpp"
#include "proxy/split/cut_through.hpp"
#include "proxy/split/hearing.hpp"

namespace sluice::proxy {
namespace {

/// The host's MAC addresses, VLAN tags, DSCP or TTL are no longer those that were learned, because a router has failed
/// over or the host has changed its priority; or its data have another DF or flow label. Segments without data do not
/// tell of these two: kernels send SYN-ACKs and the answers of closed connections by other rules than data.
bool outdated(const Leg& leg, const packet::Packet& packet, const packet::Parsed& parsed) {
  constexpr std::uint8_t dscp_mask = 0xfc;
  const packet::HeaderTemplate& known = leg.headers;
  if (!packet::same_link(known, packet) || known.ttl != parsed.ttl || ((known.tos ^ parsed.tos) & dscp_mask) != 0)
    return true;
  if (parsed.segment.payload_len == 0) return false;
  return (known.dont_fragment != parsed.dont_fragment && !leg.routers_cut) || known.flow_label != parsed.flow_label;
}

/// The flow's bearer, where a law listens to the UE's acknowledgements.
Bearer* listener(const SplitWork& work, const Flow& flow) {
  Bearer& bearer = work.shard.registry.bearer(flow.bearer);
  return bearer.lead().listens() ? &bearer : nullptr;
}

/// Returns whether its numbers are the host's. Whatever concerns more than the segment is learned only then.
template <Side in>
inline bool deliver_segment(SplitWork& work, packet::Packet& packet, const packet::Parsed& parsed, Flow& flow,
                            FlowId id, Instant now) {
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
  Bearer* const listening = in == Side::radio ? listener(work, flow) : nullptr;
  tcp::AckNews* const told = listening != nullptr ? &news : nullptr;
  if (segment.payload_len != 0) {
    events = data_to(opposite(in));
    if (!work.memory.keeps(flow, in, segment)) [[unlikely]] {
      work.shard.counters.add(Counter::payload_refused);
      packet.reset();
      believed = own.endpoint.receive_without_payload(segment, now, told);
    } else {
      work.shard.budget.taken();
      packet::strip_to_payload(packet, parsed);
      believed = own.endpoint.receive(segment, std::move(packet), now, told);
    }
    if (believed) [[likely]]
      own.heard = true;
  } else {
    packet.reset();
    believed = own.endpoint.receive(segment, {}, now, told);
  }
  if (news.delivered != 0) work.acks.hear(flow, id, *listening, news, now);
  if (!own.endpoint.on_fast_path() && own.endpoint.counters().fast_recoveries != recoveries) [[unlikely]] {
    work.shard.counters.add(in == Side::radio ? Counter::fast_recoveries_radio : Counter::fast_recoveries_core);
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
  work.marked.mark(flow, id, events != StreamEvents::none ? events : StreamEvents::all);
  return believed;
}

/// The headers are other ones than before: they stay only if the numbers are the host's.
template <Side in>
[[gnu::cold, gnu::noinline]] void deliver_rerouted(SplitWork& work, packet::Packet& packet,
                                                   const packet::Parsed& parsed, Flow& flow, FlowId id, Instant now) {
  const Leg& leg = flow.leg(opposite(in));
  packet::HeaderTemplate& known = flow.leg(opposite(in)).headers;
  const packet::HeaderTemplate before = known;
  known = packet::learn(packet, parsed);
  if (leg.routers_cut) known.dont_fragment = false;
  if (parsed.segment.payload_len == 0) {
    known.dont_fragment = before.dont_fragment;
    known.flow_label = before.flow_label;
  }
  if (!deliver_segment<in>(work, packet, parsed, flow, id, now)) known = before;
}

/// The first segment has brought the headers up to date, given the flow to be served and told all the news there is.
/// What is left is to see that each is whole, and that there is room for it. Where nothing of the first one waits here
/// (it brought what had come before), those behind it may pass.
template <Side in>
inline std::size_t deliver_train(SplitWork& work, std::span<packet::Packet> packets,
                                 std::span<const packet::Parsed> parsed, Flow& flow, Instant now) {
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  if (!contains(flow.events, data_to(opposite(in))) || own.endpoint.unread() == Bytes{}) return 0;
  if (!own.endpoint.takes_next(parsed[0].segment) || !own.heard || other.keepalive_passed) return 0;
  Bytes room = own.endpoint.advertised();
  std::size_t count = 0;
  for (; count < packets.size() && !work.shard.budget.tight(); ++count) {
    const packet::Parsed& next = parsed[count];
    room -= Bytes(next.segment.payload_len);
    if (room < Bytes{}) break;
    if (packet::verify_tcp_checksum(packets[count], next) != packet::ChecksumState::good) break;
    if (!packet::same_link(other.headers, packets[count])) break;
    work.shard.budget.taken();
    packet::strip_to_payload(packets[count], next);
  }
  if (count == 0) return 0;
  work.shard.counters.add(Counter::optimised, count);
  own.endpoint.receive_train(parsed[count - 1].segment, packets.first(count), now);
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  flow.last_activity = now;
  return count;
}

/// Takes the first of a train's segments, and as many of the others as go the same way. Returns how many.
template <Side in>
inline std::size_t receive_some(SplitWork& work, std::span<packet::Packet> packets,
                                std::span<const packet::Parsed> parsed, Flow& flow, FlowId id, Instant now) {
  packet::Packet& first = packets.front();
  const packet::ChecksumState checksum = packet::verify_tcp_checksum(first, parsed.front());
  if (!accept_checksum(work.shard.config, work.shard.counters, in, checksum, flow.handshake)) [[unlikely]] {
    first.reset();
    return 1;
  }
  work.shard.counters.add(Counter::optimised);
  if (outdated(flow.leg(opposite(in)), first, parsed.front())) [[unlikely]] {
    deliver_rerouted<in>(work, first, parsed.front(), flow, id, now);
    return 1;
  }
  if (parsed.front().segment.payload_len == 0) {
    if (!hearing::hear<in>(work, first, parsed.front().segment, flow, id, now))
      deliver_segment<in>(work, first, parsed.front(), flow, id, now);
    return 1;
  }
  if (checksum == packet::ChecksumState::good) {
    if (const std::size_t passed = cut_through::pass<in>(work, flow, id, packets, parsed, now); passed != 0)
      return passed;
  }
  deliver_segment<in>(work, first, parsed.front(), flow, id, now);
  if (packets.size() == 1) return 1;
  return 1 + deliver_train<in>(work, packets.subspan(1), parsed.subspan(1), flow, now);
}

template <Side in>
[[gnu::flatten, gnu::noinline]] std::size_t receive_train(SplitWork& work, std::span<packet::Packet> packets,
                                                          std::span<const packet::Parsed> parsed, Flow& flow, FlowId id,
                                                          Instant now) {
  return receive_some<in>(work, packets, parsed, flow, id, now);
}

// What each segment runs through is compiled once for each side that it may come in on: it knows then where both legs
// lie, which it would work out anew at every use.
template <Side in>
[[gnu::flatten, gnu::noinline]] std::size_t receive_burst(SplitWork& work, std::span<packet::Packet> burst,
                                                          const ParsedBurst& known, std::size_t at, Instant now) {
  Flow* flow = arrivals::flow_of(work, known, at);
  do {
    const FlowId id = known.id(at);
    if (const std::size_t train = known.train(at, burst.size()); train > 1) {
      at +=
          receive_train<in>(work, burst.subspan(at, train), std::span(known.parsed).subspan(at, train), *flow, id, now);
    } else {
      receive_some<in>(work, burst.subspan(at).template first<1>(),
                       std::span(known.parsed).subspan(at).template first<1>(), *flow, id, now);
      ++at;
    }
    flow = at < burst.size() ? arrivals::flow_of(work, known, at) : nullptr;
  } while (flow != nullptr);
  return at;
}

}  // namespace

void arrivals::receive(SplitWork& work, Arrival& arrival, FlowId id) {
  const std::span packets(&arrival.packet, 1);
  const std::span parsed(&arrival.parsed, 1);
  Flow& flow = work.shard.registry.flow(id);
  if (arrival.in == Side::radio) {
    receive_some<Side::radio>(work, packets, parsed, flow, id, arrival.now);
  } else {
    receive_some<Side::core>(work, packets, parsed, flow, id, arrival.now);
  }
}

std::size_t arrivals::receive(SplitWork& work, Side in, std::span<packet::Packet> burst, const ParsedBurst& known,
                              std::size_t at, Instant now) {
  return in == Side::radio ? receive_burst<Side::radio>(work, burst, known, at, now)
                           : receive_burst<Side::core>(work, burst, known, at, now);
}

}  // namespace sluice::proxy
