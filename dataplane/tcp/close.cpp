// Ending a connection: FIN exchange, reset and TIME-WAIT (RFC 9293 sections 3.6 and 3.10.4 to 3.10.7.4, eighth step).
// The owner calls finish() and abort(); the other functions are called by segment and timer processing. A closed
// endpoint keeps the data that arrived in order readable and holds nothing else.

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {

void Sender::finish() {
  if (state() == State::closed || bits_.reset_due) return;
  bits_.fin_requested = true;
  leave_fast_path();
}

void Endpoint::abort() {
  if (state() == State::closed) return;
  if (state() == State::syn_sent || state() == State::time_wait) {
    close(CloseReason::aborted);
    return;
  }
  queue().clear();
  drop_recovery();
  arm(Timer::none, never);
  set_ack_deadline(never);
  request_reset();
  leave_fast_path();
  set_close_reason(CloseReason::aborted);
}

/// Closes the connection after EndpointConfig::max_retransmissions unanswered retransmissions. A RST informs the peer,
/// in case it still has the connection.
void Endpoint::give_up() {
  if (state() == State::syn_sent) {
    close(CloseReason::timed_out);
    return;
  }
  abort();
  set_close_reason(CloseReason::timed_out);
}

void Sender::request_reset() {
  bits_.reset_due = true;
  bits_.tail_probe_due = false;
}

/// Sends the reset. Returns false if the output refused a segment. A peer accepts a reset only at exactly the next
/// sequence number that it expects (RFC 5961 section 3.2). This number is SND.NXT if everything in flight arrives
/// before the reset. After a timeout, a loss or an unanswered tail loss probe, or with a window below SND.NXT, the peer
/// may still expect SND.UNA. In these cases a reset with SND.UNA is sent before the one with SND.NXT. The peer ignores
/// or challenges the one that does not match. If a loss was not detected yet, the peer sends a challenge ACK. The host
/// in whose name this endpoint sends has no such connection any more, and answers that ACK with a reset.
bool Sender::emit_reset(Instant now, Output& output) {
  Segment segment = header(snd_.una);
  segment.flags.bits |= Flags::rst_bit;
  const bool repairs = backoff() != 0 || loss_recovery_.retries != 0 || bits_.recovery != Recovery::none ||
                       loss_recovery_.duplicate_acks != 0 || bits_.tail_probe_outstanding ||
                       close_reason() == CloseReason::timed_out;
  const bool may_be_missing = snd_.una != snd_.nxt && (repairs || snd_.nxt > window_edge());
  if (may_be_missing && output.transmit(segment, nullptr, now) == 0) return false;
  segment.seq = snd_.nxt;
  return output.transmit(segment, nullptr, now) != 0;
}

/// Closes the endpoint. Data that arrived in order stays readable; everything else is dropped.
void Endpoint::close(CloseReason reason) {
  set_state(State::closed);
  set_close_reason(reason);
  queue().clear();
  drop_recovery();
  arm(Timer::none, never);
  set_ack_deadline(never);
  leave_fast_path();
  cancel_ack();
  cancel_syn();
  stop_sending();
}

void Sender::stop_sending() {
  bits_.probe_due = bits_.reset_due = bits_.split_due = bits_.fin_due_again = bits_.tail_probe_due = false;
}

/// Processes the peer's FIN. Called when all data before the FIN has been received.
void Receiver::receive_fin(Instant now) {
  drop_out_of_order();
  rcv_.nxt = later(rcv_.nxt, fin_seq_) + 1;
  bits_.fin_received = true;
  if (!bits_.acks_deferred) bits_.ack_now = true;
  switch (state()) {
    case State::established:
      set_state(State::close_wait);
      break;
    case State::fin_wait_1:
      set_state(State::closing);
      break;
    case State::fin_wait_2:
      enter_time_wait(now);
      break;
    default:
      break;
  }
}

/// Advances the state if the peer has acknowledged the FIN. Returns false if the connection is closed now.
bool Endpoint::handle_acknowledged_fin(Instant now) {
  if (!fin_is_acknowledged()) return true;
  stop_fin();
  switch (state()) {
    case State::fin_wait_1:
      set_state(State::fin_wait_2);
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
  return state() != State::closed;
}

/// Records that the FIN was sent and advances the state.
void Sender::fin_went_out() {
  bits_.fin_due_again = false;
  if (bits_.fin_sent) return;
  bits_.fin_sent = true;
  snd_.nxt = snd_.end + 1;
  set_state(state() == State::close_wait ? State::last_ack : State::fin_wait_1);
}

}  // namespace sluice::tcp
