// Connections that begin: a SYN is noted, its answer opens the connection, the last word of the handshake splits it.

#include <algorithm>
#include <utility>

#include "proxy/handshake.hpp"
#include "proxy/leg_output.hpp"
#include "proxy/shard_impl.hpp"

namespace sluice::proxy {
namespace {

/// Why a connection that was followed goes unsplit with this segment.
Counter reason_to_give_up(const tcp::Segment& segment, packet::ParseResult result) {
  if (result != packet::ParseResult::tcp) return proxy::counter_of(result);
  if (!segment.flags.syn()) return Counter::forward_handshake_unseen;
  return segment.payload_len != 0 ? Counter::forward_syn_data : Counter::forward_simultaneous_open;
}

/// Why a connection goes unsplit whose SYN was answered so.
Counter counter_of(AnswerToSyn answer) {
  if (answer == AnswerToSyn::refuses) return Counter::forward_reset_handshake;
  return answer == AnswerToSyn::crosses ? Counter::forward_simultaneous_open : Counter::forward_handshake_unseen;
}

}  // namespace

ConnectionView Shard::Impl::view_of(Side in, const packet::Parsed& parsed) const {
  const auto dscp = static_cast<std::uint8_t>(parsed.tos >> 2U);
  if (in == Side::radio) return {parsed.src, parsed.dst, parsed.dst_port, dscp};
  return {parsed.dst, parsed.src, parsed.src_port, dscp};
}

bool Shard::Impl::is_ue(const IpAddress& address) const {
  return config_.ue_prefixes.empty() || std::any_of(config_.ue_prefixes.begin(), config_.ue_prefixes.end(),
                                                    [&](const IpPrefix& prefix) { return prefix.contains(address); });
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
  const tcp::Segment& segment = parsed.segment;
  if (orphans_ && end_orphan(in, packet, parsed, key_of(in, parsed), now)) return;
  if (released_.size() != 0 && follow_released(in, packet, result, parsed, key_of(in, parsed), now)) return;
  const bool may_answer = !(arrivals_.empty() && newcomers_.empty()) && (!segment.flags.syn() || segment.flags.ack());
  if (may_answer && meet_answer(in, packet, result, parsed, key_of(in, parsed), now)) return;
  if (const auto reason = reason_not_to_track(in, packet, parsed, result)) {
    forward(in, std::move(packet), result, parsed, *reason, now);
    return;
  }
  const ConnectionView view = view_of(in, parsed);
  Counter counter = Counter::forward_handshake;
  if (policies_->treatment(policies_->choose(view)).mode == Mode::bypass) {
    counter = Counter::forward_bypass_mode;
  } else if (!may_begin()) {
    counter = Counter::forward_new_limit;
  } else {
    note_syn({key_of(in, parsed), in, view.dscp, segment, packet::learn(packet, parsed), now});
  }
  forward(in, std::move(packet), result, parsed, counter, now);
}

/// Of a connection that nothing is known of. Another number than that of a SYN before is noted apart: who forges one
/// takes nothing from the true one.
void Shard::Impl::note_syn(const FirstSyn& first) {
  const Newcomers::Noted noted = arrivals_.note(first);
  if (noted == Newcomers::Noted::no) newcomers_.note(first);
  if (noted == Newcomers::Noted::displacing) counters_.add(Counter::handshakes_displaced);
}

bool Shard::Impl::meet_answer(Side in, packet::Packet& packet, packet::ParseResult result, const packet::Parsed& parsed,
                              const flow::FlowKey& key, Instant now) {
  for (Newcomers* const syns : {&arrivals_, &newcomers_}) {
    const FirstSyn* const noted = syns->find(key);
    if (noted == nullptr) continue;
    if (handshake_damaged(in, packet, parsed)) {
      forward(in, std::move(packet), result, parsed, Counter::forward_handshake_damaged, now);
      return true;
    }
    const AnswerToSyn answer = judge(*noted, in, parsed.segment);
    if (answer == AnswerToSyn::none) continue;
    const FirstSyn first = *noted;
    syns->forget(key);
    if (now - first.at >= config_.timeouts.handshake) continue;
    if (answer == AnswerToSyn::accepts) {
      begin_answered(in, packet, result, parsed, first, now);
    } else {
      if (answer == AnswerToSyn::refuses) counters_.add(Counter::flows_refused);
      forward(in, std::move(packet), result, parsed, counter_of(answer), now);
    }
    return true;
  }
  return false;
}

/// Both hosts have agreed on a connection, and this SYN-ACK is the word of the second one.
void Shard::Impl::begin_answered(Side in, packet::Packet& packet, packet::ParseResult result,
                                 const packet::Parsed& parsed, const FirstSyn& first, Instant now) {
  const flow::FlowKey& key = first.key;
  const PolicyIndex policy = policies_->choose({key.ue, key.server, key.server_port, first.dscp});
  const auto reason = reason_not_to_begin(policy);
  if (reason || !begin(first, policy, now)) {
    forward(in, std::move(packet), result, parsed, reason.value_or(Counter::forward_flow_limit), now);
    return;
  }
  const Registry::ConnectionId id = registry_.find(key);
  if (registry_.is_regulated(id)) {
    let_pass(in, std::move(packet), result, parsed, registry_.regulated(id), now);
  } else {
    track_handshake(in, std::move(packet), result, parsed, id, now);
  }
}

/// Things may have changed since the SYN was noted.
std::optional<Counter> Shard::Impl::reason_not_to_begin(PolicyIndex policy) {
  if (policies_->treatment(policy).mode == Mode::bypass) return Counter::forward_bypass_mode;
  if (draining_) return Counter::forward_draining;
  if (refuse_flows_) return Counter::forward_memory;
  if (!may_begin()) return Counter::forward_new_limit;
  return std::nullopt;
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
    if (reason_not_to_track(in, packet, parsed, result) || !may_begin()) return false;
    newcomers_.note({key, in, view_of(in, parsed).dscp, parsed.segment, packet::learn(packet, parsed), now});
    return false;
  }
  FirstSyn first;
  if (handshake_damaged(in, packet, parsed) || !newcomers_.take_answered(key, in, parsed.segment, first, now)) {
    return false;
  }
  forget(key, now);
  begin_answered(in, packet, result, parsed, first, now);
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

}  // namespace sluice::proxy
