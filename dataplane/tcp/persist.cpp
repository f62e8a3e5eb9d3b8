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

void Endpoint::ask_peer() {
  if (state_ < State::established || state_ == State::time_wait || reset_due_ || snd_una_ != snd_nxt_) return;
  probe_due_ = true;
  smooth_ = false;
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
