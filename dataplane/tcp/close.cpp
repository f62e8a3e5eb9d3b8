// Ending a connection: FIN exchange, reset and TIME-WAIT (RFC 9293 sections 3.6 and 3.10.4 to 3.10.7.4, eighth step).
// The owner calls finish() and abort(); the other functions are called by segment and timer processing. A closed
// endpoint keeps the data that arrived in order readable and holds nothing else.

#include "dataplane/tcp/fast_path.hpp"

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
  drop_recovery_state();
  arm(Timer::none, never);
  rcv_.ack_deadline = never;
  bits_.reset_due = true;
  bits_.on_fast_path = bits_.tail_due = false;
  bits_.close_reason = CloseReason::aborted;
}

/// Closes the connection after too many unanswered transmissions; a RST informs the peer if it still exists.
void Endpoint::give_up() {
  if (bits_.state == State::syn_sent) {
    close(CloseReason::timed_out);
    return;
  }
  abort();
  bits_.close_reason = CloseReason::timed_out;
}

/// Sends the reset. A peer accepts a reset only at exactly the next sequence number that it expects (RFC 5961 section
/// 3.2). This number is SND.NXT if everything in flight arrives before the reset. A timeout, a loss, an unanswered tail
/// loss probe or a window below SND.NXT are signs that the peer may still expect SND.UNA. A reset with SND.UNA then
/// precedes the one with SND.NXT; the peer ignores or challenges the inexact one. A loss without such a sign leads to a
/// challenge ACK, which the impersonated host answers with a reset, because it has no such connection.
void Endpoint::emit_reset(Instant now, Output& output) {
  Segment segment = header(snd_.una);
  segment.flags.bits |= Flags::rst_bit;
  const bool repairs = bits_.backoff != 0 || loss_recovery_.retries != 0 || bits_.recovery != Recovery::none ||
                       loss_recovery_.duplicate_acks != 0 || bits_.tail_out ||
                       bits_.close_reason == CloseReason::timed_out;
  const bool may_be_missing = snd_.una != snd_.nxt && (repairs || snd_.nxt > window_edge());
  if (may_be_missing && output.transmit(segment, nullptr, now) == 0) return;
  segment.seq = snd_.nxt;
  if (output.transmit(segment, nullptr, now) != 0) close(bits_.close_reason);
}

/// Closes the endpoint. Data that arrived in order stays readable; everything else is dropped.
void Endpoint::close(CloseReason reason) {
  bits_.state = State::closed;
  bits_.close_reason = reason;
  send_.clear();
  drop_recovery_state();
  arm(Timer::none, never);
  rcv_.ack_deadline = never;
  bits_.on_fast_path = bits_.ack_now = bits_.syn_due = bits_.probe_due = bits_.reset_due = bits_.split_due =
      bits_.fin_due_again = bits_.tail_due = false;
}

/// Processes the peer's FIN, which is the next sequence number in order.
void Endpoint::receive_fin(Instant now) {
  drop_out_of_order();
  rcv_.nxt = later(rcv_.nxt, fin_seq_) + 1;
  bits_.fin_received = true;
  if (!bits_.acks_deferred) bits_.ack_now = true;
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

/// Advances the state after the peer acknowledged the FIN.
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
      // The owner withholds the acknowledgement of the peer's FIN. It still has to be sent, as from CLOSING.
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

/// Records that the FIN was sent and advances the state.
void Endpoint::fin_went_out() {
  bits_.fin_due_again = false;
  if (bits_.fin_sent) return;
  bits_.fin_sent = true;
  snd_.nxt = snd_.end + 1;
  bits_.state = bits_.state == State::close_wait ? State::last_ack : State::fin_wait_1;
}

}  // namespace sluice::tcp
