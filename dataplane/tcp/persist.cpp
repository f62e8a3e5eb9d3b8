// Zero and small windows of the peer (RFC 9293 sections 3.8.6.1 and 3.8.6.2.1): the persist timer, window probes, and
// data refused by a window that the peer retracted. Called by the timers, by emit.cpp and by ack_processing.cpp. While
// data waits for the window, a timer always runs, because a lost window update would otherwise stall the connection.

#include <algorithm>

#include "dataplane/packet/split.hpp"
#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {

/// True if the persist timer must be armed: nothing is in flight and only the peer's window prevents sending. Without a
/// timer a lost window update would stall the connection.
bool Endpoint::must_guard_window() const {
  if (bits_.timer != Timer::none || send_.outstanding() || fin_outstanding()) return false;
  if (bits_.state != State::established && bits_.state != State::close_wait) return false;
  if (send_.unsent()) return !may_send_new() && !may_split();
  return bits_.fin_wanted && snd_.end >= window_edge();
}

/// True if the peer has closed its window while data was outstanding, and no timer runs that would probe the window.
/// RFC 9293 section 3.8.6 discourages such a retraction, but a sender must handle it.
bool Endpoint::must_guard_refused() const {
  return bits_.timer == Timer::none && window_closed() && bits_.state != State::time_wait && !bits_.reset_due &&
         (send_.outstanding() || fin_outstanding());
}

/// Handles the retransmission timer while the window is closed, as a persist timer. A retransmission would be refused
/// and indicates no congestion, so a probe is sent instead. Only missing answers count as retries, see process_ack().
/// Data that may fit the bytes which scaling rounds off is retransmitted (RFC 7323 section 2.4).
void Endpoint::on_refusal(Instant now) {
  ++loss_recovery_.retries;
  if (bits_.backoff < backoff_limit) ++bits_.backoff;
  bits_.tail_due = bits_.tail_out = false;
  bits_.probe_due = true;
  if (!send_.outstanding()) {
    bits_.fin_due_again = fin_outstanding();
  } else if (may_fit_rounding(send_.front())) {
    AckEvent event{.now = now};
    scoreboard().mark_lost_by_timeout(Instant::min(), event);
    bits_.retransmit_first = true;
    bits_.doubt = Doubt::none;
  }
  arm(Timer::retransmit, now + rto());
}

/// True if the packet may fit a window that looks closed only because scaling rounds it down.
bool Endpoint::may_fit_rounding(packet::Cursor position) const {
  return position.note().payload_len < 1U << bits_.snd_shift;
}

/// Retransmits segments that the peer refused, after its window has opened again: the oldest segment and everything
/// unanswered for a round trip. cwnd is not reduced, because no congestion caused the loss.
void Endpoint::retransmit_refused(Instant now) {
  bits_.backoff = 0;
  loss_recovery_.retries = 0;
  bits_.probe_due = false;
  if (send_.front_sacked()) scoreboard().forget_sacks();  // RFC 2018 section 8
  AckEvent event{.now = now};
  scoreboard().mark_lost_by_timeout(lost_before(now), event);
  bits_.tail_due = bits_.tail_out = false;
  bits_.doubt = Doubt::none;
  if (bits_.recovery != Recovery::fast) {
    bits_.recovery = Recovery::timeout;
    loss_recovery_.point = snd_.nxt;
    loss_recovery_.duplicate_acks = 0;
  }
  bits_.retransmit_first = true;
  arm(Timer::none, never);
}

/// Handles the persist timer: schedules a window probe, or a partial segment if the window is only too small.
void Endpoint::on_persist() {
  if (!send_.unsent() && !bits_.fin_wanted) return;
  if (loss_recovery_.retries >= config_->max_retransmissions) {
    give_up();
    return;
  }
  if (bits_.backoff < backoff_limit) ++bits_.backoff;
  if (snd_.wnd != 0 && send_.unsent()) {
    bits_.split_due = true;  // override timeout of sender silly window avoidance
  } else {
    ++loss_recovery_.retries;
    bits_.probe_due = true;
  }
}

/// Sends a window probe: an empty segment below SND.UNA. Every TCP must answer it with an ACK that states its window
/// (RFC 9293 section 3.10.7.4, first check). The probe needs no buffer and puts no byte in flight that the peer may
/// refuse.
void Endpoint::emit_probe(Instant now, Output& output) {
  Segment segment = header(snd_.una - 1);
  if (bits_.urgent_out) mark_urgent(segment);
  if (output.transmit(segment, nullptr, now) != 0) bits_.probe_due = false;
}

void Endpoint::send_keepalive() {
  if (bits_.state < State::established || bits_.state == State::time_wait || bits_.reset_due || snd_.una != snd_.nxt)
    return;
  bits_.probe_due = true;
  bits_.on_fast_path = false;
}

/// True if a part of the next packet may be sent although the window ends inside that packet. The window must be at
/// least half of the largest window so far, or have been small for too long. The caller ensures that nothing is in
/// flight.
bool Endpoint::small_window_will_do() const {
  if (!send_.unsent() || snd_.wnd == 0) return false;
  return send_.unsent().note().payload_len > snd_.wnd && (bits_.split_due || snd_.wnd >= snd_.max_wnd / 2);
}

/// Cuts the next packet at the end of the window. Returns false if there is no buffer.
bool Endpoint::split_for_window() {
  packet::Loan next(send_.unsent());
  packet::Packet front = packet::split_front(*next, static_cast<std::uint16_t>(snd_.wnd));
  if (!front) return false;
  send_.push_front_of_unsent(std::move(front));
  bits_.split_due = false;
  return true;
}

}  // namespace sluice::tcp
