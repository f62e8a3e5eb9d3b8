#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"
#include "dataplane/tcp/paced_sender.hpp"

// What acknowledgements do to the sending half.

namespace sluice::tcp {

/// The slow path. Returns false when the segment is not to be looked at any further.
bool Endpoint::process_ack(const Segment& segment, Instant now, AckNews* news) {
  if (!segment.flags.ack()) return false;
  // RFC 5961 section 5.2.
  if (segment.ack > snd_nxt_ || segment.ack < snd_una_ - max_wnd_) {
    challenge(now);
    return false;
  }
  AckEvent event{.now = now, .in_flight = pipe(), .cwnd_limited = cwnd_limited_};
  const SeqNum before = snd_una_;
  const bool repeats = is_duplicate_ack(segment);
  heard_ = segment.ack == snd_una_;
  const bool closed = snd_wnd_ == 0;
  if (closed || segment.window == 0) retries_ = 0;  // a peer that answers is alive (RFC 9293 section 3.8.6.1)
  const bool original = doubt_ != Doubt::none && segment.ack > snd_una_ && answers_original(segment);
  Delivery delivery = send_.begin_delivery(snd_una_);
  delivery.now = tick::micro(now);
  delivery.min_rtt = tick::micro(rtt_.least());
  delivery.originals = original;
  if (paced()) delivery.rate = &config_->paced->delivery;
  if ((use_sack_ || paced()) && segment.ack > snd_una_) send_.note_delivered(segment.ack, delivery);
  if (original && recovery_ == Recovery::timeout) undo_recovery();
  if (trying_larger_ && segment.ack > snd_una_) judge_larger(segment.ack, now);
  if (segment.ack > snd_una_) advance_una(segment.ack, event);
  update_window(segment, before);
  if (use_sack_) send_.mark_sacked(segment.sacks(), snd_una_, snd_nxt_, event, delivery);
  event.delivered = event.acked - std::min(event.acked, delivery.known) + event.newly_sacked;
  if (news != nullptr && event.delivered != 0) *news = {event.delivered, event.rtt};
  event.duplicate = use_sack_ ? event.newly_sacked != 0 && event.acked == 0 : repeats;
  if (event.duplicate) count(counters_.duplicate_acks);
  if (use_sack_ && reports_duplicate(segment)) {
    if (!tail_out_) rack_.on_duplicate();
    if (copies_ != 0) count_duplicate(segment);
  }
  if (tail_out_) judge_tail_probe(segment, event);
  if (doubt_ != Doubt::none && recovery_ == Recovery::timeout) judge_timeout(segment, event);
  if (doubt_ != Doubt::none && recovery_ == Recovery::fast && event.acked != 0) judge_fast_recovery(original);
  const Recovery repairing = recovery_;
  recover(event, delivery);
  if (closed && snd_wnd_ != 0 && send_.outstanding()) repeat_refused(now);
  if (use_ecn_) heed_echo(segment, event);
  if (paced()) follow_model(event);
  if (window_may_grow(event, repairing)) congestion_.on_ack(event, path(now), repairing == Recovery::timeout);
  if (fin_sent_ && snd_una_ > snd_end_) fin_acknowledged(now);
  return state_ != State::closed;
}

/// Not while a fast recovery shapes the window, nor after a mark. What is only sacked is a sign of loss, and does not
/// count before the hole is filled; but where the path is known to reorder it is waited for (RFC 8985 section 6.2), and
/// what arrives meanwhile says of the path what an acknowledgement would say.
bool Endpoint::window_may_grow(const AckEvent& event, Recovery repairing) const {
  if (window_source_ != WindowSource::congestion_control || congestion_.modelled() || reduced_) return false;
  if (repairing == Recovery::fast || recovery_ == Recovery::fast) return false;
  return event.acked != 0 || (rack_.reordering_seen() && recovery_ == Recovery::none);
}

/// RFC 5681 section 2. One with a closed window answers what it refused.
bool Endpoint::is_duplicate_ack(const Segment& segment) const {
  return segment.ack == snd_una_ && segment.payload_len == 0 && !segment.flags.fin() && send_.outstanding() &&
         snd_wnd_ != 0 && std::uint32_t{segment.window} << snd_shift_ == snd_wnd_;
}

}  // namespace sluice::tcp
