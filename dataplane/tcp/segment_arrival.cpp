// Processing of an arriving segment: RFC 9293 section 3.10.7 with RFC 5961 (blind attacks) and RFC 7323 (timestamps).
// Called by the relay of the proxy and the hosts of the emulator for every segment of a connection. On the fast path
// the common segments are handled completely; every other segment passes all checks in the order of the RFC. A segment
// that fails a check changes nothing but counters and pending ACKs.

#include <algorithm>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {
namespace {

constexpr std::chrono::hours timestamp_age_limit{24 * 24};  ///< age at which TS.Recent expires (RFC 7323 section 5.5)
constexpr std::uint8_t ignored_flags = Flags::psh_bit;
/// Minimum distance below RCV.NXT, in bytes, at which a retransmission is still plausible because its sender may have
/// missed acknowledgements.
constexpr std::uint32_t min_repeated = 1U << 20;

}  // namespace

/// True if the fast path can process the segment: it carries the next data in order, or acknowledges new data, on a
/// connection where update_fast_path() found the fast paths applicable.
inline bool Endpoint::is_expected(const Segment& segment) const {
  if (!bits_.on_fast_path) return false;
  if ((segment.flags.bits & ~ignored_flags) != Flags::ack_bit || segment.sack_count != 0) return false;
  if (segment.seq != rcv_.nxt || segment.payload_len > rcv_.adv - rcv_.nxt) return false;
  const std::int32_t acked = segment.ack - snd_.una;
  if (acked < 0 || segment.ack > snd_.nxt) return false;
  if (acked == 0 && segment.payload_len == 0) return false;  // duplicate or window update
  if (bits_.use_ecn && segment.ecn == congestion_experienced) return false;
  if (!bits_.use_timestamps) return true;
  return segment.has_timestamps && static_cast<std::int32_t>(segment.ts_value - rcv_.ts_recent) >= 0;
}

bool Endpoint::receive(const Segment& segment, packet::Packet&& payload, Instant now, AckSample* ack_sample) {
  if (!is_expected(segment)) [[unlikely]]
    return receive_slow(segment, std::move(payload), now, ack_sample);
  if (bits_.use_timestamps) remember_timestamp(segment, now);
  const SeqNum before = snd_.una;
  if (segment.ack != before) acknowledge(segment.ack, now, ack_sample);
  update_window(segment, before);
  if (segment.payload_len == 0) return true;
  append_in_order(std::move(payload));
  schedule_ack(1, now);
  return true;
}

bool Endpoint::receive_pure_ack(const Segment& segment, Instant now, AckSample* ack_sample) {
  if (!is_expected(segment)) return false;
  if (bits_.use_timestamps) remember_timestamp(segment, now);
  const SeqNum before = snd_.una;
  acknowledge(segment.ack, now, ack_sample);
  update_window(segment, before);
  return true;
}

bool Endpoint::takes_next(const Segment& segment) const {
  return segment.ack == snd_.una && segment.payload_len != 0 && segment.window != 0 && is_expected(segment);
}

void Endpoint::receive_run(const Segment& last, std::span<packet::Packet> payloads, Instant now) {
  if (bits_.use_timestamps) remember_timestamp(last, now);
  update_window(last, snd_.una);
  for (packet::Packet& payload : payloads) {
    append_in_order(std::move(payload));
    schedule_ack(1, now);
  }
}

bool Endpoint::is_plausible(const Segment& segment) const {
  if (bits_.state < State::established || segment.flags.syn()) return false;
  if (segment.flags.rst()) return segment.seq == rcv_.nxt;
  if (!segment.flags.ack() || segment.ack < snd_.una || segment.ack > snd_.nxt) return false;
  const bool dated = bits_.use_timestamps && segment.has_timestamps;
  if (dated && static_cast<std::int32_t>(segment.ts_value - rcv_.ts_recent) < 0) return false;
  return segment.seq + std::max(room_, min_repeated) >= rcv_.nxt && segment.seq <= later(rcv_.adv, rcv_.nxt);
}

bool Endpoint::receive_without_payload(const Segment& segment, Instant now, AckSample* ack_sample) {
  return receive_slow(segment, {}, now, ack_sample);
}

/// True if the segment acknowledges everything sent and no recovery, probe or ECN reduction is in progress, so no
/// scoreboard work is needed.
inline bool Endpoint::answers_all(const Segment& segment) const {
  if (segment.ack != snd_.nxt || segment.ack == snd_.una || segment.sack_count != 0) return false;
  if (segment.window == 0 || snd_.wnd == 0 || has_recovery_state() || paced()) return false;
  return bits_.recovery == Recovery::none && bits_.doubt == Doubt::none && !bits_.tail_out && !bits_.trying_larger &&
         !bits_.use_ecn && !bits_.reduced;
}

/// True if answers_all() is true, the segment is the next in order and it passes all checks, hence is plausible. Most
/// connections end with two such segments: the FIN that acknowledges the last data, and the ACK of the other FIN.
inline bool Endpoint::answers_in_order(const Segment& segment) const {
  if (bits_.state < State::established || bits_.reset_due) return false;
  if ((segment.flags.bits & ~(ignored_flags | Flags::fin_bit)) != Flags::ack_bit) return false;
  if (segment.seq != rcv_.nxt || !answers_all(segment)) return false;
  return !bits_.use_timestamps || !segment.has_timestamps ||
         static_cast<std::int32_t>(segment.ts_value - rcv_.ts_recent) >= 0;
}

/// Processes a segment that the fast path does not accept; parameters and result are those of receive().
bool Endpoint::receive_slow(const Segment& segment, packet::Packet&& payload, Instant now, AckSample* ack_sample) {
  const bool orderly = answers_in_order(segment);
  const bool plausible = orderly || is_plausible(segment);
  packet::Packet left = std::move(payload);  // returned to its pool if it is not consumed
  bits_.on_fast_path = false;
  if (orderly ? receive_pure_ack_in_order(segment, now, ack_sample) : check(segment, now, ack_sample)) {
    if (bits_.use_timestamps) remember_timestamp(segment, now);  // only after its acknowledgement was accepted
    if (segment.flags.urg()) take_urgent_pointer(segment);
    if (segment.payload_len != 0 || segment.flags.fin()) accept_data(segment, std::move(left), now);
  }
  update_fast_path();
  return plausible;
}

/// Short form of check() for a segment that fulfils answers_in_order(). Returns false if the connection is closed now.
inline bool Endpoint::receive_pure_ack_in_order(const Segment& segment, Instant now, AckSample* ack_sample) {
  const SeqNum before = snd_.una;
  bits_.peer_responded = false;
  loss_recovery_.duplicate_acks = 0;
  acknowledge(segment.ack, now, ack_sample);
  update_window(segment, before);
  if (bits_.fin_sent && snd_.una > snd_.end) fin_acknowledged(now);
  return bits_.state != State::closed;
}

/// Applies all checks to the segment and processes its ACK. Returns false if the rest of the segment must be ignored.
bool Endpoint::check(const Segment& segment, Instant now, AckSample* ack_sample) {
  if (bits_.state == State::closed || bits_.reset_due) return false;
  if (bits_.state == State::syn_sent) {
    receive_in_syn_sent(segment, now);
    return false;
  }
  if (segment.flags.rst()) {
    receive_reset(segment, now);
    return false;
  }
  if (!check_timestamp(segment, now)) return false;
  if (segment.flags.syn()) {
    receive_late_syn(segment, now);
    return false;
  }
  if (!check_sequence(segment, now)) return false;
  if (bits_.state == State::syn_received && !complete_handshake(segment, now)) return false;
  if (bits_.use_ecn) count_mark(segment);
  return process_ack(segment, now, ack_sample);
}

/// First check of RFC 9293 section 3.10.7.4: true if the segment is acceptable. A segment exactly at the right edge
/// passes, because its acknowledgement must be processed when the peer has filled the window. Its data is cut off
/// later.
bool Endpoint::check_sequence(const Segment& segment, Instant now) {
  const SeqNum end = segment.seq + segment.length();
  const bool begins_inside = segment.seq <= later(rcv_.adv, rcv_.nxt);
  const bool ack_sample = segment.length() == 0 ? segment.seq >= rcv_.nxt : end > rcv_.nxt;
  if (begins_inside && ack_sample) return true;
  if (is_keepalive(segment)) {
    bits_.keepalive_pending = true;
    return false;
  }
  if (segment.length() == 0) {
    challenge(now);  // a keep-alive or a window probe; rate-limited, because two desynchronised peers would answer each
                     // other for ever
    return false;
  }
  count(counters_.discarded);
  if (!begins_inside) {
    bits_.ack_now = true;
    return false;
  }
  if (segment.payload_len != 0) report_duplicate(segment.seq, earlier(segment.seq + segment.payload_len, rcv_.nxt));
  if (bits_.state == State::time_wait && segment.flags.fin() && end == rcv_.nxt) enter_time_wait(now);
  bits_.ack_now = true;
  return false;
}

/// True for a keep-alive or window probe that the owner must answer. A keep-alive lies one below RCV.NXT, with at most
/// one byte, while nothing is in flight in either direction. While something is in flight, the segment may mean that an
/// acknowledgement was lost.
bool Endpoint::is_keepalive(const Segment& segment) const {
  if (segment.seq + 1 != rcv_.nxt || segment.payload_len > 1 || segment.flags.fin()) return false;
  if (probes_window()) return true;
  return owner_answers() && send_.empty() && snd_.una == snd_.nxt && rcv_.unread == 0 && !reassembling();
}

/// True if the owner answers keep-alives and window probes, the state permits them and all data is acknowledged.
bool Endpoint::owner_answers() const {
  const bool open =
      bits_.state == State::established || bits_.state == State::close_wait || bits_.state == State::fin_wait_2;
  return !config_->answers_keepalives && open && rcv_.last_ack_sent == rcv_.nxt;
}

/// True if a segment at RCV.NXT is a probe of a window that the peer sees as closed. The relay cannot decide whether
/// the window has opened meanwhile, because the other host determines it.
bool Endpoint::probes_window() const {
  return owner_answers() && rcv_.adv - rcv_.nxt < 1 << bits_.rcv_shift;
}

/// Protects against wrapped sequence numbers (PAWS, RFC 7323 section 5.3). Returns false if the segment is too old.
bool Endpoint::check_timestamp(const Segment& segment, Instant now) {
  if (!bits_.use_timestamps || !segment.has_timestamps) return true;
  if (static_cast<std::int32_t>(segment.ts_value - rcv_.ts_recent) >= 0) return true;
  if (static_cast<std::uint16_t>(tick::s137(now) - ts_recent_at_) > tick::s137(timestamp_age_limit)) return true;
  count(counters_.discarded);
  if (segment.length() != 0) {
    bits_.ack_now = true;
  } else {
    challenge(now);
  }
  return false;
}

/// Accepts a reset only at exactly RCV.NXT; a reset elsewhere in the window gets a challenge ACK (RFC 5961 section
/// 3.2).
void Endpoint::receive_reset(const Segment& segment, Instant now) {
  if (segment.seq == rcv_.nxt) {
    close(bits_.state == State::time_wait ? CloseReason::finished : CloseReason::reset_by_peer);
    return;
  }
  if (segment.seq > rcv_.nxt && segment.seq < rcv_.adv) challenge(now);
}

/// Handles a SYN after the handshake: a retransmitted SYN or SYN-ACK whose answer was lost, or an attack. The answer is
/// an ACK or SYN-ACK with the current numbers (RFC 5961 section 4.2).
void Endpoint::receive_late_syn(const Segment& segment, Instant now) {
  const bool retransmitted = bits_.state == State::syn_received && segment.seq + 1 == rcv_.nxt;
  if (!retransmitted) {
    challenge(now);
    return;
  }
  if (complete_handshake(segment, now)) {
    bits_.ack_now = true;  // simultaneous open: the peer's SYN-ACK
  } else if (!segment.flags.ack()) {
    bits_.syn_due = true;
  }
}

/// Schedules a challenge ACK, rate-limited as RFC 5961 section 7 requires.
void Endpoint::challenge(Instant now) {
  const std::uint16_t tick = tick::ms8(now);
  if (static_cast<std::uint16_t>(tick - last_challenge_) < challenge_spacing) return;
  last_challenge_ = tick;
  bits_.ack_now = true;
}

}  // namespace sluice::tcp
