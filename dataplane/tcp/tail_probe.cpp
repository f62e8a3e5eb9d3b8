#include "dataplane/tcp/fast_path.hpp"

// Tail loss probes (RFC 8985 section 7). If the last segments sent are not acknowledged within two round trips, one
// more segment is sent, new data or the last segment again. Its ACK shows what is missing long before the
// retransmission timer expires. emit_data.cpp builds the probe.

namespace sluice::tcp {

/// True if a tail loss probe is permitted (RFC 8985 section 7.2). The connection must use SACK and have an RTT sample,
/// and the peer's window must be open. Nothing outstanding may be sacked, and no recovery, backoff or earlier probe may
/// be in progress.
bool Sender::may_probe_tail() const {
  return config().tail_loss_probes && uses_sack() && has_rtt() && bits_.recovery == Recovery::none && backoff() == 0 &&
         !bits_.tail_probe_outstanding && queue().outstanding() && queue().sacked() == 0 && snd_.wnd != 0;
}

/// Arms the tail loss probe if it is permitted and earlier than the retransmission timeout, else the retransmission
/// timer.
void Sender::arm_retransmit_slow(Instant now) {
  const Duration timeout = rto();
  if (may_probe_tail() && probe_timeout() < timeout) {
    arm(Timer::probe, now + probe_timeout());
  } else {
    arm(Timer::retransmit, now + timeout);
  }
}

/// Handles the expiry of the tail loss probe's timer. A probe is due one probe timeout after the last segment was sent.
/// If the timer was set for older data, it expires before that, and is then set again. If only one segment is
/// outstanding, no probe is sent, because the peer may delay its ACK. The probe timeout leaves no time for a delayed
/// ACK, but the retransmission timeout does.
void Sender::on_probe_timeout(Instant now) {
  const Instant since = timer_deadline() - probe_timeout();
  const Instant timeout = since + rto();
  const Instant due = now - tick::ms_duration(tick::ms(now) - snd_.last_sent) + probe_timeout();
  const bool lone = snd_.nxt - snd_.una <= std::int32_t{mtu_.mss};
  if (!may_probe_tail() || lone || timeout <= now) {
    arm(Timer::retransmit, std::max(timeout, now));
  } else if (due > now) {
    arm(due < timeout ? Timer::probe : Timer::retransmit, std::min(due, timeout));
  } else {
    bits_.tail_probe_due = true;
    arm(Timer::retransmit, now + rto());
  }
}

/// Evaluates an ACK that covers the tail loss probe (RFC 8985 section 7.4). If the probe was a retransmission and no
/// D-SACK reports it, the probe has repaired a loss. No other test detects that loss, so cwnd is reduced here.
void Sender::judge_tail_probe(const Segment& segment, const AckEvent& event) {
  if (segment.ack < loss_recovery_.point) return;
  if (!bits_.tail_retransmitted || reports_duplicate(segment)) {
    bits_.tail_probe_outstanding = false;
    return;
  }
  if (segment.ack == loss_recovery_.point) {
    if (event.acked == 0 && segment.length() == 0 && segment.sack_count == 0) bits_.tail_probe_outstanding = false;
    return;
  }
  bits_.tail_probe_outstanding = false;
  if (bits_.window_source == WindowSource::allowance) return;
  PathView view = path(event.now);
  view.flight_size = std::max(view.flight_size, congestion_.cwnd());
  congestion_.on_congestion(view);
}

}  // namespace sluice::tcp
