#include <algorithm>

#include "dataplane/packet/split.hpp"
#include "dataplane/tcp/fast_path.hpp"

// A peer whose window is closed, or too small for the next packet: RFC 9293 sections 3.8.6.1 and 3.8.6.2.1.

namespace sluice::tcp {

/// Nothing is in flight and the peer's window is what holds us back: without a timer a lost window update would end the
/// connection.
bool Endpoint::must_guard_window() const {
  if (timer_ != Timer::none || send_.outstanding() || fin_outstanding()) return false;
  if (state_ != State::established && state_ != State::close_wait) return false;
  if (send_.unsent()) return !may_send_new() && !may_split();
  return fin_wanted_ && snd_end_ >= window_edge();
}

/// The peer has taken back a window in which something was outstanding (RFC 9293 section 3.8.6: it should not, and a
/// sender must cope), and nothing would ask for it again.
bool Endpoint::must_guard_refused() const {
  return timer_ == Timer::none && window_closed() && state_ != State::time_wait && !reset_due_ &&
         (send_.outstanding() || fin_outstanding());
}

/// The retransmission timer of what is outstanding in front of a closed window has become a persist timer: what is
/// repeated would be refused, and that tells neither of the path nor of its congestion. Only silence counts against
/// the peer, see process_ack(). What a scale may have rounded off the window still goes (RFC 7323 section 2.4).
void Endpoint::on_refusal(Instant now) {
  ++retries_;
  if (backoff_ < backoff_limit) ++backoff_;
  tail_due_ = tail_out_ = false;
  probe_due_ = true;
  if (!send_.outstanding()) {
    fin_due_again_ = fin_outstanding();
  } else if (may_fit_rounding(send_.front())) {
    AckEvent event{.now = now};
    send_.mark_lost_by_timeout(Instant::min(), event);
    retransmit_first_ = true;
    doubt_ = Doubt::none;
  }
  arm(Timer::retransmit, now + rto());
}

/// Whether a window that looks closed may have room for all of it.
bool Endpoint::may_fit_rounding(packet::Cursor position) const {
  return position.note().payload_len < 1U << snd_shift_;
}

/// The window has opened again. What the peer has refused is repeated at once: what has not been answered for a round
/// trip, and the oldest segment. The windows stay, for nothing was lost by congestion.
void Endpoint::repeat_refused(Instant now) {
  backoff_ = 0;
  retries_ = 0;
  probe_due_ = false;
  if (send_.front_sacked()) send_.forget_sacks();  // RFC 2018 section 8
  AckEvent event{.now = now};
  send_.mark_lost_by_timeout(lost_before(now), event);
  tail_due_ = tail_out_ = false;
  doubt_ = Doubt::none;
  if (recovery_ != Recovery::fast) {
    recovery_ = Recovery::timeout;
    recovery_point_ = snd_nxt_;
    duplicate_acks_ = 0;
  }
  retransmit_first_ = true;
  arm(Timer::none, never);
}

void Endpoint::on_persist() {
  if (!send_.unsent() && !fin_wanted_) return;
  if (retries_ >= config_->max_retransmissions) {
    give_up();
    return;
  }
  if (backoff_ < backoff_limit) ++backoff_;
  if (snd_wnd_ != 0 && send_.unsent()) {
    split_due_ = true;  // the override timeout of sender silly window avoidance
  } else {
    ++retries_;
    probe_due_ = true;
  }
}

/// A probe is an empty segment below SND.UNA: every TCP must answer it with its window (RFC 9293 section 3.10.7.4,
/// first check), it needs no buffer, and there is no byte in flight that the peer may not hold.
void Endpoint::emit_probe(Instant now, Output& output) {
  Segment segment = header(snd_una_ - 1);
  if (urgent_out_) mark_urgent(segment);
  if (output.transmit(segment, nullptr, now) != 0) probe_due_ = false;
}

void Endpoint::send_keepalive() {
  if (state_ < State::established || state_ == State::time_wait || reset_due_ || snd_una_ != snd_nxt_) return;
  probe_due_ = true;
  on_fast_path_ = false;
}

/// Whether a part of the next packet is to be sent although the window ends inside it: only with nothing in flight, and
/// when the window is worth it (half the largest the peer ever offered) or has been small for too long.
bool Endpoint::small_window_will_do() const {
  if (!send_.unsent() || snd_wnd_ == 0) return false;
  return send_.unsent().note().payload_len > snd_wnd_ && (split_due_ || snd_wnd_ >= max_wnd_ / 2);
}

/// Cuts the next packet where the window ends. False when there was no buffer for the copy.
bool Endpoint::split_for_window() {
  packet::Loan next(send_.unsent());
  packet::Packet front = packet::split_front(*next, static_cast<std::uint16_t>(snd_wnd_));
  if (!front) return false;
  send_.push_front_of_unsent(std::move(front));
  split_due_ = false;
  return true;
}

}  // namespace sluice::tcp
