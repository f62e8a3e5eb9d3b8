// Handback points of split connections (see handback_point.hpp for the method). Handback starts and advances them,
// HandbackRouter asks judge() for each segment. Invariants: each byte belongs either to the proxy or to the hosts, and
// a right edge never moves left. See RFC 9293 section 3.8.6 and RFC 7323 section 2.4.
#include "proxy/engine/split/handback_point.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/tcp/accurate_ecn.hpp"
#include "proxy/engine/end_to_end/handshake.hpp"
#include "proxy/engine/end_to_end/segment_numbers.hpp"
#include "proxy/engine/relay/relay.hpp"

namespace sluice::proxy::handback {
namespace {

/// True if the endpoint of the leg is closed or is about to send a RST.
bool over(const Leg& leg) {
  return leg.reset_pending || leg.endpoint.state() == tcp::State::closed;
}

/// True if the leg has received a FIN, or is closed.
bool finished_receiving(const Leg& leg) {
  switch (leg.endpoint.state()) {
    case tcp::State::close_wait:
    case tcp::State::closing:
    case tcp::State::last_ack:
    case tcp::State::time_wait:
    case tcp::State::closed:
      return true;
    default:
      return false;
  }
}

/// Returns the maximum number of bytes that a window of the host behind `side` loses by rounding. Hosts round down to
/// the unit of the window field (RFC 7323 section 2.4).
std::uint32_t rounding(const Flow& flow, Side side) {
  return (1U << flow.leg(side).endpoint.snd_shift()) - 1;
}

/// True if no host has got a larger window from the proxy than the other host has advertised. An excess below one unit
/// of the other host's window field is tolerated, because that host has rounded its window down. The window towards a
/// host that has sent its FIN does not matter, because this host sends no more data.
bool windows_hold(const Flow& flow) {
  return std::all_of(both_sides.begin(), both_sides.end(), [&](Side side) {
    const Side other = opposite(side);
    if (finished_receiving(flow.leg(side))) return true;
    return flow.leg(side).endpoint.rcv_adv() <= relay::granted_edge(flow, other) + rounding(flow, other);
  });
}

/// Returns the part of a host's segment that the proxy's own leg must process, as a pure ACK. The ACK covers what
/// `segment` acknowledges, but at most what the leg has sent.
tcp::Segment acknowledgement_of(const tcp::Segment& segment, const tcp::Endpoint& own) {
  constexpr std::uint8_t all_of_ace = 7;
  tcp::Segment ours = segment;
  const unsigned counts = own.uses_accurate_ecn() ? segment.flags.bits & tcp::ace_bits(all_of_ace) : 0U;
  ours.flags.bits = static_cast<std::uint16_t>(tcp::Flags::ack_bit | counts);
  ours.ecn = 0;  // the host to which the segment is forwarded counts its mark
  ours.seq = own.rcv_nxt();
  ours.ack = tcp::earlier(segment.ack, own.snd_nxt());
  ours.payload_len = 0;
  return ours;
}

/// Sets the handback point in the stream from the host behind `side`: the sequence number up to which the proxy still
/// delivers data. From now on the proxy advertises the other host's window to this host, because that host receives all
/// later data itself.
void set_seam(Flow& flow, Side side) {
  tcp::Endpoint& endpoint = flow.leg(side).endpoint;
  flow.set_end_of_sent(side, endpoint.rcv_nxt());
  endpoint.drop_out_of_order();
  const std::int32_t room = relay::granted_edge(flow, opposite(side)) - endpoint.rcv_nxt();
  endpoint.set_receive_room(Bytes(std::max(room, 0)));
  endpoint.send_ack_now();
}

/// Returns the ECN counters of the leg that faces `side` and of the other leg; null if the hosts do not use accurate
/// ECN.
std::pair<tcp::AccurateEcn*, tcp::AccurateEcn*> counters_of(const Flow& flow, Side side) {
  return {flow.leg(side).endpoint.accurate_ecn(), flow.leg(opposite(side)).endpoint.accurate_ecn()};
}

/// Makes each host's own count of ECN marks replace the count that the proxy has reported to the other host in its
/// name. The other host gets the reported count until the host's own count has reached it.
void join_marks(const Flow& flow) {
  for (const Side side : both_sides) {
    const auto [host, other] = counters_of(flow, side);
    if (host != nullptr && other != nullptr) host->join(other->ace());
  }
}

}  // namespace

bool marks_differ(const Flow& flow) {
  return std::any_of(both_sides.begin(), both_sides.end(), [&](Side side) {
    const auto [host, other] = counters_of(flow, side);
    if (host == nullptr || other == nullptr) return false;
    if (flow.phase == FlowPhase::handing_back) return host->joining();
    return host->may_mark() && host->acknowledged() != other->ace();
  });
}

Instant next_question(const Flow& flow) {
  if (!delivered(flow)) return never;  // level_marks() asks nothing before
  Instant due = never;
  for (const Side side : both_sides) {
    const tcp::AccurateEcn* const host = counters_of(flow, side).first;
    if (host != nullptr && !flow.leg(opposite(side)).passed_by) due = std::min(due, host->question_due());
  }
  return due;
}

bool level_marks(Flow& flow, Instant now) {
  if (flow.phase != FlowPhase::handing_back || !marks_differ(flow) || !delivered(flow)) return false;
  bool any = false;
  for (const Side side : both_sides) {
    tcp::AccurateEcn* const host = counters_of(flow, side).first;
    // Data that was forwarded to the host is beyond the leg's numbers, so the host would not count an ACK of the leg.
    if (flow.leg(opposite(side)).passed_by) continue;
    if (now >= host->question_due() && host->ask_again(now, flow.leg(side).endpoint.rto())) {
      flow.leg(side).endpoint.send_keepalive();
      any = true;
    }
    if (!host->owes_mark() || host->awaits_own()) continue;
    if (!flow.leg(side).endpoint.uses_sack()) {  // the ACKs could look like duplicates that report a loss
      host->end_join();
      continue;
    }
    host->request_marked_acks();
    flow.leg(side).endpoint.answer_keepalive();
    any = true;
  }
  return any;
}

bool delivered(const Flow& flow) {
  return std::all_of(both_sides.begin(), both_sides.end(), [&](Side side) {
    const tcp::Endpoint& in = flow.leg(side).endpoint;
    const tcp::Endpoint& out = flow.leg(opposite(side)).endpoint;
    return out.snd_una() == in.rcv_nxt() && out.snd_nxt() == in.rcv_nxt() && out.unsent().count() == 0 &&
           !in.owes_acknowledgement();
  });
}

bool would_break_on_stop(const Flow& flow) {
  if (relay::both_legs_closed(flow)) return false;
  const auto owed = [&](Side side) {
    return relay::is_broken(flow, side) || flow.leg(side).reset_pending || relay::exposed_to(flow, side) != 0;
  };
  return std::any_of(both_sides.begin(), both_sides.end(), owed);
}

HandbackBlocker find_blocker(const Flow& flow) {
  const Leg& radio = flow.leg(Side::radio);
  const Leg& core = flow.leg(Side::core);
  const bool closing = over(radio) || over(core) || (finished_receiving(radio) && finished_receiving(core));
  if (closing) return relay::both_legs_closed(flow) ? HandbackBlocker::none : HandbackBlocker::closing;
  if (flow.phase == FlowPhase::handing_back)
    return !delivered(flow)     ? HandbackBlocker::delivering
           : marks_differ(flow) ? HandbackBlocker::marks
                                : HandbackBlocker::none;
  if (radio.endpoint.reassembling() || core.endpoint.reassembling()) return HandbackBlocker::reordering;
  if (windows_hold(flow)) return HandbackBlocker::none;
  return would_break_on_stop(flow) ? HandbackBlocker::delivering : HandbackBlocker::window;
}

bool at_rest(const Flow& flow) {
  return std::none_of(flow.legs.begin(), flow.legs.end(),
                      [](const Leg& leg) { return over(leg) || leg.endpoint.reassembling(); }) &&
         delivered(flow);
}

void lower_windows(Flow& flow, Bytes from_ue, Bytes from_server) {
  for (const Side side : both_sides) {
    const Bytes most = side == Side::radio ? from_ue : from_server;
    const Bytes granted(relay::granted_edge(flow, opposite(side)) - flow.leg(side).endpoint.rcv_nxt());
    relay::open_window(flow, side, std::min(granted, most - relay::held_towards(flow, opposite(side))));
  }
}

void begin(Flow& flow) {
  flow.phase = FlowPhase::handing_back;
  join_marks(flow);
  set_seam(flow, Side::radio);
  set_seam(flow, Side::core);
}

Bytes max_for_successor(const Flow& flow) {
  constexpr std::int64_t first_segments = 10;  // ten segments, the initial window of RFC 6928
  const tcp::Endpoint& radio = flow.leg(Side::radio).endpoint;
  return std::max(radio.in_flight(), Bytes(radio.effective_mss() * first_segments));
}

void begin_with_successor(Flow& flow) {
  flow.phase = FlowPhase::handing_back;
  join_marks(flow);
  set_seam(flow, Side::radio);
  tcp::Endpoint& server = flow.leg(Side::core).endpoint;
  flow.set_end_of_sent(Side::core, server.rcv_nxt());
  server.drop_out_of_order();
  server.send_ack_now();
}

tcp::SeqNum make_room(Flow& flow, Bytes most) {
  tcp::Endpoint& endpoint = flow.leg(Side::core).endpoint;
  const Bytes granted(relay::granted_edge(flow, Side::radio) - endpoint.rcv_nxt());
  relay::open_window(flow, Side::core, std::min(granted, most - relay::held_towards(flow, Side::radio)));
  const tcp::SeqNum edge = endpoint.rcv_nxt() + static_cast<std::uint32_t>(endpoint.receive_room().count());
  // The server has no other window to send by, so the usual threshold of a window update does not apply.
  if (edge - endpoint.rcv_adv() >= static_cast<std::int32_t>(2 * endpoint.effective_mss())) {
    endpoint.send_ack_now();
  }
  return tcp::later(endpoint.rcv_adv(), edge);
}

KnownConnection known(const flow::FlowKey& key, const Flow& flow) {
  KnownConnection known = handshake::known(key, flow);
  for (const Side receiver : both_sides) {
    const auto at = static_cast<std::size_t>(receiver);
    const tcp::Endpoint& sender = flow.leg(opposite(receiver)).endpoint;
    known.next.at(at) = sender.rcv_nxt();
    const tcp::SeqNum advertised = sender.rcv_adv();
    known.edge.at(at) =
        tcp::later(advertised, sender.rcv_nxt() + static_cast<std::uint32_t>(sender.receive_room().count()));
    if (finished_receiving(flow.leg(receiver))) known.fins |= bit(receiver);
  }
  known.running = true;
  return known;
}

namespace {

/// True if the segment's numbers match those of its host. The segment must lie in the window advertised to the host. It
/// must acknowledge only data that was sent, because the other host discards it otherwise (RFC 5961 section 5.2).
bool is_plausible(const Flow& flow, Side in, const tcp::Segment& segment, tcp::SeqNum advertised) {
  const tcp::Endpoint& own = flow.leg(in).endpoint;
  if (segment.ack + max_behind < own.snd_una()) return false;
  if (segment.ack > tcp::later(flow.end_of_sent(opposite(in)), own.snd_nxt())) return false;
  return segment.seq + max_behind >= own.rcv_nxt() &&
         segment.seq <= tcp::later(advertised, own.rcv_nxt()) + max_beyond_edge;
}

}  // namespace

Verdict judge(const Flow& flow, Side in, const tcp::Segment& segment, tcp::SeqNum advertised) {
  const tcp::Endpoint& own = flow.leg(in).endpoint;
  Verdict verdict;
  verdict.ours = segment;
  if (segment.flags.rst()) {
    // Without data behind the handback point the RST is as exact for the leg as for the host, else the host decides.
    verdict.is_for_proxy = own.accepts_reset_at(segment.seq);
    verdict.forward = !verdict.is_for_proxy;
    if (verdict.forward && segment.seq == own.next_acknowledgement()) {
      // A host that has lost its state answers a retransmission of the proxy with the number that it acknowledged.
      verdict.is_for_proxy = true;
      verdict.ours.seq = own.rcv_nxt();
    }
    return verdict;
  }
  const bool brings = segment.length() != 0;
  if (segment.flags.syn() || !segment.flags.ack() || !is_plausible(flow, in, segment, advertised)) {
    verdict.forward = true;  // the host decides
  } else if (brings && segment.seq + segment.length() <= own.rcv_nxt()) {
    verdict.is_for_proxy = verdict.whole = true;  // the proxy's ACK was lost
  } else {
    const tcp::SeqNum all_of_ours = flow.leg(opposite(in)).endpoint.rcv_nxt();
    verdict.forward = brings || segment.ack >= all_of_ours;
    verdict.is_for_proxy = !brings || segment.ack > own.snd_una();  // a data segment is no duplicate ACK
    verdict.is_valid = true;
    verdict.ours = acknowledgement_of(segment, own);
  }
  return verdict;
}

void record_sent(Flow& flow, Side in, tcp::SeqNum end) {
  flow.set_end_of_sent(in, tcp::later(flow.end_of_sent(in), end));
}

void record_advertised(Flow& flow, Side in, const tcp::Segment& segment) {
  const std::uint32_t window = std::uint32_t{segment.window} << flow.leg(in).endpoint.snd_shift();
  flow.leg(opposite(in)).endpoint.record_advertised(segment.ack + window);
}

void record_acknowledged(Flow& flow, Side in, const tcp::Segment& segment) {
  flow.leg(opposite(in)).endpoint.pass_acknowledgement(segment.ack);
}

}  // namespace sluice::proxy::handback
