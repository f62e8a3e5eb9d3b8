// Processing of an arriving segment: RFC 9293 section 3.10.7 with RFC 5961 (blind attacks) and RFC 7323 (timestamps).
// Called by the relay of the proxy and the hosts of the emulator for every segment of a connection. On the fast path
// the common segments are handled completely; every other segment passes all checks in the order of the RFC. A segment
// that fails a check changes nothing but counters and pending ACKs.

#include <algorithm>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {
namespace {

constexpr std::uint8_t ignored_flags = Flags::psh_bit;

}  // namespace

/// True if the fast path can process the segment. The segment carries the next data in order, or acknowledges new data,
/// and update_fast_path() has found that the fast paths apply.
inline bool Endpoint::is_expected(const Segment& segment) const {
  if (!on_fast_path()) return false;
  if ((segment.flags.bits & ~ignored_flags) != Flags::ack_bit || segment.sack_count != 0) return false;
  if (segment.seq != rcv_nxt() || segment.payload_len > rcv_adv() - rcv_nxt()) return false;
  const std::int32_t acked = segment.ack - snd_una();
  if (acked < 0 || segment.ack > snd_nxt()) return false;
  if (acked == 0 && segment.payload_len == 0) return false;  // duplicate or window update
  if (uses_ecn() && segment.ecn == congestion_experienced) return false;
  if (!uses_timestamps()) return true;
  return segment.has_timestamps && !has_old_timestamp(segment);
}

bool Endpoint::receive(const Segment& segment, packet::Packet&& payload, Instant now, AckSample* ack_sample) {
  if (!is_expected(segment)) [[unlikely]]
    return receive_slow(segment, std::move(payload), now, ack_sample);
  if (uses_timestamps()) remember_timestamp(segment, now);
  const SeqNum before = snd_una();
  if (segment.ack != before) acknowledge(segment.ack, now, ack_sample);
  update_window(segment, before);
  if (segment.payload_len == 0) return true;
  append_in_order(std::move(payload));
  schedule_ack(1, now);
  return true;
}

bool Endpoint::receive_pure_ack(const Segment& segment, Instant now, AckSample* ack_sample) {
  if (!is_expected(segment)) return false;
  if (uses_timestamps()) remember_timestamp(segment, now);
  const SeqNum before = snd_una();
  acknowledge(segment.ack, now, ack_sample);
  update_window(segment, before);
  return true;
}

bool Endpoint::is_plain_next_segment(const Segment& segment) const {
  return segment.ack == snd_una() && segment.payload_len != 0 && segment.window != 0 && is_expected(segment);
}

void Endpoint::receive_run(const Segment& last, std::span<packet::Packet> payloads, Instant now) {
  if (uses_timestamps()) remember_timestamp(last, now);
  update_window(last, snd_una());
  for (packet::Packet& payload : payloads) {
    append_in_order(std::move(payload));
    schedule_ack(1, now);
  }
}

bool Endpoint::is_plausible(const Segment& segment) const {
  if (state() < State::established || segment.flags.syn()) return false;
  if (segment.flags.rst()) return accepts_reset_at(segment.seq);
  if (!segment.flags.ack() || segment.ack < snd_una() || segment.ack > snd_nxt()) return false;
  const bool dated = uses_timestamps() && segment.has_timestamps;
  if (dated && has_old_timestamp(segment)) return false;
  return is_near_window(segment.seq);
}

bool Endpoint::receive_without_payload(const Segment& segment, Instant now, AckSample* ack_sample) {
  return receive_slow(segment, {}, now, ack_sample);
}

/// True if the segment acknowledges everything sent (answers_all()), is the next in order and passes all checks. Such a
/// segment is always plausible (is_plausible()). Most connections end with two of them: the FIN that acknowledges the
/// last data, and the ACK of the other FIN.
inline bool Endpoint::answers_in_order(const Segment& segment) const {
  if (state() < State::established || reset_is_due()) return false;
  if ((segment.flags.bits & ~(ignored_flags | Flags::fin_bit)) != Flags::ack_bit) return false;
  if (segment.seq != rcv_nxt() || !answers_all(segment)) return false;
  return !uses_timestamps() || !segment.has_timestamps || !has_old_timestamp(segment);
}

/// Processes a segment that is not the next in order, or for which the fast path does not apply; parameters and result
/// are those of receive().
bool Endpoint::receive_slow(const Segment& segment, packet::Packet&& payload, Instant now, AckSample* ack_sample) {
  const bool orderly = answers_in_order(segment);
  const bool plausible = orderly || is_plausible(segment);
  packet::Packet left = std::move(payload);  // returned to its pool if it is not consumed
  leave_fast_path();
  if (orderly ? receive_pure_ack_in_order(segment, now, ack_sample) : check(segment, now, ack_sample)) {
    if (uses_timestamps()) remember_timestamp(segment, now);  // only after its acknowledgement was accepted
    if (segment.flags.urg()) take_urgent_pointer(segment);
    if (segment.payload_len != 0 || segment.flags.fin()) accept_data(segment, std::move(left), now);
  }
  update_fast_path();
  return plausible;
}

/// Short form of check() for a segment for which answers_in_order() is true: processes its ACK. Returns false if the
/// connection is now closed.
inline bool Endpoint::receive_pure_ack_in_order(const Segment& segment, Instant now, AckSample* ack_sample) {
  const SeqNum before = snd_una();
  on_in_order_ack();
  acknowledge(segment.ack, now, ack_sample);
  update_window(segment, before);
  return handle_acknowledged_fin(now);
}

/// Applies all checks to the segment and processes its ACK. Returns false if the rest of the segment must be ignored.
bool Endpoint::check(const Segment& segment, Instant now, AckSample* ack_sample) {
  if (state() == State::closed || reset_is_due()) return false;
  if (state() == State::syn_sent) {
    if (!receive_in_syn_sent(segment, now)) close(CloseReason::refused);
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
  const bool idle = queue().empty() && snd_una() == snd_nxt();
  if (!check_sequence(segment, idle, now)) return false;
  if (state() == State::syn_received && !complete_handshake(segment, now)) return false;
  if (uses_ecn()) count_mark(segment);
  return process_ack(segment, now, ack_sample) && handle_acknowledged_fin(now);
}

/// Accepts a reset only at exactly RCV.NXT, or at the number of the peer's FIN; a reset elsewhere in the receive window
/// gets a challenge ACK (RFC 5961 section 3.2).
void Endpoint::receive_reset(const Segment& segment, Instant now) {
  if (accepts_reset_at(segment.seq)) {
    close(state() == State::time_wait ? CloseReason::finished : CloseReason::reset_by_peer);
    return;
  }
  if (segment.seq > rcv_nxt() && segment.seq < rcv_adv()) challenge(now);
}

}  // namespace sluice::tcp
