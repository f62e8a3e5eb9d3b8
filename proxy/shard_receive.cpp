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

/// Why a connection that was followed goes unsplit with this segment.
Counter reason_to_give_up(const tcp::Segment& segment, packet::ParseResult result) {
  if (result != packet::ParseResult::tcp) return counter_of(result);
  if (!segment.flags.syn()) return Counter::forward_handshake_unseen;
  return segment.payload_len != 0 ? Counter::forward_syn_data : Counter::forward_simultaneous_open;
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

ConnectionView Shard::Impl::view_of(Side in, const packet::Parsed& parsed) const {
  const auto dscp = static_cast<std::uint8_t>(parsed.tos >> 2U);
  if (in == Side::radio) return {parsed.src, parsed.dst, parsed.dst_port, dscp};
  return {parsed.dst, parsed.src, parsed.src_port, dscp};
}

bool Shard::Impl::is_ue(const IpAddress& address) const {
  return config_.ue_prefixes.empty() || std::any_of(config_.ue_prefixes.begin(), config_.ue_prefixes.end(),
                                                    [&](const IpPrefix& prefix) { return prefix.contains(address); });
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

std::optional<Counter> Shard::Impl::reason_not_to_track(Side in, const packet::Packet& packet,
                                                        const packet::Parsed& parsed,
                                                        packet::ParseResult result) const {
  if (policies_->only_bypass()) return Counter::forward_bypass_mode;
  if (!parsed.segment.flags.syn() || parsed.segment.flags.ack()) return Counter::forward_mid_flow;
  if (!is_ue(in == Side::radio ? parsed.src : parsed.dst)) return Counter::forward_not_ue;
  if (result == packet::ParseResult::tcp_options_unknown) return counter_of(result);
  if (parsed.segment.payload_len != 0) return Counter::forward_syn_data;
  if (draining_) return Counter::forward_draining;
  if (refuse_flows_) return Counter::forward_memory;
  if (handshake_damaged(in, packet, parsed)) return Counter::forward_handshake_damaged;
  return std::nullopt;
}

void Shard::Impl::handle_new(Side in, packet::Packet&& packet, packet::ParseResult result, const packet::Parsed& parsed,
                             Instant now) {
  if (orphans_ && is_tcp(result) && end_orphan(in, packet, parsed, key_of(in, parsed), now)) return;
  if (released_.size() != 0 && follow_released(in, packet, result, parsed, key_of(in, parsed), now)) return;
  if (const auto reason = reason_not_to_track(in, packet, parsed, result)) {
    forward(in, std::move(packet), result, parsed, *reason, now);
    return;
  }
  const ConnectionView view = view_of(in, parsed);
  const PolicyIndex policy = policies_->choose(view);
  const Treatment& treatment = policies_->treatment(policy);
  if (treatment.mode == Mode::bypass) {
    forward(in, std::move(packet), result, parsed, Counter::forward_bypass_mode, now);
    return;
  }
  const FirstSyn first{key_of(in, parsed), in, view.dscp, parsed.segment, packet::learn(packet, parsed), now};
  if (!begin(first, policy, now)) {
    forward(in, std::move(packet), result, parsed, Counter::forward_flow_limit, now);
  } else if (treatment.regulates()) {
    let_pass(in, std::move(packet), result, parsed, registry_.regulated(registry_.find(first.key)), now);
  } else {
    forward(in, std::move(packet), result, parsed, Counter::forward_handshake, now);
  }
}

/// Follows the connection that this SYN opens; false where a limit is reached.
bool Shard::Impl::begin(const FirstSyn& first, PolicyIndex policy, Instant now) {
  ids_stale_ = true;  // later packets of this burst may be of it
  if (policies_->treatment(policy).regulates()) return regulator_.open(first, policy, now) != Regulator::none;
  const FlowId id = open_flow(first.key, policy, now);
  if (id == no_id) return false;
  Flow& flow = registry_.flow(id);
  handshake::begin(flow, first.from, first.segment, first.at);
  flow.handshake.repeated = first.repeated;
  flow.leg(opposite(first.from)).headers = first.headers;
  registry_.schedule_flow(flow, id, now + config_.timeouts.handshake);
  counters_.add(Counter::flows_opened);
  return true;
}

bool Shard::Impl::meet_newcomer(Side in, packet::Packet& packet, packet::ParseResult result,
                                const packet::Parsed& parsed, const flow::FlowKey& key, Instant now) {
  if (!parsed.segment.flags.ack()) {
    if (reason_not_to_track(in, packet, parsed, result)) return false;
    newcomers_.note({key, in, view_of(in, parsed).dscp, parsed.segment, packet::learn(packet, parsed), now});
    return false;
  }
  FirstSyn first;
  if (handshake_damaged(in, packet, parsed) || !newcomers_.take_answered(key, in, parsed.segment, first)) return false;
  forget(key, now);
  const PolicyIndex policy = policies_->choose({key.ue, key.server, key.server_port, first.dscp});
  const bool followed = policies_->treatment(policy).mode != Mode::bypass && begin(first, policy, now);
  const Registry::ConnectionId id = registry_.find(key);
  if (!followed) {
    forward(in, std::move(packet), result, parsed, Counter::forward_mid_flow, now);
  } else if (registry_.is_regulated(id)) {
    let_pass(in, std::move(packet), result, parsed, registry_.regulated(id), now);
  } else {
    track_handshake(in, std::move(packet), result, parsed, id, now);
  }
  return true;
}

/// Of a connection that is not split.
void Shard::Impl::forget(const flow::FlowKey& key, Instant now) {
  const Registry::ConnectionId id = registry_.find(key);
  ids_stale_ = true;
  if (registry_.is_flow(id)) {
    close(id, now);
  } else if (registry_.is_regulated(id)) {
    regulator_.close(registry_.regulated(id), now);
  }
  if (const std::uint32_t released = released_.find(key); released != Released::none) released_.forget(released);
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

/// A flow for a handshake; no_id where a table is full of connections.
FlowId Shard::Impl::open_flow(const flow::FlowKey& key, PolicyIndex policy, Instant now) {
  const AgeRing::Entry begun = half_open_.begin([&] { return registry_.open(key, policy, now); },
                                                [&](const AgeRing::Entry& oldest) { displace(oldest, now); });
  if (begun.id != no_id) registry_.flow(begun.id).handshake.ticket = begun.ticket;
  return begun.id;
}

void Shard::Impl::displace(const AgeRing::Entry& oldest, Instant now) {
  if (oldest.id == no_id || !registry_.flows().contains(oldest.id)) return;
  const Flow& flow = registry_.flow(oldest.id);
  if (flow.terminated() || flow.handshake.ticket != oldest.ticket) return;
  counters_.add(Counter::handshakes_displaced);
  close(oldest.id, now);
}

void Shard::Impl::track_handshake(Side in, packet::Packet&& packet, packet::ParseResult result,
                                  const packet::Parsed& parsed, FlowId id, Instant now) {
  Flow& flow = registry_.flow(id);
  if (flow.let_go != LetGo::no) {
    forward(in, std::move(packet), result, parsed, Counter::forward_mid_flow, now);
    return;
  }
  if (handshake_damaged(in, packet, parsed)) {
    forward(in, std::move(packet), result, parsed, Counter::forward_handshake_damaged, now);
    return;
  }
  const bool splittable = result == packet::ParseResult::tcp;
  switch (handshake::follow(flow, in, parsed.segment, splittable, now)) {
    case handshake::Step::unrelated:
      if (parsed.segment.flags.syn() && meet_newcomer(in, packet, result, parsed, key_of(in, parsed), now)) return;
      break;
    case handshake::Step::go_on:
      flow.last_activity = now;
      break;
    case handshake::Step::answered:
      flow.last_activity = now;
      flow.leg(flow.initiator).headers = packet::learn(packet, parsed);
      break;
    case handshake::Step::take_over:
      flow.last_activity = now;
      flow.leg(opposite(in)).headers = packet::learn(packet, parsed);
      if (registry_.bearer(flow.bearer).treatment().splits()) {
        take_over(in, std::move(packet), parsed, id, now);
      } else {
        leave_end_to_end(in, std::move(packet), result, parsed, id, now);
      }
      return;
    case handshake::Step::refused:
      counters_.add(Counter::flows_refused);
      ask_to_go(flow, id, LetGo::forget);
      forward(in, std::move(packet), result, parsed, Counter::forward_reset_handshake, now);
      return;
    case handshake::Step::give_up:
      ask_to_go(flow, id, LetGo::forget);
      forward(in, std::move(packet), result, parsed, reason_to_give_up(parsed.segment, result), now);
      return;
  }
  forward(in, std::move(packet), result, parsed, Counter::forward_handshake, now);
}

void Shard::Impl::take_over(Side in, packet::Packet&& packet, const packet::Parsed& parsed, FlowId id, Instant now) {
  Flow& flow = registry_.flow(id);
  Bearer& bearer = registry_.bearer(flow.bearer);
  tcp::Segment ack = parsed.segment;
  const bool clamped = clamp_window(ack, flow, in);
  handshake::take_over(flow, ack, endpoint_configs(id), now);
  begin_split(flow, id, bearer);
  counters_.add(Counter::flows_split);
  const bool bare = ack.payload_len == 0 && !ack.flags.fin();
  mark(flow, id, Streams::both);
  if (bare && !clamped) {
    forward(in, std::move(packet), packet::ParseResult::tcp, parsed, Counter::forward_handshake, now);
    return;
  }
  // The responder still waits for the handshake's last word.
  if (bare) LegOutput(flow, opposite(in), counted(bearer), parts_).transmit(ack, nullptr, now);
  take_in(in, std::move(packet), parsed, id, now);
}

/// The policies have changed since its SYN: it is not to be split any more.
void Shard::Impl::leave_end_to_end(Side in, packet::Packet&& packet, packet::ParseResult result,
                                   const packet::Parsed& parsed, FlowId id, Instant now) {
  const RegulatedId heir = regulator_.adopt(handshake::known(registry_.flow(id)), Bytes::max(), now);
  registry_.flow(id).heir = heir;
  close(id, now);
  if (heir == Regulator::none) {
    forward(in, std::move(packet), result, parsed, Counter::forward_flow_limit, now);
  } else {
    let_pass(in, std::move(packet), result, parsed, heir, now);
  }
}

/// By Side: of the policies in force, which outlive the connection. A paced one has its own, with a place for what it
/// keeps.
std::array<const tcp::EndpointConfig*, 2> Shard::Impl::endpoint_configs(FlowId id) {
  const tcp::EndpointConfig& legs = policies_->legs;
  if (!legs.wants_pacing()) return {&legs, &legs};
  std::array<tcp::PacedEndpoint, 2>& places = paced_[id];
  return {&places[0].begin(legs), &places[1].begin(legs)};
}

void Shard::Impl::begin_split(Flow& flow, FlowId id, Bearer& bearer) {
  journal_.begin(id, flow);
  hold_acknowledgements(flow);
  flow.leg(Side::radio).endpoint.set_window_source(bearer.window_source(), Bytes{});
  bearer.status_changed = true;
  bearer.used = true;
}

bool Shard::Impl::clamp_window(tcp::Segment& ack, const Flow& flow, Side initiator) const {
  const Handshake& seen = flow.handshake;
  const bool scaling = seen.initiator_options.has_window_scale && seen.responder_options.has_window_scale;
  const unsigned shift = scaling ? seen.initiator_options.window_scale : 0U;
  const std::int64_t most = first_window(flow, opposite(initiator)).count() >> shift;
  if (ack.window <= most) return false;
  ack.window = static_cast<std::uint16_t>(most);
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
