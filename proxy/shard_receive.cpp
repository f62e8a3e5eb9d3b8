// Frames in: what they are, whose they are, and what is not ours passes untouched.

#include <algorithm>
#include <utility>

#include "proxy/handshake.hpp"
#include "proxy/leg_output.hpp"
#include "proxy/relay.hpp"
#include "proxy/shard_impl.hpp"

namespace sluice::proxy {
namespace {

bool is_tcp(packet::ParseResult result) {
  return result == packet::ParseResult::tcp || result == packet::ParseResult::tcp_options_unknown;
}

/// The host's MAC addresses, DSCP or TTL are no longer those that were learned: a router has failed over.
bool outdated(const packet::HeaderTemplate& known, const packet::Packet& packet, const packet::Parsed& parsed) {
  constexpr std::uint8_t dscp_mask = 0xfc;
  const std::uint8_t* const here = packet.data();
  const std::uint64_t other_mac = (packet::load64(known.l2.data()) ^ packet::load64(here)) |
                                  (packet::load32(known.l2.data() + 8) ^ packet::load32(here + 8));
  return other_mac != 0 || known.ttl != parsed.ttl || ((known.tos ^ parsed.tos) & dscp_mask) != 0;
}

}  // namespace

void Shard::Impl::receive(Side in, std::span<packet::Packet> burst, Instant now) {
  counters_.add(in == Side::radio ? Counter::received_radio : Counter::received_core, burst.size());
  look_at_memory(now);
  while (!burst.empty()) {
    const std::size_t count = std::min(burst.size(), burst_size);
    receive_chunk(in, burst.first(count), now);
    burst = burst.subspan(count);
  }
  queue_.flush(now);
}

void Shard::Impl::receive_chunk(Side in, std::span<packet::Packet> burst, Instant now) {
  auto& [parsed, results, keys, ids] = scratch_;
  for (const packet::Packet& packet : burst) __builtin_prefetch(packet.data());
  for (std::size_t i = 0; i < burst.size(); ++i) {
    results[i] = packet::parse(burst[i], parsed[i]);
    keys[i] = key_of(in, parsed[i]);
  }
  registry_.find_burst({keys.data(), burst.size()}, {ids.data(), burst.size()});
  ids_stale_ = false;
  beginnings_left_ = most_beginnings;
  for (std::size_t i = 0; i < burst.size(); ++i) {
    if (registry_.is_regulated(ids[i])) regulator_.prefetch(registry_.regulated(ids[i]));
  }
  for (std::size_t i = 0; i < burst.size(); ++i) {
    if (ids_stale_) [[unlikely]]
      ids[i] = registry_.find(keys[i]);
    handle(in, std::move(burst[i]), results[i], parsed[i], ids[i], now);
    burst[i].reset();  // where nobody took it
  }
  serve_marked(now);
}

inline void Shard::Impl::handle(Side in, packet::Packet&& packet, packet::ParseResult result,
                                const packet::Parsed& parsed, Registry::ConnectionId id, Instant now) {
  if (is_tcp(result) && registry_.is_flow(id) && registry_.flow(id).phase == FlowPhase::split) [[likely]] {
    take_in(in, std::move(packet), parsed, id, now);
  } else if (is_tcp(result) && registry_.is_regulated(id)) {
    regulate(in, std::move(packet), result, parsed, registry_.regulated(id), now);
  } else {
    handle_other(in, std::move(packet), result, parsed, id, now);
  }
}

void Shard::Impl::handle_other(Side in, packet::Packet&& packet, packet::ParseResult result,
                               const packet::Parsed& parsed, Registry::ConnectionId id, Instant now) {
  if (!is_tcp(result)) {
    handle_unparsed(in, std::move(packet), result, parsed, now);
  } else if (id == flow::no_flow) {
    handle_new(in, std::move(packet), result, parsed, now);
  } else if (registry_.flow(id).phase == FlowPhase::handing_over) {
    pass_over(in, std::move(packet), result, parsed, id, now);
  } else {
    track_handshake(in, std::move(packet), result, parsed, id, now);
  }
}

void Shard::Impl::forward(Side in, packet::Packet&& packet, packet::ParseResult result, const packet::Parsed& parsed,
                          Counter reason, Instant now) {
  counters_.add(reason);
  if (config_.accepts_partial_checksums(in)) packet::complete_partial_checksum(packet, parsed, result);
  const Side out = opposite(in);
  if (out == Side::radio && radio_counted_ && parsed.ip_version != 0) {
    // It will stand in the radio queue like everything else: the law must know of it.
    if (const BearerId bearer = registry_.find_bearer(parsed.dst); bearer != flow::no_flow) {
      if (registry_.bearer(bearer).counts()) registry_.bearer(bearer).injected(now, Bytes(parsed.ip_length));
    }
  }
  queue_.push(out, std::move(packet), now);
}

void Shard::Impl::handle_unparsed(Side in, packet::Packet&& packet, packet::ParseResult result,
                                  const packet::Parsed& parsed, Instant now) {
  const Counter counter = counter_of(result);
  if (packet::disposition(result) == packet::Disposition::drop) {
    counters_.add(counter);
    return;
  }
  on_surprise(in, packet, result, parsed, now);
  if (result == packet::ParseResult::icmp) hear_router(in, packet, parsed, now);
  forward(in, std::move(packet), result, parsed, counter, now);
}

bool Shard::Impl::handshake_damaged(Side in, const packet::Packet& packet, const packet::Parsed& parsed) const {
  switch (packet::verify_tcp_checksum(packet, parsed)) {
    case packet::ChecksumState::good:
      return false;
    case packet::ChecksumState::partial:
      return !config_.accepts_partial_checksums(in);  // a connection whose data would be dropped is not split
    case packet::ChecksumState::bad:
      break;
  }
  return true;
}

void Shard::Impl::regulate(Side in, packet::Packet&& packet, packet::ParseResult result, const packet::Parsed& parsed,
                           RegulatedId id, Instant now) {
  if (parsed.segment.flags.syn() && !regulator_.is_own_syn(id, in, parsed.segment)) [[unlikely]] {
    if (meet_newcomer(in, packet, result, parsed, key_of(in, parsed), now)) return;
  }
  if (regulator_.to_be_split(id)) [[unlikely]] {
    let_pass_until_split(in, std::move(packet), result, parsed, key_of(in, parsed), id, now);
  } else {
    let_pass(in, std::move(packet), result, parsed, id, now);
  }
}

void Shard::Impl::let_pass(Side in, packet::Packet&& packet, packet::ParseResult result, const packet::Parsed& parsed,
                           RegulatedId id, Instant now) {
  const bool believed = !handshake_damaged(in, packet, parsed);
  // A SYN with data or options that the split does not understand.
  if (parsed.segment.flags.syn() && (result != packet::ParseResult::tcp || parsed.segment.payload_len != 0) &&
      regulator_.is_own_syn(id, in, parsed.segment)) [[unlikely]]
    regulator_.keep_end_to_end(id);
  if (config_.accepts_partial_checksums(in)) packet::complete_partial_checksum(packet, parsed, result);
  regulator_.take(id, in, std::move(packet), parsed, believed, refuse_flows_, now);
  if (!regulator_.contains(id)) ids_stale_ = true;
}

bool Shard::Impl::end_orphan(Side in, const packet::Packet& packet, const packet::Parsed& parsed,
                             const flow::FlowKey& key, Instant now) {
  const std::uint32_t id = orphans_->find(key);
  if (id == Orphans::none) return false;
  if (parsed.segment.flags.syn()) {
    orphans_->forget(id);  // its addresses are used again
    return false;
  }
  if (!checksum_acceptable(in, packet::verify_tcp_checksum(packet, parsed))) return true;
  counters_.add(Counter::drop_orphan);
  if (orphans_->answer(id, in, parsed.segment, now, parts_)) counters_.add(Counter::orphans_reset);
  return true;
}

bool Shard::Impl::follow_released(Side in, packet::Packet& packet, packet::ParseResult result,
                                  const packet::Parsed& parsed, const flow::FlowKey& key, Instant now) {
  const std::uint32_t id = released_.find(key);
  if (id == Released::none) return false;
  if (parsed.segment.flags.syn()) {
    const bool own = in == released_.connection(id).initiator && !parsed.segment.flags.ack() &&
                     parsed.segment.seq == released_.connection(id).handshake.initiator_isn;
    if (!own && meet_newcomer(in, packet, result, parsed, key, now)) return true;
  } else if (result == packet::ParseResult::tcp && !handshake_damaged(in, packet, parsed)) {
    const bool welcome = !draining_ && !refuse_flows_ && released_.wanted(id, now);
    FollowedConnection& connection = released_.connection(id);
    if (welcome && connection.may_be_split(in, parsed.segment) && take_up_released(id, in, parsed, key, now)) {
      take_in(in, std::move(packet), parsed, registry_.find(key), now);
      return true;
    }
    if (connection.follow(in, parsed.segment) == FollowedConnection::Heard::the_end) released_.forget(id);
  }
  forward(in, std::move(packet), result, parsed, Counter::forward_mid_flow, now);
  return true;
}

bool Shard::Impl::checksum_acceptable(Side in, packet::ChecksumState state) {
  if (state == packet::ChecksumState::good) [[likely]]
    return true;
  if (state == packet::ChecksumState::bad) {
    counters_.add(Counter::drop_tcp_checksum);
    return false;
  }
  if (!config_.accepts_partial_checksums(in)) {
    counters_.add(Counter::drop_partial_checksum);
    return false;
  }
  counters_.add(Counter::rx_partial_checksum);
  return true;
}

inline void Shard::Impl::take_in(Side in, packet::Packet&& packet, const packet::Parsed& parsed, FlowId id,
                                 Instant now) {
  Flow& flow = registry_.flow(id);
  if (parsed.segment.flags.syn() && !parsed.segment.flags.ack() && relay::quiet(flow) &&
      !handshake_damaged(in, packet, parsed)) {
    // The old connection is over on both sides and its addresses are used again: a new one begins.
    close(id, now);
    handle_new(in, std::move(packet), packet::ParseResult::tcp, parsed, now);
    return;
  }
  if (!checksum_acceptable(in, packet::verify_tcp_checksum(packet, parsed))) return;
  counters_.add(Counter::optimised);
  if (outdated(flow.leg(opposite(in)).headers, packet, parsed)) [[unlikely]] {
    take_rerouted(in, std::move(packet), parsed, flow, id, now);
  } else {
    take_segment(in, std::move(packet), parsed, flow, id, now);
  }
}

/// The headers are other ones than before: they stay only if the numbers are the host's.
void Shard::Impl::take_rerouted(Side in, packet::Packet&& packet, const packet::Parsed& parsed, Flow& flow, FlowId id,
                                Instant now) {
  packet::HeaderTemplate& known = flow.leg(opposite(in)).headers;
  const packet::HeaderTemplate before = known;
  known = packet::learn(packet, parsed);
  if (!take_segment(in, std::move(packet), parsed, flow, id, now)) known = before;
}

/// Returns whether its numbers are the host's. Whatever concerns more than the segment is learned only then.
inline bool Shard::Impl::take_segment(Side in, packet::Packet&& packet, const packet::Parsed& parsed, Flow& flow,
                                      FlowId id, Instant now) {
  Leg& own = flow.leg(in);
  Leg& other = flow.leg(opposite(in));
  const auto recoveries = own.endpoint.counters().fast_recoveries;
  const tcp::SeqNum acked = own.endpoint.snd_una();
  Streams stirred = Streams::none;
  const bool brings = parsed.segment.payload_len != 0 || parsed.segment.flags.fin();
  if (brings && other.endpoint.snd_una() == own.endpoint.rcv_nxt()) relay::note_progress(flow, opposite(in), now);
  bool believed = false;
  if (parsed.segment.payload_len != 0) {
    stirred = stream_to(opposite(in));
    if (budget_.tight() && !keeps_payload(flow, in, parsed.segment)) [[unlikely]] {
      counters_.add(Counter::payload_refused);
      believed = own.endpoint.receive_without_payload(parsed.segment, now);
    } else {
      budget_.taken();
      packet::strip_to_payload(packet, parsed);
      believed = own.endpoint.receive(parsed.segment, std::move(packet), now);
    }
    if (believed) [[likely]]
      own.heard = true;
  } else {
    packet.reset();
    believed = own.endpoint.receive(parsed.segment, {}, now);
  }
  if (!own.endpoint.smooth() && own.endpoint.counters().fast_recoveries != recoveries) [[unlikely]] {
    counters_.add(in == Side::radio ? Counter::fast_recoveries_radio : Counter::fast_recoveries_core);
  }
  other.endpoint.set_timestamp(own.endpoint.newest_ts_value());
  if (believed) [[likely]]
    flow.last_activity = now;
  if (other.questioned && believed) [[unlikely]] {
    other.questioned = false;
    other.endpoint.answer_question();
  }
  if (own.endpoint.snd_una() != acked) {
    stirred = stirred | stream_to(in);
    relay::note_progress(flow, in, now);
  }
  mark(flow, id, stirred != Streams::none ? stirred : Streams::both);
  return believed;
}

}  // namespace sluice::proxy
