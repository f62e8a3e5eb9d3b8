// Effect of an acknowledgement on a Sender: SND.UNA, the peer's window, loss recovery and the congestion window (RFC
// 9293 section 3.10.7.4, RFC 5681, RFC 5961). Called by Endpoint for every segment that passed the checks. One AckEvent
// collects what the acknowledgement means, and no other code computes it again.

#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"
#include "dataplane/tcp/paced_sender.hpp"

namespace sluice::tcp {

/// Processes the ACK of a segment that the fast paths (in order, without loss) do not accept. Returns false if the
/// caller must ignore the rest of the segment. A FIN that the segment acknowledges is left to the caller, because its
/// handling may close the connection.
bool Sender::process_ack(const Segment& segment, Instant now, AckSample* ack_sample) {
  if (!segment.flags.ack()) return false;
  // RFC 5961 section 5.2.
  if (segment.ack > snd_.nxt || segment.ack < snd_.una - snd_.max_wnd) {
    challenge(now);
    return false;
  }
  if (suspects_optimistic_acks() && segment.ack > snd_.una && !queue().ends_packet(segment.ack)) [[unlikely]] {
    count(misplaced_acks_);
    return false;
  }
  const SeqNum before = snd_.una;
  AckEvent event{.now = now, .in_flight = pipe(), .cwnd_limited = bits_.cwnd_limited};
  const bool repeats = is_duplicate_ack(segment);
  bits_.peer_responded = segment.ack == snd_.una;
  const bool closed = snd_.wnd == 0;
  if (closed && queue().outstanding()) ensure_recovery_state();  // the refused data is retransmitted later
  if (closed || segment.window == 0)
    loss_recovery_.retries = 0;  // a peer that answers is alive (RFC 9293 section 3.8.6.1)
  const bool original =
      bits_.spurious_check != SpuriousCheck::none && segment.ack > snd_.una && answers_original(segment);
  Delivery delivery = queue().begin_delivery(snd_.una);
  delivery.now = tick::us(now);
  delivery.min_rtt = tick::us(min_rtt());
  delivery.originals = original;
  if (paced()) delivery.rate = &config().paced->delivery;
  if ((uses_sack() || paced()) && segment.ack > snd_.una) queue().record_delivered(segment.ack, delivery);
  if (original && bits_.recovery == Recovery::timeout) undo_recovery();
  if (bits_.trying_larger && segment.ack > snd_.una) judge_larger(segment.ack, now);
  if (segment.ack > snd_.una) advance_una(segment.ack, event);
  update_window(segment, before);
  if (uses_sack() && segment.sack_count != 0 && !suspects_optimistic_acks()) {
    const bool has_sample = event.rtt >= Duration::zero();
    scoreboard().mark_sacked(segment.sacks(), snd_.una, snd_.nxt, event, delivery);
    if (!has_sample && event.rtt >= Duration::zero() && backoff() != 0) end_backoff_by_sack(event);
    if (event.misplaced_sack != 0 && event.newly_sacked != 0) [[unlikely]]
      record_misplaced_ack(event.misplaced_sack);
  }
  event.delivered = event.acked - std::min(event.acked, delivery.known) + event.newly_sacked;
  if (ack_sample != nullptr && event.delivered != 0) *ack_sample = {event.delivered, event.rtt};
  event.duplicate = uses_sack() && !suspects_optimistic_acks() ? event.newly_sacked != 0 && event.acked == 0 : repeats;
  if (event.duplicate) count(counters_.duplicate_acks);
  if (uses_sack() && reports_duplicate(segment)) {
    if (!bits_.tail_probe_outstanding) reordering_.on_duplicate();
    if (loss_recovery_.retransmissions != 0) count_duplicate(segment);
  }
  if (bits_.tail_probe_outstanding) judge_tail_probe(segment, event);
  if (bits_.spurious_check != SpuriousCheck::none && bits_.recovery == Recovery::timeout) judge_timeout(segment, event);
  if (bits_.spurious_check != SpuriousCheck::none && bits_.recovery == Recovery::fast && event.acked != 0)
    judge_fast_recovery(original);
  const Recovery repairing = bits_.recovery;
  recover(event, delivery);
  if (event.acked != 0 && uses_sack() && queue().sacked() != 0 && queue().front_sacked()) suspect_reneging(now);
  if (closed && snd_.wnd != 0 && queue().outstanding()) retransmit_refused(now);
  const bool reduced = uses_ecn() && on_ecn_echo(segment, event);
  if (paced()) follow_model(event);
  // After a timeout, retransmissions are limited by the congestion window, so the window counts as used.
  if (repairing == Recovery::timeout && queue().to_retransmit() != 0) event.cwnd_limited = true;
  if (!reduced && window_may_grow(event, repairing))
    congestion_.on_ack(event, path(now), repairing == Recovery::timeout);
  return true;
}

/// True if the segment acknowledges everything sent, and the SACK scoreboard needs no update for it. Requires that the
/// peer's window is open and was open before. The connection must use neither ECN nor pacing, and no recovery or probe
/// may be in progress.
bool Sender::answers_all(const Segment& segment) const {
  if (segment.ack != snd_.nxt || segment.ack == snd_.una || segment.sack_count != 0) return false;
  if (segment.window == 0 || snd_.wnd == 0 || has_recovery_state() || paced()) return false;
  return bits_.recovery == Recovery::none && bits_.spurious_check == SpuriousCheck::none &&
         !bits_.tail_probe_outstanding && !bits_.trying_larger && !uses_ecn() && !bits_.reduced;
}

/// True if cwnd may grow. During fast recovery it must not, because recovery itself sets cwnd; after an ECN mark it
/// must not either. Bytes that were only SACKed indicate a loss, so cwnd does not grow by them until the hole is
/// filled. On a path known to reorder it does (RFC 8985 section 6.2), because loss detection then waits for the missing
/// segment.
bool Sender::window_may_grow(const AckEvent& event, Recovery repairing) const {
  if (bits_.window_source != WindowSource::congestion_control || congestion_.is_model_based() || bits_.reduced)
    return false;
  if (repairing == Recovery::fast || bits_.recovery == Recovery::fast) return false;
  return event.acked != 0 || (reordering_.seen() && bits_.recovery == Recovery::none);
}

/// True for a duplicate ACK (RFC 5681 section 2). While the peer's window is closed no ACK counts as duplicate, because
/// each ACK then answers a segment that the peer has refused.
bool Sender::is_duplicate_ack(const Segment& segment) const {
  return segment.ack == snd_.una && segment.payload_len == 0 && !segment.flags.fin() && queue().outstanding() &&
         snd_.wnd != 0 && std::uint32_t{segment.window} << snd_shift() == snd_.wnd;
}

}  // namespace sluice::tcp
