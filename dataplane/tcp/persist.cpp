// Zero and small windows of the peer (RFC 9293 sections 3.8.6.1 and 3.8.6.2.1): the persist timer, window probes, and
// data refused by a window that the peer retracted. Called by the timers, by emit.cpp and by ack_processing.cpp. While
// data waits for the window, a timer always runs, because a lost window update would otherwise stall the connection.

#include <algorithm>

#include "dataplane/packet/split.hpp"
#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {

/// True if the persist timer must be armed: nothing is in flight, and only the peer's window prevents sending. Without
/// the timer, the loss of a window update would stall the connection.
bool Sender::needs_persist_timer() const {
  if (armed() != Timer::none || queue().outstanding() || fin_outstanding()) return false;
  if (state() != State::established && state() != State::close_wait) return false;
  if (queue().unsent()) return !may_send_new() && !may_split();
  return bits_.fin_requested && snd_.end >= window_edge();
}

/// True if the peer has closed its window while data was outstanding, and no timer runs that would probe the window.
/// RFC 9293 section 3.8.6 discourages such a retraction, but a sender must handle it.
bool Sender::needs_probe_timer() const {
  return armed() == Timer::none && window_closed() && state() != State::time_wait && !bits_.reset_due &&
         (queue().outstanding() || fin_outstanding());
}

/// Handles the expiry of the retransmission timer while the peer's window is closed; the timer then serves as persist
/// timer. The peer would refuse a retransmission, so a window probe is sent instead, and cwnd is not reduced. Each
/// probe counts as a retry, but an answer resets the number of retries, see process_ack(). A packet that is smaller
/// than the unit of the window scale is retransmitted all the same (RFC 7323 section 2.4).
void Sender::on_refusal(Instant now) {
  ++loss_recovery_.retries;
  back_off();
  bits_.tail_probe_due = bits_.tail_probe_outstanding = false;
  bits_.probe_due = true;
  if (!queue().outstanding()) {
    bits_.fin_due_again = fin_outstanding();
  } else if (may_fit_rounding(queue().front())) {
    AckEvent event{.now = now};
    scoreboard().mark_lost_by_timeout(Instant::min(), event);
    bits_.retransmit_first = true;
    bits_.spurious_check = SpuriousCheck::none;
  }
  arm(Timer::retransmit, now + rto());
}

/// True if the packet may fit the peer's window although the window field is 0, because the window scale rounds the
/// window down.
bool Sender::may_fit_rounding(packet::Cursor position) const {
  return position.note().payload_len < 1U << snd_shift();
}

/// Retransmits segments that the peer refused, after its window has opened again. These are the oldest segment and all
/// segments unanswered for a round trip. cwnd is not reduced, because no congestion caused the loss.
void Sender::retransmit_refused(Instant now) {
  end_backoff();
  loss_recovery_.retries = 0;
  bits_.probe_due = false;
  if (queue().front_sacked()) scoreboard().forget_sacks();  // RFC 2018 section 8
  AckEvent event{.now = now};
  scoreboard().mark_lost_by_timeout(lost_before(now), event);
  bits_.tail_probe_due = bits_.tail_probe_outstanding = false;
  bits_.spurious_check = SpuriousCheck::none;
  if (bits_.recovery != Recovery::fast) {
    bits_.recovery = Recovery::timeout;
    loss_recovery_.point = snd_.nxt;
    loss_recovery_.duplicate_acks = 0;
  }
  bits_.retransmit_first = true;
  arm(Timer::none, never);
}

/// Handles the persist timer. Schedules a window probe or, if the peer's window is open but too small for a segment, a
/// part of a segment. Returns false if the peer has answered none of the permitted number of probes.
bool Sender::on_persist() {
  if (!queue().unsent() && !bits_.fin_requested) return true;
  if (loss_recovery_.retries >= config().max_retransmissions) return false;
  back_off();
  if (snd_.wnd != 0 && queue().unsent()) {
    bits_.split_due = true;  // override timeout of sender silly window avoidance
  } else {
    ++loss_recovery_.retries;
    bits_.probe_due = true;
  }
  return true;
}

/// Sends a window probe: an empty segment below SND.UNA. Every TCP must answer it with an ACK that states its window
/// (RFC 9293 section 3.10.7.4, first check). The probe needs no buffer and puts no byte in flight that the peer may
/// refuse.
void Sender::emit_probe(Instant now, Output& output) {
  Segment segment = header(snd_.una - 1);
  if (bits_.urgent_out) mark_urgent(segment);
  if (output.transmit(segment, nullptr, now) != 0) bits_.probe_due = false;
}

void Sender::send_keepalive() {
  if (state() < State::established || state() == State::time_wait || bits_.reset_due || snd_.una != snd_.nxt) return;
  bits_.probe_due = true;
  leave_fast_path();
}

/// True if a part of the next packet may be sent although the peer's window ends inside that packet. That window is
/// then at least half of its largest value so far, or the persist timer has expired while it was smaller. The caller
/// ensures that nothing is in flight.
bool Sender::may_send_partial_segment() const {
  if (!queue().unsent() || snd_.wnd == 0) return false;
  return queue().unsent().note().payload_len > snd_.wnd && (bits_.split_due || snd_.wnd >= snd_.max_wnd / 2);
}

/// Cuts the next packet at the end of the peer's window. Returns false if there is no buffer.
bool Sender::split_for_window() {
  packet::BorrowedPacket next(queue().unsent());
  packet::Packet front = packet::split_front(*next, static_cast<std::uint16_t>(snd_.wnd));
  if (!front) return false;
  queue().push_front_of_unsent(std::move(front));
  bits_.split_due = false;
  return true;
}

}  // namespace sluice::tcp
