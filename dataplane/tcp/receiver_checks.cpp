// Checks of an arriving segment that need only the state of the receiving half: sequence number, timestamp, keep-alives
// (RFC 9293 section 3.10.7.4, RFC 7323 section 5.3, RFC 5961). Called by segment_arrival.cpp on the slow path. A
// segment that fails a check changes nothing but counters and pending ACKs.

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {
namespace {

constexpr std::chrono::hours timestamp_age_limit{24 * 24};  ///< age at which TS.Recent expires (RFC 7323 section 5.5)

}  // namespace

/// First check of RFC 9293 section 3.10.7.4: true if the segment is acceptable. A segment exactly at the right edge is
/// acceptable, because its ACK must be processed when the peer has filled the receive window. Data beyond the edge is
/// cut off later. `idle` is true if nothing is in flight and no data waits to be sent.
bool Receiver::check_sequence(const Segment& segment, bool idle, Instant now) {
  const SeqNum end = segment.seq + segment.length();
  const bool begins_inside = segment.seq <= later(rcv_.adv, rcv_.nxt);
  const bool brings_new = segment.length() == 0 ? segment.seq >= rcv_.nxt : end > rcv_.nxt;
  if (begins_inside && brings_new) return true;
  if (is_keepalive(segment, idle)) {
    bits_.keepalive_pending = true;
    return false;
  }
  if (segment.length() == 0) {
    challenge(now);  // a keep-alive or a window probe; rate-limited, because two desynchronised peers would answer each
                     // other for ever
    return false;
  }
  count(discarded_);
  if (!begins_inside) {
    bits_.ack_now = true;
    return false;
  }
  if (segment.payload_len != 0) report_duplicate(segment.seq, earlier(segment.seq + segment.payload_len, rcv_.nxt));
  if (state() == State::time_wait && segment.flags.fin() && end == rcv_.nxt) enter_time_wait(now);
  bits_.ack_now = true;
  return false;
}

/// True for a keep-alive or window probe that the endpoint's owner must answer. The sequence number of a keep-alive is
/// RCV.NXT - 1, with at most one byte, while nothing is in flight in either direction. While something is in flight,
/// such a segment may instead be a retransmission after a lost ACK. `idle` is true if this endpoint has nothing in
/// flight and nothing to send.
bool Receiver::is_keepalive(const Segment& segment, bool idle) const {
  if (segment.seq + 1 != rcv_.nxt || segment.payload_len > 1 || segment.flags.fin()) return false;
  if (probes_window()) return true;
  return owner_answers() && idle && rcv_.unread == 0 && !reassembling();
}

/// True if the endpoint's owner answers keep-alives and window probes, all data is acknowledged, and the state is
/// ESTABLISHED, CLOSE-WAIT or FIN-WAIT-2.
bool Receiver::owner_answers() const {
  const bool open = state() == State::established || state() == State::close_wait || state() == State::fin_wait_2;
  return !config().answers_keepalives && open && rcv_.last_ack_sent >= rcv_.nxt;
}

/// True if a segment at RCV.NXT probes a window that the peer sees as closed. The endpoint's owner must answer the
/// probe, because the host behind the proxy determines whether that window is open.
bool Receiver::probes_window() const {
  return owner_answers() && rcv_.adv - rcv_.nxt < 1 << bits_.rcv_shift;
}

/// Protects against wrapped sequence numbers (PAWS, RFC 7323 section 5.3). Returns false if the segment's timestamp is
/// older than TS.Recent, so that the segment must be discarded.
bool Receiver::check_timestamp(const Segment& segment, Instant now) {
  if (!uses_timestamps() || !segment.has_timestamps || !has_old_timestamp(segment)) return true;
  if (static_cast<std::uint16_t>(tick::s137(now) - ts_recent_at_) > tick::s137(timestamp_age_limit)) return true;
  count(discarded_);
  if (segment.length() != 0) {
    bits_.ack_now = true;
  } else {
    challenge(now);
  }
  return false;
}

void Receiver::challenge(Instant now) {
  const std::uint16_t tick = tick::ms8(now);
  if (static_cast<std::uint16_t>(tick - last_challenge_) < challenge_spacing) return;
  last_challenge_ = tick;
  bits_.ack_now = true;
}

}  // namespace sluice::tcp
