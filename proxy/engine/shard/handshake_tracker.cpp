// Handshakes of new connections, from the SYN to the split or the decision against it. The classifier calls
// on_untracked() for unknown connections and on_handshake_segment() for tracked handshakes. Invariant: a SYN alone
// creates no flow, bearer or timer, because anybody can send many; a SYN-ACK does (compare SYN caches, RFC 4987).
#include "proxy/engine/shard/handshake_tracker.hpp"

#include <algorithm>

#include "proxy/engine/end_to_end/handshake.hpp"
#include "proxy/engine/flow_table/checksum.hpp"
#include "proxy/engine/relay/leg_output.hpp"
#include "proxy/engine/split/short_flow.hpp"

namespace sluice::proxy {
namespace {

/// Returns the counter for a SYN with options that the proxy does not support. Multipath TCP has its own counter,
/// because many connections of mobile devices use it.
Counter counter_of_options(const RxPacket& rx) {
  const bool multipath = (rx.parsed.unknown_options.bits & packet::UnknownOptions::multipath) != 0;
  return multipath ? Counter::forward_multipath : proxy::counter_of(rx.result);
}

/// Returns the counter for the reason why this segment prevents a split of its connection. `step` is the step of the
/// handshake that the segment causes.
Counter reason_to_give_up(const RxPacket& rx, const Flow& flow, handshake::Step step) {
  if (step == handshake::Step::give_up_ecn) return Counter::forward_accurate_ecn;
  if (rx.result != packet::ParseResult::tcp) return counter_of_options(rx);
  if (!rx.segment().flags.syn()) {
    const Handshake& seen = flow.handshake;
    const bool completes = rx.in == flow.initiator && rx.segment().seq == seen.initiator_isn + 1 &&
                           rx.segment().ack == seen.responder_isn + 1;
    return completes && seen.agrees_on_timestamps() ? Counter::forward_handshake_unclear
                                                    : Counter::forward_handshake_unseen;
  }
  if (rx.segment().payload_len != 0) return Counter::forward_syn_data;
  if (rx.segment().syn.mss < tcp::Endpoint::smallest_mss) return Counter::forward_small_mss;
  return rx.in == flow.initiator ? Counter::forward_simultaneous_open : Counter::forward_handshake_unclear;
}

/// Returns the counter for the reason why a connection is not split after this answer to its SYN.
Counter counter_of(AnswerToSyn answer) {
  if (answer == AnswerToSyn::refuses) return Counter::forward_reset_handshake;
  return answer == AnswerToSyn::simultaneous_open ? Counter::forward_simultaneous_open
                                                  : Counter::forward_handshake_unseen;
}

/// True if the sender's kernel left the segment's checksum unfinished for an offload, and the port accepts such
/// checksums.
bool shows_unfinished(const RxPacket& rx, const ShardConfig& config) {
  return config.accepts_partial_checksums(rx.in) && is_unfinished(rx.packet, rx.parsed);
}

/// Records whether a segment of the handshake has an unfinished checksum (left to an offload). `unanswered` is true if
/// no SYN-ACK was seen before the segment. The initiator's last ACK is recorded too, because a complete checksum shows
/// that the host completes the checksums of all segments.
void record_checksum(const RxPacket& rx, Flow& flow, handshake::Step step, bool unanswered, const ShardConfig& config) {
  using enum handshake::Step;
  if (step != continues && step != answered && step != complete) return;
  flow.handshake.record_checksum(rx.in, shows_unfinished(rx, config), step == answered && unanswered);
}

/// Returns the SYN cache's entry for a first SYN.
FirstSyn first_syn_of(const RxPacket& rx, const ShardConfig& config) {
  const tcp::Segment& segment = rx.segment();
  return {.key = rx.key(),
          .tag = rx.tag,
          .isn = segment.seq,
          .options = segment.syn,
          .window = segment.window,
          .from = rx.in,
          .dscp = view_of(rx).dscp,
          .retransmitted = false,
          .unfinished = shows_unfinished(rx, config),
          .ecn = static_cast<std::uint8_t>(segment.ecn & 3U),
          .ecn_unclear = tcp::has_reserved_ace(segment.flags),
          .at = rx.now,
          .headers = packet::learn(rx.packet, rx.parsed)};
}

}  // namespace

HandshakeTracker::HandshakeTracker(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end,
                                   Forwarder& forwarder, const flow::HashKey& secret)
    : shard_(shard),
      flows_(flows),
      end_to_end_(end_to_end),
      forwarder_(forwarder),
      first_syns_(std::max<std::uint32_t>(shard.config.limits.max_flows / 4, 16), SynCache::DuplicateSyn::keep_first,
                  shard.config.timeouts.handshake, secret),
      conflicting_syns_(std::max<std::uint32_t>(shard.config.limits.max_flows / 16, 16),
                        SynCache::DuplicateSyn::keep_newest, shard.config.timeouts.handshake, secret),
      unsplit_(std::max<std::uint32_t>(shard.config.limits.max_flows / 4, 16), shard.config.timeouts.idle),
      half_open_(shard.config.limits.max_flows) {}

bool HandshakeTracker::is_ue(const IpAddress& address) const {
  const std::vector<IpPrefix>& prefixes = shard_.config.ue_prefixes;
  return prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(),
                                         [&](const IpPrefix& prefix) { return prefix.contains(address); });
}

std::optional<Counter> HandshakeTracker::reason_not_to_note(const RxPacket& rx) const {
  const tcp::Segment& segment = rx.segment();
  if (shard_.registry.policies().current().only_bypass()) return Counter::forward_bypass_mode;
  if (!is_ue(rx.in == Side::radio ? rx.parsed.src : rx.parsed.dst)) return Counter::forward_not_ue;
  if (!segment.flags.syn() || segment.flags.ack()) return Counter::forward_mid_flow;
  if (rx.result == packet::ParseResult::tcp_options_unknown) return counter_of_options(rx);
  if (segment.payload_len != 0) return Counter::forward_syn_data;
  if (draining_) return Counter::forward_draining;
  if (flows_.buffer_quota().refuses_flows()) return Counter::forward_memory;
  if (is_damaged(shard_.config, rx.in, rx.packet, rx.parsed, false)) return Counter::forward_handshake_damaged;
  return std::nullopt;
}

/// Forwards a segment whose connection is not split, and records `reason`, the counter of the reason. Later segments of
/// the connection are then counted there too.
void HandshakeTracker::forward_unsplit(RxPacket& rx, Counter reason) {
  unsplit_.record(rx.key(), rx.tag, reason, rx.now);
  forwarder_.forward(rx, reason);
}

/// Forwards a segment that is no first SYN, of a connection without state. Counts it under the reason why its
/// connection is not split, if that was recorded during the handshake. Otherwise counts it as a segment of a connection
/// that is older than the proxy.
void HandshakeTracker::forward_unknown(RxPacket& rx) {
  const std::optional<Counter> reason = unsplit_.find(rx.key(), rx.tag, rx.now);
  forwarder_.forward(rx, reason.value_or(Counter::forward_mid_flow));
}

void HandshakeTracker::on_untracked(RxPacket& rx) {
  const bool first_syn = rx.segment().flags.syn() && !rx.segment().flags.ack();
  if (!first_syn && on_answer_to_syn(rx)) return;
  // Without any policy that intercepts, this is the way of every segment except SYNs.
  if (!first_syn && shard_.registry.policies().current().only_bypass())
    return forwarder_.forward(rx, Counter::forward_bypass_mode);
  if (const auto reason = reason_not_to_note(rx)) {
    if (*reason == Counter::forward_mid_flow) return forward_unknown(rx);
    // A decision by address applies to each segment anyway, and the contents of a damaged segment are unreliable.
    const bool lasting = *reason != Counter::forward_not_ue && *reason != Counter::forward_handshake_damaged;
    if (first_syn && lasting) return forward_unsplit(rx, *reason);
    return forwarder_.forward(rx, *reason);
  }
  const Policies& policies = shard_.registry.policies().current();
  if (policies.settings(policies.choose(view_of(rx))).mode == Mode::bypass) {
    return forward_unsplit(rx, Counter::forward_bypass_mode);
  }
  record(first_syn_of(rx, shard_.config));
  if (rx.in == Side::radio && shard_.registry.policies().prioritizes_short_flows()) expect(rx);
  forwarder_.forward(rx, Counter::forward_handshake);
}

/// Starts the priority of short flows over downloads for the UE, because the SYN-ACK will pass the UE's radio queue.
/// Only a SYN of a UE starts the priority: a SYN of a server does not show that a user waits.
void HandshakeTracker::expect(const RxPacket& rx) {
  const BearerId id = shard_.registry.find_bearer(rx.parsed.src);
  if (id != flow::no_flow) shard_.registry.bearer(id).expect_short_flow(rx.now);
}

/// Records the SYN of a connection without state. If another SYN of the connection is stored already, this one is
/// stored in a separate cache. A forged SYN therefore cannot displace the genuine one.
void HandshakeTracker::record(const FirstSyn& first) {
  const SynCache::Result noted = first_syns_.record(first);
  if (noted == SynCache::Result::rejected) conflicting_syns_.record(first);
  if (noted == SynCache::Result::evicted_oldest) shard_.counters.add(Counter::handshakes_displaced);
}

/// Processes a segment that may be the answer to a SYN in a cache: a SYN-ACK, a RST, or a segment that prevents the
/// split. Returns true if it was such an answer and was forwarded.
bool HandshakeTracker::on_answer_to_syn(RxPacket& rx) {
  if (first_syns_.empty() && conflicting_syns_.empty()) return false;
  const flow::FlowKey key = rx.key();
  for (SynCache* const syns : {&first_syns_, &conflicting_syns_}) {
    const FirstSyn* const noted = syns->find(key, rx.tag);
    if (noted == nullptr) continue;
    const bool shown = noted->unfinished && noted->from == rx.in;
    if (is_damaged(shard_.config, rx.in, rx.packet, rx.parsed, shown)) {
      forwarder_.forward(rx, Counter::forward_handshake_damaged);
      return true;
    }
    const AnswerToSyn answer = judge(*noted, rx.in, rx.segment());
    if (answer == AnswerToSyn::none) continue;
    const FirstSyn first = *noted;
    syns->forget(*noted);
    if (rx.now - first.at >= shard_.config.timeouts.handshake) continue;
    if (answer == AnswerToSyn::accepts) {
      begin_answered(rx, first);
    } else {
      if (answer != AnswerToSyn::refuses) {
        forward_unsplit(rx, counter_of(answer));
        return true;
      }
      shard_.counters.add(Counter::flows_refused);
      forwarder_.forward(rx, counter_of(answer));
    }
    return true;
  }
  return false;
}

/// Creates the connection after its SYN-ACK, because both hosts have now agreed to connect. `first` is the SYN that the
/// SYN-ACK answers. If the connection must not be split or controlled, records the reason instead. Forwards the SYN-ACK
/// in each case.
void HandshakeTracker::begin_answered(RxPacket& rx, const FirstSyn& first) {
  const flow::FlowKey& key = first.key;
  const Policies& policies = shard_.registry.policies().current();
  const PolicyIndex policy = policies.choose({key.ue, key.server, key.server_port, first.dscp});
  const PolicySettings& settings = policies.settings(policy);
  if (const auto reason = reason_not_to_begin(settings)) return forward_unsplit(rx, *reason);
  // The SYN-ACK answers one of several SYNs with other options, so it is not known which options the hosts use.
  if ((first.unclear_options & rx.segment().syn.offered()) != 0) {
    return forward_unsplit(rx, Counter::forward_handshake_unclear);
  }
  if (first.ecn_unclear && rx.segment().syn.accurate_ecn && !settings.regulates()) {
    return forward_unsplit(rx, Counter::forward_accurate_ecn);
  }
  // The proxy would send segments that are larger than such a host announces.
  if (std::min(first.options.mss, rx.segment().syn.mss) < tcp::Endpoint::smallest_mss) {
    return forward_unsplit(rx, Counter::forward_small_mss);
  }
  unsplit_.forget(key, rx.tag);
  if (settings.regulates()) {
    const EndToEndId id = end_to_end_.open(first, policy, rx.now);
    if (id != EndToEndFlows::none) return forwarder_.pass_end_to_end(rx, id);
  } else {
    const FlowId id = begin(first, policy, rx.now);
    if (id != no_id) return follow(rx, id);
  }
  forward_unsplit(rx, Counter::forward_flow_limit);
}

/// Returns the reason why the connection must not be created, or nothing if it may be created. The SYN was checked
/// already, but conditions may have changed since.
std::optional<Counter> HandshakeTracker::reason_not_to_begin(const PolicySettings& settings) const {
  if (settings.mode == Mode::bypass) return Counter::forward_bypass_mode;
  if (draining_) return Counter::forward_draining;
  if (flows_.buffer_quota().refuses_flows()) return Counter::forward_memory;
  return std::nullopt;
}

/// Creates the flow of a connection to be split, whose first SYN is `first`. Returns no_id if a limit is reached.
FlowId HandshakeTracker::begin(const FirstSyn& first, PolicyIndex policy, Instant now) {
  const FlowId id = open(first, policy, now);
  if (id == no_id) return no_id;
  Flow& flow = shard_.registry.flow(id);
  handshake::begin(flow, first);
  shard_.registry.timers().schedule(flow, id, now + shard_.config.timeouts.handshake);
  short_flow::begin(flow, shard_.registry.bearer(flow.bearer), now);
  shard_.counters.add(Counter::flows_opened);
  return id;
}

bool HandshakeTracker::on_conflicting_syn(RxPacket& rx) {
  if (!rx.segment().flags.ack()) {
    if (!reason_not_to_note(rx)) conflicting_syns_.record(first_syn_of(rx, shard_.config));
    return false;
  }
  FirstSyn first;
  const flow::FlowKey key = rx.key();
  if (is_damaged(shard_.config, rx.in, rx.packet, rx.parsed, false) ||
      !conflicting_syns_.take_answered(key, rx.in, rx.segment(), first, rx.now)) {
    return false;
  }
  forget(key, rx.now);
  begin_answered(rx, first);
  return true;
}

bool HandshakeTracker::leave_to_hosts(RxPacket& rx, Counter reason) {
  if (is_damaged(shard_.config, rx.in, rx.packet, rx.parsed, false)) return false;
  forget(rx.key(), rx.now);
  forward_unsplit(rx, reason);
  return true;
}

/// Discards all state of a connection: its flow, its end-to-end connection, or its entry in the table of connections
/// that were handed back to their hosts.
void HandshakeTracker::forget(const flow::FlowKey& key, Instant now) {
  const ConnectionId id = shard_.registry.connections().find(key);
  if (shard_.registry.connections().is_flow(id)) {
    flows_.close(id, now);
  } else if (shard_.registry.connections().is_end_to_end(id)) {
    end_to_end_.close(shard_.registry.connections().end_to_end(id), now);
  }
  Released& released = flows_.handback().released();
  if (const std::uint32_t found = released.find(key); found != Released::none) released.forget(found);
}

/// Allocates a flow for a handshake. If needed, displaces connections in TIME-WAIT and the oldest handshakes. Returns
/// no_id if no place becomes free.
FlowId HandshakeTracker::open(const FirstSyn& first, PolicyIndex policy, Instant now) {
  const auto open_one = [&] {
    if (!shard_.registry.has_space()) flows_.make_room(now);
    return shard_.registry.open(first.key, first.tag, policy, now);
  };
  const EvictionQueue::Entry begun =
      half_open_.begin(open_one, [&](const EvictionQueue::Entry& oldest) { displace(oldest, now); });
  if (begun.id != no_id) shard_.registry.flow(begun.id).handshake.ticket = begun.ticket;
  return begun.id;
}

void HandshakeTracker::displace(const EvictionQueue::Entry& oldest, Instant now) {
  if (oldest.id == no_id || !shard_.registry.flows().contains(oldest.id)) return;
  const Flow& flow = shard_.registry.flow(oldest.id);
  if (flow.terminated() || flow.handshake.ticket != oldest.ticket) return;
  shard_.counters.add(Counter::handshakes_displaced);
  flows_.close(oldest.id, now);
}

void HandshakeTracker::on_handshake_segment(RxPacket& rx, FlowId id) {
  const Flow& flow = shard_.registry.flow(id);
  if (flow.release_reason != ReleaseReason::none) {
    return forward_unknown(rx);
  }
  if (is_damaged(shard_.config, rx.in, rx.packet, rx.parsed, flow.handshake.leaves_unfinished(rx.in))) {
    forwarder_.forward(rx, Counter::forward_handshake_damaged);
    return;
  }
  follow(rx, id);
}

/// Updates the handshake of a flow with this segment, and splits the connection after the last ACK of the handshake.
/// Forwards the segment, unless the split flow processes it. Requires that the segment's checksum is correct.
void HandshakeTracker::follow(RxPacket& rx, FlowId id) {
  Flow& flow = shard_.registry.flow(id);
  const bool splittable = rx.result == packet::ParseResult::tcp;
  const bool unanswered = flow.phase == FlowPhase::syn;
  const handshake::Step step = handshake::follow(flow, rx.in, rx.segment(), splittable, rx.now);
  record_checksum(rx, flow, step, unanswered, shard_.config);
  switch (step) {
    case handshake::Step::unrelated:
      if (rx.segment().flags.syn() && on_conflicting_syn(rx)) return;
      break;
    case handshake::Step::continues:
      flow.last_activity = rx.now;
      break;
    case handshake::Step::answered:
      flow.last_activity = rx.now;
      flow.leg(flow.initiator).headers = packet::learn(rx.packet, rx.parsed);
      break;
    case handshake::Step::complete:
      flow.last_activity = rx.now;
      flow.leg(opposite(rx.in)).headers = packet::learn(rx.packet, rx.parsed);
      if (shard_.registry.bearer(flow.bearer).settings().splits()) {
        split(rx, id);
      } else {
        leave_end_to_end(rx, id);
      }
      return;
    case handshake::Step::refused:
      shard_.counters.add(Counter::flows_refused);
      flows_.request_release(flow, id, ReleaseReason::never_split);
      forwarder_.forward(rx, Counter::forward_reset_handshake);
      return;
    case handshake::Step::give_up:
    case handshake::Step::give_up_ecn:
      flows_.request_release(flow, id, ReleaseReason::never_split);
      forward_unsplit(rx, reason_to_give_up(rx, flow, step));
      return;
  }
  forwarder_.forward(rx, Counter::forward_handshake);
}

/// Splits the connection, because this segment is the last ACK of its handshake. Forwards the ACK, perhaps with a
/// smaller window. If the segment carries data or a FIN, the split flow relays it instead.
void HandshakeTracker::split(RxPacket& rx, FlowId id) {
  Flow& flow = shard_.registry.flow(id);
  tcp::Segment ack = rx.segment();
  const bool clamped = clamp_window(ack, flow, rx.in);
  handshake::split_at_handshake(flow, ack, flows_.endpoint_configs(flow, id), rx.now);
  flows_.begin(flow, id, rx.now);
  shard_.counters.add(Counter::flows_split);
  const bool bare = ack.payload_len == 0 && !ack.flags.fin();
  flows_.schedule(flow, id, StreamEvents::all);
  if (bare && !clamped) {
    forwarder_.forward(rx, Counter::forward_handshake);
    return;
  }
  // The responder still waits for the last ACK of the handshake.
  if (bare) {
    Bearer& bearer = shard_.registry.bearer(flow.bearer);
    LegOutput(flow, opposite(rx.in), bearer.counts() ? &bearer : nullptr, shard_).transmit(ack, nullptr, rx.now);
  }
  flows_.receive(rx, id);
}

/// Tracks the connection end to end after its handshake. Called because the policies have changed since the SYN and no
/// longer require a split.
void HandshakeTracker::leave_end_to_end(RxPacket& rx, FlowId id) {
  Flow& flow = shard_.registry.flow(id);
  const EndToEndId successor =
      end_to_end_.adopt(handshake::known(shard_.registry.key_of(id), flow), Bytes::max(), rx.now);
  flow.successor = successor;
  flows_.close(id, rx.now);
  if (successor == EndToEndFlows::none) {
    forward_unsplit(rx, Counter::forward_flow_limit);
  } else {
    forwarder_.pass_end_to_end(rx, successor);
  }
}

/// Limits the window in the last ACK of the handshake to the bytes that the proxy may hold, because an advertised
/// window cannot be withdrawn. Returns true if this has changed the window.
bool HandshakeTracker::clamp_window(tcp::Segment& ack, const Flow& flow, Side initiator) const {
  const Handshake& seen = flow.handshake;
  const bool scaling = seen.initiator_options.has_window_scale && seen.responder_options.has_window_scale;
  const unsigned shift = scaling ? seen.initiator_options.window_scale : 0U;
  const std::int64_t most = flows_.first_window(flow, opposite(initiator)).count() >> shift;
  if (ack.window <= most) return false;
  ack.window = static_cast<std::uint16_t>(most);
  return true;
}

}  // namespace sluice::proxy
