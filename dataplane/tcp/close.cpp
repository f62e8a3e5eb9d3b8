#include "dataplane/tcp/fast_path.hpp"

// Ending a connection: RFC 9293 sections 3.6 and 3.10.4 to 3.10.7.4 (eighth).

namespace sluice::tcp {

void Endpoint::finish() {
  if (state_ == State::closed || reset_due_) return;
  fin_wanted_ = true;
  on_fast_path_ = false;
}

void Endpoint::abort() {
  if (state_ == State::closed) return;
  if (state_ == State::syn_sent || state_ == State::time_wait) {
    close(CloseReason::aborted);
    return;
  }
  send_.clear();
  reassembly_.clear();
  arm(Timer::none, never);
  delayed_ack_deadline_ = never;
  reset_due_ = true;
  on_fast_path_ = tail_due_ = false;
  close_reason_ = CloseReason::aborted;
}

/// No answer for too long; the peer is told, should it still be there.
void Endpoint::give_up() {
  if (state_ == State::syn_sent) {
    close(CloseReason::timed_out);
    return;
  }
  abort();
  close_reason_ = CloseReason::timed_out;
}

/// A reset is believed at exactly the next number that the peer expects (RFC 5961 section 3.2): that is SND.NXT where
/// all that was sent arrives, SND.UNA where none of it does, its window being closed or its path gone. The one that is
/// not exact is old or asked back.
void Endpoint::emit_reset(Instant now, Output& output) {
  Segment segment = header(snd_una_);
  segment.flags.bits |= Flags::rst_bit;
  if (snd_una_ != snd_nxt_ && output.transmit(segment, nullptr, now) == 0) return;
  segment.seq = snd_nxt_;
  if (output.transmit(segment, nullptr, now) != 0) close(close_reason_);
}

/// What arrived in order stays readable; everything else goes.
void Endpoint::close(CloseReason reason) {
  state_ = State::closed;
  close_reason_ = reason;
  send_.clear();
  reassembly_.clear();
  arm(Timer::none, never);
  delayed_ack_deadline_ = never;
  on_fast_path_ = ack_now_ = syn_due_ = probe_due_ = reset_due_ = split_due_ = fin_due_again_ = tail_due_ = false;
}

/// The peer's FIN is next in order.
void Endpoint::receive_fin(Instant now) {
  reassembly_.clear();
  rcv_nxt_ = later(rcv_nxt_, fin_seq_) + 1;
  fin_received_ = true;
  if (!acks_held_) ack_now_ = true;
  switch (state_) {
    case State::established:
      state_ = State::close_wait;
      break;
    case State::fin_wait_1:
      state_ = State::closing;
      break;
    case State::fin_wait_2:
      enter_time_wait(now);
      break;
    default:
      break;
  }
}

void Endpoint::fin_acknowledged(Instant now) {
  fin_due_again_ = false;
  switch (state_) {
    case State::fin_wait_1:
      state_ = State::fin_wait_2;
      break;
    case State::closing:
      enter_time_wait(now);
      break;
    case State::last_ack:
      close(CloseReason::finished);
      break;
    default:
      break;
  }
}

void Endpoint::enter_time_wait(Instant now) {
  state_ = State::time_wait;
  arm(Timer::time_wait, now + config_->time_wait);
}

void Endpoint::fin_went_out() {
  fin_due_again_ = false;
  if (fin_sent_) return;
  fin_sent_ = true;
  snd_nxt_ = snd_end_ + 1;
  state_ = state_ == State::close_wait ? State::last_ack : State::fin_wait_1;
}

}  // namespace sluice::tcp
