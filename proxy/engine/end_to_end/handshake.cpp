// Tracks the TCP handshake of a connection that is to be split (RFC 9293 section 3.5), and establishes both endpoints
// when it is complete. HandshakeTracker calls follow() for each segment. Invariant: only segments with exact numbers
// advance the handshake, because anybody can forge a SYN (RFC 5961).
#include "proxy/engine/end_to_end/handshake.hpp"

#include <algorithm>

#include "dataplane/tcp/accurate_ecn.hpp"
#include "dataplane/tcp/tick.hpp"

namespace sluice::proxy::handshake {
namespace {

constexpr unsigned ecn_bits = 2;  ///< number of ECN bits in the type-of-service field, below the DSCP

/// True if this SYN-ACK leaves open whether both hosts use accurate ECN (RFC 9768), although the SYN offers it. Either
/// the SYN-ACK has a reserved combination of flags, or it differs in its offer from an earlier copy. In the second case
/// it is unknown which copy the initiator has received.
bool leaves_ecn_unclear(const Flow& flow, const tcp::Segment& syn_ack) {
  const Handshake& seen = flow.handshake;
  if (!seen.initiator_options.accurate_ecn) return false;
  const bool again = flow.phase == FlowPhase::syn_ack && syn_ack.seq == seen.responder_isn;
  if (again && seen.responder_options.accurate_ecn != syn_ack.syn.accurate_ecn) return true;
  return syn_ack.syn.accurate_ecn && tcp::has_reserved_ace(syn_ack.flags);
}

/// Tracks a segment that the responder of a handshake (the host that receives the SYN) has sent. `splittable` is true
/// if the proxy supports all options of the segment. Returns what the segment means for the handshake.
Step follow_responder(Flow& flow, const tcp::Segment& segment, bool splittable, Instant now) {
  const tcp::SeqNum expected_ack = flow.handshake.initiator_isn + 1;
  if (segment.flags.rst()) return segment.flags.ack() && segment.ack == expected_ack ? Step::refused : Step::unrelated;
  // Data from the responder shows that the handshake was completed by unseen segments.
  if (!segment.flags.syn() && segment.payload_len != 0) {
    return is_plausible(flow, opposite(flow.initiator), segment) ? Step::give_up : Step::unrelated;
  }
  // A SYN without ACK may be a simultaneous open, which is detected when the initiator answers it.
  if (!segment.flags.syn() || !segment.flags.ack() || segment.ack != expected_ack) return Step::unrelated;
  if (!splittable || segment.payload_len != 0 || segment.syn.mss < tcp::Endpoint::smallest_mss) return Step::give_up;
  if (leaves_ecn_unclear(flow, segment)) return Step::give_up_ecn;
  // A SYN-ACK that is repeated with other options leaves open which of them the initiator uses.
  const bool again = flow.phase == FlowPhase::syn_ack && segment.seq == flow.handshake.responder_isn;
  const std::uint8_t changed = again ? flow.handshake.responder_options.difference(segment.syn) : std::uint8_t{0};
  if ((changed & flow.handshake.initiator_options.offered()) != 0) return Step::give_up;
  // A second SYN-ACK with another number is from a server that has restarted, so the newest one counts.
  if (flow.phase == FlowPhase::syn_ack) flow.handshake.retransmitted = true;
  flow.handshake.responder_rtt = tcp::tick::us(now) - flow.handshake.newest.last_rx;
  flow.handshake.newest.last_rx = tcp::tick::us(now);
  // The initiator may have received an earlier copy with a smaller MSS.
  const std::uint16_t mss = again ? std::min(flow.handshake.responder_options.mss, segment.syn.mss) : segment.syn.mss;
  flow.handshake.responder_isn = segment.seq;
  flow.handshake.responder_options = segment.syn;
  flow.handshake.responder_options.mss = mss;
  flow.handshake.responder_window = segment.window;
  flow.handshake.newest.responder_ts = segment.ts_value;
  flow.handshake.syn_ack_ecn = segment.ecn & 3U;
  flow.handshake.syn_ecn_reported =
      tcp::AccurateEcn::reported_field(tcp::ace_of(segment.flags), flow.handshake.syn_ecn) & 3U;
  flow.phase = FlowPhase::syn_ack;
  return Step::answered;
}

/// Tracks a segment that the initiator of a handshake (the host that sends the SYN) has sent. `splittable` is true if
/// the proxy supports all options of the segment. Returns what the segment means for the handshake.
Step follow_initiator(Flow& flow, const tcp::Segment& segment, bool splittable, Instant now) {
  const tcp::SeqNum next = flow.handshake.initiator_isn + 1;
  if (segment.flags.rst()) return segment.seq == next ? Step::refused : Step::unrelated;
  if (segment.flags.syn()) {
    if (segment.seq != flow.handshake.initiator_isn) return Step::unrelated;
    // A SYN with an ACK answers a SYN that has crossed it: a simultaneous open.
    if (segment.flags.ack() || !splittable || segment.payload_len != 0) return Step::give_up;
    if (segment.syn.mss < tcp::Endpoint::smallest_mss) return Step::give_up;
    flow.handshake.retransmitted = true;
    // The responder may have received either copy.
    std::uint16_t& mss = flow.handshake.initiator_options.mss;
    mss = std::min(mss, segment.syn.mss);
    // The feedback mode stays, but a server that has received a SYN without the offer may not send ECN-capable packets
    // (RFC 9768 section 3.1.5). The proxy would send some in its name.
    const bool differs = segment.syn.accurate_ecn != flow.handshake.initiator_options.accurate_ecn;
    return differs && flow.handshake.responder_options.accurate_ecn ? Step::give_up_ecn : Step::continues;
  }
  // Any other number than the first of each side shows unseen segments, so the hosts' state is unknown.
  const bool completes = flow.phase == FlowPhase::syn_ack && segment.flags.ack() && segment.seq == next &&
                         segment.ack == flow.handshake.responder_isn + 1;
  if (!completes) return is_plausible(flow, flow.initiator, segment) ? Step::give_up : Step::unrelated;
  // Each segment must have a timestamp if both hosts agreed on it (RFC 7323 section 3.2). Without one here the proxy
  // does not know the initiator's clock, so that it would take all of its later segments for old ones.
  if (flow.handshake.agrees_on_timestamps() && !segment.has_timestamps) return Step::give_up;
  flow.handshake.initiator_rtt = tcp::tick::us(now) - flow.handshake.newest.last_rx;
  return Step::complete;
}

/// Converts a measured round-trip time from tick::us (about 1 µs) to a Duration. Zero stands for "unknown" in both.
Duration measured(std::uint32_t ticks) {
  return ticks == 0 ? Duration::zero() : tcp::tick::us_duration(ticks);
}

/// Initialises the counts of CE packets in both TCP endpoints of a split connection with accurate ECN (RFC 9768
/// sections 3.2.1 and 3.2.2). The RFC starts both counts at five. The initiator has also counted the SYN-ACK if that
/// arrived with CE, and reports this in `ack`. Without payload, `ack` reports the ECN field of the SYN-ACK; with
/// payload, it reports the count.
void adopt_feedback(Flow& flow, const tcp::Segment& ack) {
  const Handshake& seen = flow.handshake;
  tcp::AccurateEcn* const of_initiator = flow.leg(flow.initiator).endpoint.accurate_ecn();
  tcp::AccurateEcn* const of_responder = flow.leg(opposite(flow.initiator)).endpoint.accurate_ecn();
  if (of_initiator == nullptr || of_responder == nullptr) return;
  constexpr std::uint8_t with_mark = tcp::AccurateEcn::first_count + 1;
  const std::uint8_t ace = tcp::ace_of(ack.flags);
  const std::uint8_t count = ace == with_mark ? with_mark : tcp::AccurateEcn::first_count;
  const std::uint8_t sent = seen.syn_ack_ecn;
  const std::uint8_t reported = ack.payload_len == 0 ? tcp::AccurateEcn::reported_field(ace, sent) : sent;
  of_initiator->adopt({.acknowledged = count, .sent_ecn = sent, .reported_ecn = reported, .zeroed = ace == 0});
  of_responder->adopt({.received = count, .sent_ecn = seen.syn_ecn, .reported_ecn = seen.syn_ecn_reported});
}

}  // namespace

void begin(Flow& flow, const FirstSyn& syn) {
  flow.initiator = syn.from;
  flow.phase = FlowPhase::syn;
  flow.handshake.newest.last_rx = tcp::tick::us(syn.at);
  flow.handshake.initiator_isn = syn.isn;
  flow.handshake.initiator_options = syn.options;
  flow.handshake.retransmitted = syn.retransmitted;
  // Some copy of the SYN may have offered it.
  if (syn.ecn_unclear) flow.handshake.initiator_options.accurate_ecn = true;
  flow.handshake.syn_ecn = syn.ecn & 3U;
  flow.handshake.unfinished = syn.unfinished ? bit(syn.from) : std::uint8_t{0};
  flow.leg(opposite(syn.from)).headers = syn.headers;
}

Step follow(Flow& flow, Side from, const tcp::Segment& segment, bool splittable, Instant now) {
  return from == flow.initiator ? follow_initiator(flow, segment, splittable, now)
                                : follow_responder(flow, segment, splittable, now);
}

bool is_plausible(const Flow& flow, Side from, const tcp::Segment& segment) {
  const Handshake& seen = flow.handshake;
  const bool answered = flow.phase == FlowPhase::syn_ack;
  if (from != flow.initiator) {
    const bool begins = !answered || segment.flags.syn() || is_soon_after(segment.seq, seen.responder_isn);
    return begins && segment.flags.ack() && is_soon_after(segment.ack, seen.initiator_isn);
  }
  if (segment.flags.syn() || !is_soon_after(segment.seq, seen.initiator_isn)) return false;
  return !answered || (segment.flags.ack() && is_soon_after(segment.ack, seen.responder_isn));
}

KnownConnection known(const flow::FlowKey& key, const Flow& flow) {
  const Handshake& seen = flow.handshake;
  const Side initiator = flow.initiator;
  const Side responder = opposite(initiator);
  const auto record = [](tcp::SeqNum isn, std::uint16_t window, const tcp::SynOptions& options) {
    return SynNote{isn, window, options};
  };
  constexpr std::uint16_t widest = UINT16_MAX;  // assumed for the first SYN, whose window is not stored
  KnownConnection known;
  known.key = key;
  known.bearer = flow.bearer;
  known.initiator = initiator;
  known.dscp = static_cast<std::uint8_t>(flow.leg(responder).headers.tos >> ecn_bits);
  known.unfinished = seen.unfinished;
  known.syn_of(initiator) = record(seen.initiator_isn, widest, seen.initiator_options);
  known.syn_of(responder) = record(seen.responder_isn, seen.responder_window, seen.responder_options);
  for (const Side receiver : {Side::radio, Side::core}) {
    const auto at = static_cast<std::size_t>(receiver);
    known.next.at(at) = known.syn_of(opposite(receiver)).isn + 1;
    known.edge.at(at) = known.next.at(at) + known.syn_of(receiver).window;
  }
  if (!seen.retransmitted) known.round_trip = tcp::tick::us_duration(seen.initiator_rtt + seen.responder_rtt);
  return known;
}

void split_at_handshake(Flow& flow, const tcp::Segment& ack, const LegConfigs& configs, Instant now) {
  const Handshake& seen = flow.handshake;
  const tcp::SeqNum initiator_next = seen.initiator_isn + 1;
  const tcp::SeqNum responder_next = seen.responder_isn + 1;
  const std::uint32_t initiator_window = std::uint32_t{ack.window}
                                         << seen.initiator_options.window_shift(seen.responder_options);
  // The window of a SYN-ACK is never scaled (RFC 7323 section 2.2).
  const std::uint32_t responder_window = seen.responder_window;

  tcp::EstablishedState to_initiator;  // this leg represents the responder
  to_initiator.snd_nxt = responder_next;
  to_initiator.rcv_nxt = initiator_next;
  to_initiator.rcv_adv = initiator_next + responder_window;
  to_initiator.local = seen.responder_options;
  to_initiator.remote = seen.initiator_options;
  to_initiator.snd_window = initiator_window;
  to_initiator.ts_recent = ack.ts_value;

  tcp::EstablishedState to_responder;  // this leg represents the initiator
  to_responder.snd_nxt = initiator_next;
  to_responder.rcv_nxt = responder_next;
  to_responder.rcv_adv = responder_next + initiator_window;
  to_responder.local = seen.initiator_options;
  to_responder.remote = seen.responder_options;
  to_responder.snd_window = responder_window;
  // The initiator's echo may be missing or wrong, and no host checks it.
  to_responder.ts_recent = seen.newest.responder_ts;

  if (!seen.retransmitted) {
    to_initiator.rtt = measured(seen.initiator_rtt);
    to_responder.rtt = measured(seen.responder_rtt);
  }

  split(flow, {to_initiator, to_responder}, configs, now);
  adopt_feedback(flow, ack);
}

void split(Flow& flow, const SplitPoint& legs, const LegConfigs& configs, Instant now) {
  const auto open = [&](Side side, tcp::EstablishedState state) {
    Leg& leg = flow.leg(side);
    const auto at = static_cast<std::size_t>(side);
    state.port_mss = configs.ports[at].mss(leg.headers);
    leg.endpoint.establish_at(*configs.tcp[at], state, now);
  };
  open(flow.initiator, legs.to_initiator);
  open(opposite(flow.initiator), legs.to_responder);
  for (const Side side : {Side::radio, Side::core}) {
    flow.leg(side).endpoint.set_timestamp(flow.leg(opposite(side)).endpoint.newest_ts_value());
  }
  flow.phase = FlowPhase::split;
}

}  // namespace sluice::proxy::handshake
