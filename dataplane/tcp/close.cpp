#include "dataplane/tcp/fast_path.hpp"

// Ending a connection: RFC 9293 sections 3.6 and 3.10.4 to 3.10.7.4 (eighth).

namespace sluice::tcp {

void Endpoint::finish() {
  if (bits_.state == State::closed || bits_.reset_due) return;
  bits_.fin_wanted = true;
  bits_.on_fast_path = false;
}

void Endpoint::abort() {
  if (bits_.state == State::closed) return;
  if (bits_.state == State::syn_sent || bits_.state == State::time_wait) {
    close(CloseReason::aborted);
    return;
  }
  send_.clear();
  drop_disturbance();
  arm(Timer::none, never);
  rcv_.ack_deadline = never;
  bits_.reset_due = true;
  bits_.on_fast_path = bits_.tail_due = false;
  bits_.close_reason = CloseReason::aborted;
}

/// No answer for too long; the peer is told, should it still be there.
void Endpoint::give_up() {
  if (bits_.state == State::syn_sent) {
    close(CloseReason::timed_out);
    return;
  }
  abort();
  bits_.close_reason = CloseReason::timed_out;
}

/// A reset is believed at exactly the next number that the peer expects (RFC 5961 section 3.2). That is SND.NXT where
/// all that is in flight arrives, which a reset follows on the same path. Where there is a sign that it does not (a
/// timeout, a loss, a tail loss probe without an answer, a window that does not reach SND.NXT) the peer may still
/// expect SND.UNA, so a reset with that number goes first; the one that is not exact is old or challenged. Without such
/// a sign a loss is not excluded either: then the peer challenges the reset, and the host that answers knows no
/// connection.
void Endpoint::emit_reset(Instant now, Output& output) {
  Segment segment = header(snd_.una);
  segment.flags.bits |= Flags::rst_bit;
  const bool repairs = bits_.backoff != 0 || repair_.retries != 0 || bits_.recovery != Recovery::none ||
                       repair_.duplicate_acks != 0 || bits_.tail_out || bits_.close_reason == CloseReason::timed_out;
  const bool may_be_missing = snd_.una != snd_.nxt && (repairs || snd_.nxt > window_edge());
  if (may_be_missing && output.transmit(segment, nullptr, now) == 0) return;
  segment.seq = snd_.nxt;
  if (output.transmit(segment, nullptr, now) != 0) close(bits_.close_reason);
}

/// What arrived in order stays readable; everything else goes.
void Endpoint::close(CloseReason reason) {
  bits_.state = State::closed;
  bits_.close_reason = reason;
  send_.clear();
  drop_disturbance();
  arm(Timer::none, never);
  rcv_.ack_deadline = never;
  bits_.on_fast_path = bits_.ack_now = bits_.syn_due = bits_.probe_due = bits_.reset_due = bits_.split_due =
      bits_.fin_due_again = bits_.tail_due = false;
}

/// The peer's FIN is next in order.
void Endpoint::receive_fin(Instant now) {
  forget_out_of_order();
  rcv_.nxt = later(rcv_.nxt, fin_seq_) + 1;
  bits_.fin_received = true;
  if (!bits_.acks_held) bits_.ack_now = true;
  switch (bits_.state) {
    case State::established:
      bits_.state = State::close_wait;
      break;
    case State::fin_wait_1:
      bits_.state = State::closing;
      break;
    case State::fin_wait_2:
      enter_time_wait(now);
      break;
    default:
      break;
  }
}

void Endpoint::fin_acknowledged(Instant now) {
  bits_.fin_due_again = false;
  switch (bits_.state) {
    case State::fin_wait_1:
      bits_.state = State::fin_wait_2;
      break;
    case State::closing:
      enter_time_wait(now);
      break;
    case State::last_ack:
      // The owner has not let the peer's FIN be acknowledged. As from CLOSING the acknowledgement is still to go.
      holding_back() ? enter_time_wait(now) : close(CloseReason::finished);
      break;
    default:
      break;
  }
}

void Endpoint::enter_time_wait(Instant now) {
  bits_.state = State::time_wait;
  arm(Timer::time_wait, now + config_->time_wait);
}

void Endpoint::fin_went_out() {
  bits_.fin_due_again = false;
  if (bits_.fin_sent) return;
  bits_.fin_sent = true;
  snd_.nxt = snd_.end + 1;
  bits_.state = bits_.state == State::close_wait ? State::last_ack : State::fin_wait_1;
}

}  // namespace sluice::tcp
