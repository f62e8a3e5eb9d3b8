#include <algorithm>

#include "dataplane/packet/split.hpp"
#include "dataplane/tcp/fast_path.hpp"

// A peer whose window is closed, or too small for the next packet: RFC 9293 sections 3.8.6.1 and 3.8.6.2.1.

namespace sluice::tcp {

/// Nothing is in flight and the peer's window is what holds us back: without a timer a lost window update would end the
/// connection.
bool Endpoint::must_guard_window() const {
  if (bits_.timer != Timer::none || send_.outstanding() || fin_outstanding()) return false;
  if (bits_.state != State::established && bits_.state != State::close_wait) return false;
  if (send_.unsent()) return !may_send_new() && !may_split();
  return bits_.fin_wanted && snd_.end >= window_edge();
}

/// The peer has taken back a window in which something was outstanding (RFC 9293 section 3.8.6: it should not, and a
/// sender must cope), and nothing would ask for it again.
bool Endpoint::must_guard_refused() const {
  return bits_.timer == Timer::none && window_closed() && bits_.state != State::time_wait && !bits_.reset_due &&
         (send_.outstanding() || fin_outstanding());
}

/// The retransmission timer of what is outstanding in front of a closed window has become a persist timer: what is
/// repeated would be refused, and that tells neither of the path nor of its congestion. Only silence counts against
/// the peer, see process_ack(). What a scale may have rounded off the window still goes (RFC 7323 section 2.4).
void Endpoint::on_refusal(Instant now) {
  ++repair_.retries;
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

/// Whether a window that looks closed may have room for all of it.
bool Endpoint::may_fit_rounding(packet::Cursor position) const {
  return position.note().payload_len < 1U << bits_.snd_shift;
}

/// The window has opened again. What the peer has refused is repeated at once: what has not been answered for a round
/// trip, and the oldest segment. The windows stay, for nothing was lost by congestion.
void Endpoint::repeat_refused(Instant now) {
  bits_.backoff = 0;
  repair_.retries = 0;
  bits_.probe_due = false;
  if (send_.front_sacked()) scoreboard().forget_sacks();  // RFC 2018 section 8
  AckEvent event{.now = now};
  scoreboard().mark_lost_by_timeout(lost_before(now), event);
  bits_.tail_due = bits_.tail_out = false;
  bits_.doubt = Doubt::none;
  if (bits_.recovery != Recovery::fast) {
    bits_.recovery = Recovery::timeout;
    repair_.point = snd_.nxt;
    repair_.duplicate_acks = 0;
  }
  bits_.retransmit_first = true;
  arm(Timer::none, never);
}

void Endpoint::on_persist() {
  if (!send_.unsent() && !bits_.fin_wanted) return;
  if (repair_.retries >= config_->max_retransmissions) {
    give_up();
    return;
  }
  if (bits_.backoff < backoff_limit) ++bits_.backoff;
  if (snd_.wnd != 0 && send_.unsent()) {
    bits_.split_due = true;  // the override timeout of sender silly window avoidance
  } else {
    ++repair_.retries;
    bits_.probe_due = true;
  }
}

/// A probe is an empty segment below SND.UNA: every TCP must answer it with its window (RFC 9293 section 3.10.7.4,
/// first check), it needs no buffer, and there is no byte in flight that the peer may not hold.
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

/// Whether a part of the next packet is to be sent although the window ends inside it: only with nothing in flight, and
/// when the window is worth it (half the largest the peer ever offered) or has been small for too long.
bool Endpoint::small_window_will_do() const {
  if (!send_.unsent() || snd_.wnd == 0) return false;
  return send_.unsent().note().payload_len > snd_.wnd && (bits_.split_due || snd_.wnd >= snd_.max_wnd / 2);
}

/// Cuts the next packet where the window ends. False when there was no buffer for the copy.
bool Endpoint::split_for_window() {
  packet::Loan next(send_.unsent());
  packet::Packet front = packet::split_front(*next, static_cast<std::uint16_t>(snd_.wnd));
  if (!front) return false;
  send_.push_front_of_unsent(std::move(front));
  bits_.split_due = false;
  return true;
}

}  // namespace sluice::tcp
