// Tracks a connection that passes between its hosts, so that it can be split later. Released, SplitCandidates and
// HandbackRouter use it. Invariant: a split starts only from an idle state, in which each host expects the byte that
// the other one sends next. Plausibility follows RFC 5961, scaling RFC 7323 section 2.2.
#include "proxy/engine/end_to_end/tracked_connection.hpp"

#include <algorithm>

#include "dataplane/tcp/tick.hpp"
#include "proxy/engine/end_to_end/segment_numbers.hpp"

namespace sluice::proxy {

/// Returns the window in bytes that a segment of the host behind `side` advertises, scaled as in RFC 7323 section 2.2.
std::uint32_t TrackedConnection::window_of(Side side, const tcp::Segment& segment) const {
  const tcp::SynOptions& own = options_of(side);
  const bool scaling = own.has_window_scale && options_of(opposite(side)).has_window_scale;
  return std::uint32_t{segment.window} << (scaling ? std::min<unsigned>(own.window_scale, 14) : 0U);
}

bool TrackedConnection::is_in_window(Side in, const tcp::Segment& segment) const {
  const TrackedHost& to = host(opposite(in));
  return segment.seq + max_behind >= to.acked && segment.seq + segment.length() <= to.edge + max_beyond_edge;
}

bool TrackedConnection::is_plausible(Side in, const tcp::Segment& segment) const {
  const TrackedHost& from = host(in);
  const TrackedHost& to = host(opposite(in));
  if (segment.flags.syn()) return false;
  if (segment.flags.rst()) return segment.seq == from.next || segment.seq == to.acked;
  if (!segment.flags.ack()) return false;
  return is_in_window(in, segment) && segment.ack >= from.acked && segment.ack <= from.edge + max_beyond_edge;
}

void TrackedConnection::record_unseen(Side in, const tcp::Segment& segment) {
  if (numbers_unknown) {
    for (TrackedHost& each : hosts) each.seen = false;
    return;
  }
  if (!is_in_window(in, segment)) return;
  TrackedHost& from = host(in);
  from.unseen = tcp::later(from.unseen, segment.seq + options_of(opposite(in)).mss);
  const TrackedHost& to = host(opposite(in));
  const bool announces = segment.flags.ack() && !segment.flags.syn() && segment.ack >= from.acked &&
                         segment.ack <= tcp::later(to.next, to.unseen) + max_beyond_edge;
  if (announces) from.edge = tcp::later(from.edge, segment.ack + window_of(in, segment));
}

TrackedConnection::Tracked TrackedConnection::track(Side in, const tcp::Segment& segment) {
  if (numbers_unknown) return find_position(in, segment);
  if (!is_plausible(in, segment)) return Tracked::nothing;
  if (segment.flags.rst() || segment.flags.fin()) return Tracked::ends_connection;
  record(in, segment);
  return Tracked::more;
}

/// Determines the sequence numbers of both directions from segments. The numbers are known once each host acknowledges
/// exactly what the other host has sent. A forged segment can at worst prevent that, and the connection is then not
/// split. Returns whether the segment belongs to the connection, and whether it ends the connection.
TrackedConnection::Tracked TrackedConnection::find_position(Side in, const tcp::Segment& segment) {
  if (segment.flags.rst() || segment.flags.fin()) return Tracked::ends_connection;
  if (segment.flags.syn() || !segment.flags.ack()) return Tracked::nothing;
  TrackedHost& from = host(in);
  TrackedHost& to = host(opposite(in));
  if (!from.seen && !to.seen) {
    from.next = from.unseen = segment.seq;
    to.next = to.unseen = segment.ack;
  }
  const tcp::SeqNum acked = from.seen ? tcp::later(from.acked, segment.ack) : segment.ack;
  if (!from.seen) from.edge = segment.ack;
  record(in, segment);
  from.acked = acked;
  numbers_unknown = !(from.seen && to.seen && from.next == to.acked && to.next == from.acked);
  return Tracked::more;
}

void TrackedConnection::record(Side in, const tcp::Segment& segment) {
  TrackedHost& from = host(in);
  TrackedHost& to = host(opposite(in));
  const std::uint32_t window = window_of(in, segment);
  from.next = tcp::later(from.next, segment.seq + segment.payload_len);
  from.acked = segment.ack;
  from.window = window;
  from.edge = tcp::later(from.edge, segment.ack + window);
  // acknowledged data was sent, even if it passed on another path
  to.next = tcp::later(to.next, segment.ack);
  to.unseen = tcp::later(to.unseen, segment.ack);  // keeps `unseen` from lying ahead when sequence numbers wrap
  const bool newer = static_cast<std::int32_t>(segment.ts_value - from.ts_value) > 0;
  if (segment.has_timestamps && (newer || !from.timed)) {
    from.ts_value = segment.ts_value;
    from.timed = true;
  }
  from.seen = true;
  constexpr std::uint8_t news = tcp::Flags::urg_bit | tcp::Flags::ece_bit | tcp::Flags::cwr_bit;
  from.unsettled = (segment.flags.bits & news) != 0;
}

bool TrackedConnection::may_be_split(Side in, const tcp::Segment& segment) const {
  const TrackedHost& from = host(in);
  const TrackedHost& to = host(opposite(in));
  if (numbers_unknown || !from.seen || !to.seen || from.unsettled || to.unsettled) return false;
  if (to.acked < from.unseen || from.acked < to.unseen) return false;
  if ((segment.flags.bits & ~tcp::Flags::psh_bit) != tcp::Flags::ack_bit || segment.sack_count != 0) return false;
  if (handshake.initiator_options.accurate_ecn && handshake.responder_options.accurate_ecn) return false;
  const bool timestamps = handshake.initiator_options.timestamps && handshake.responder_options.timestamps;
  if (timestamps != segment.has_timestamps || (timestamps && !(from.timed && to.timed))) return false;
  if (timestamps && static_cast<std::int32_t>(segment.ts_value - from.ts_value) < 0) return false;
  const bool continues = segment.payload_len != 0 && segment.seq == from.next && to.acked == from.next &&
                         segment.ack == to.next && from.acked <= to.next;
  return continues && segment.seq + segment.payload_len <= to.edge;
}

void TrackedConnection::restore(Side in, const tcp::Segment& segment, Flow& flow, const handshake::LegConfigs& configs,
                                Instant now) const {
  const auto leg_to = [&](Side side) {
    const TrackedHost& peer = host(side);
    const TrackedHost& local = host(opposite(side));
    tcp::EstablishedState leg;
    leg.snd_nxt = local.next;
    leg.rcv_nxt = peer.next;
    leg.local = options_of(opposite(side));
    leg.remote = options_of(side);
    leg.snd_window = side == in ? window_of(side, segment) : peer.window;
    leg.rcv_adv = local.edge;
    leg.ts_recent = peer.ts_value;
    leg.rtt = peer.rtt == 0 ? Duration::zero() : tcp::tick::us_duration(peer.rtt);
    return leg;
  };
  flow.handshake = handshake;
  flow.initiator = initiator;
  for (const Side side : {Side::radio, Side::core}) flow.leg(side).headers = headers[static_cast<std::size_t>(side)];
  handshake::split(flow, {leg_to(initiator), leg_to(opposite(initiator))}, configs, now);
}

}  // namespace sluice::proxy
