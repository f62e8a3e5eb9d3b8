#include "dataplane/tcp/fast_path.hpp"

// Tail loss probes (RFC 8985 section 7): when the end of what was sent is not acknowledged in two round trips, one
// segment more, new or the last one again, brings an answer that shows what is missing, long before the retransmission
// timer would. What is sent then: emit_data.cpp.

namespace sluice::tcp {

/// Section 7.2: an open connection that is not repairing anything, of which no probe is under way.
bool Endpoint::may_probe_tail() const {
  return config_->tail_loss_probes && bits_.use_sack && rtt_.has_sample() && bits_.recovery == Recovery::none &&
         bits_.backoff == 0 && !bits_.tail_out && send_.outstanding() && send_.sacked() == 0 && snd_.wnd != 0;
}

/// The probe, where there can be one before the timeout.
void Endpoint::arm_retransmit_slow(Instant now) {
  const Duration timeout = rto();
  if (may_probe_tail() && probe_timeout() < timeout) {
    arm(Timer::probe, now + probe_timeout());
  } else {
    arm(Timer::retransmit, now + timeout);
  }
}

/// The timer was set by what was sent or acknowledged first: the last segment must have had its time too. A single
/// segment may be waiting for a delayed acknowledgement, and that is what the retransmission timeout is made for.
void Endpoint::on_probe_timeout(Instant now) {
  const Instant since = timer_deadline_ - probe_timeout();
  const Instant timeout = since + rto();
  const Instant due = now - tick::duration(tick::fine(now) - snd_.last_sent) + probe_timeout();
  const bool lone = snd_.nxt - snd_.una <= std::int32_t{mtu_.mss};
  if (!may_probe_tail() || lone || timeout <= now) {
    arm(Timer::retransmit, std::max(timeout, now));
  } else if (due > now) {
    arm(due < timeout ? Timer::probe : Timer::retransmit, std::min(due, timeout));
  } else {
    bits_.tail_due = true;
    arm(Timer::retransmit, now + rto());
  }
}

/// Section 7.4: an acknowledgement of more than the probe asked about. Where the probe was a repetition and nothing
/// says that it came twice, it has repaired a loss that nobody else will notice.
void Endpoint::judge_tail_probe(const Segment& segment, const AckEvent& event) {
  if (segment.ack < repair_.point) return;
  if (!bits_.tail_repeated || reports_duplicate(segment)) {
    bits_.tail_out = false;
    return;
  }
  if (segment.ack == repair_.point) {
    if (event.acked == 0 && segment.length() == 0 && segment.sack_count == 0) bits_.tail_out = false;
    return;
  }
  bits_.tail_out = false;
  if (bits_.window_source == WindowSource::allowance) return;
  PathView view = path(event.now);
  view.flight_size = std::max(view.flight_size, congestion_.cwnd());
  congestion_.on_congestion(view);
}

}  // namespace sluice::tcp
