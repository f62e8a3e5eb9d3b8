#include <algorithm>
#include <span>

#include "dataplane/tcp/fast_path.hpp"

// Everything that leaves: what is due, and the segments without payload. Those with payload: emit_data.cpp.

namespace sluice::tcp {

Bytes Endpoint::emit_due(Instant now, Output& output, Bytes allowance) {
  if (delayed_ack_deadline_ <= now) ack_now_ = true;
  if (!on_fast_path_) [[unlikely]]
    return emit_slow(now, output, allowance);
  Bytes left = allowance;
  if (send_.unsent()) emit_new(now, output, left);
  if (ack_now_) emit_ack(now, output);
  if (timer_ == Timer::none && send_.unsent() && must_guard_window()) arm(Timer::persist, now + rto());
  return allowance - left;
}

Bytes Endpoint::emit_slow(Instant now, Output& output, Bytes allowance) {
  if (reset_due_) {
    emit_reset(now, output);
    return Bytes();
  }
  if (state_ < State::established) {
    emit_handshake(now, output);
    return Bytes();
  }
  // SACK blocks have no room beside a full segment: they go ahead on their own.
  if (ack_now_ && !reassembly_.report().empty()) emit_ack(now, output);
  if (small_path_) cut_segments(now, output, allowance);
  const std::uint32_t before = send_.in_flight();
  const Bytes sent = emit_data(now, output, paced() ? burst_allowance(now, output, allowance) : allowance);
  if (paced()) note_burst(now, sent, allowance);
  reduction_.sent(send_.in_flight() - before);
  if (fin_can_go()) emit_fin(now, output);
  if (probe_due_) emit_probe(now, output);
  if (ack_now_) emit_ack(now, output);
  if (must_guard_window()) arm(Timer::persist, now + rto());
  if (must_guard_refused()) arm(Timer::retransmit, now + rto());
  settle();
  return sent;
}

bool Endpoint::wants_to_send(Instant now) const {
  if (ack_now_ || delayed_ack_deadline_ <= now) return true;
  if (syn_due_ || probe_due_ || reset_due_ || tail_due_) return true;
  if (state_ < State::established) return false;
  return (can_send_now() && !held_by_pacing(now)) || fin_can_go() || must_guard_window() || must_guard_refused();
}

/// Decides whether the fast paths of receive() and emit() apply: an open connection that is not repairing, reordering,
/// probing or closing anything, and takes no delivery-rate samples. Called wherever one of these may have ended; what
/// begins one clears on_fast_path_.
void Endpoint::settle() {
  if (urgent_in_ || urgent_out_) [[unlikely]]
    settle_urgent();
  on_fast_path_ = state_ == State::established && recovery_ == Recovery::none && duplicate_acks_ == 0 && !reset_due_ &&
                  !acks_held_ && !fin_known_ && !fin_wanted_ && !probe_due_ && !split_due_ && !tail_due_ &&
                  !tail_out_ && !reduced_ && !small_path_ && !urgent_in_ && !urgent_out_ && !keepalive_pending_ &&
                  send_.to_retransmit() == 0 && send_.sacked() == 0 && reassembly_.empty() &&
                  reassembly_.report().empty() && !paced() && (snd_wnd_ != 0 || !send_.outstanding());
  if (send_.sacked() == 0 && recovery_ == Recovery::none) rack_.forget();
}

void Endpoint::emit_ack(Instant now, Output& output) {
  Segment segment = header(acceptable_seq());
  if (!reassembly_.report().empty() && !holding_back()) {
    if (use_sack_ && reassembly_.report().overflowed()) emit_all_runs(segment, now, output);
    fill_sacks(segment);
  }
  if (urgent_out_) [[unlikely]]
    mark_urgent(segment);
  if (output.transmit(segment, nullptr, now) == 0) return;
  ack_went_out(segment);
  if (holding_back()) return;
  // RFC 5681 section 4.2: a sender without SACK counts one for each segment that came before its turn.
  for (; duplicates_due_ > 1; --duplicates_due_) output.transmit(segment, nullptr, now);
  duplicates_due_ = 0;
}

/// A burst with many holes: one acknowledgement for all its segments has not enough blocks, so the others go ahead.
void Endpoint::emit_all_runs(Segment segment, Instant now, Output& output) const {
  constexpr int most = 8;
  packet::Cursor from;
  for (int i = 0; i < most; ++i) {
    segment.sack_count = reassembly_.runs(from, std::span(segment.sack_blocks).first(SackReport::capacity));
    if (segment.sack_count != 0) output.transmit(segment, nullptr, now);
    if (!from) return;
  }
}

/// The FIN, when no data segment can carry it.
void Endpoint::emit_fin(Instant now, Output& output) {
  Segment segment = header(snd_end_);
  segment.flags.bits |= Flags::fin_bit;
  if (urgent_out_) mark_urgent(segment);
  if (output.transmit(segment, nullptr, now) == 0) return;
  if (fin_sent_) ++counters_.retransmitted;
  fin_went_out();
  ack_went_out(segment);
  if (timer_ < Timer::reorder) arm_retransmit(now);
}

bool Endpoint::fin_can_go() const {
  if (fin_due_again_) return !timeout_in_doubt();
  return fin_wanted_ && !fin_sent_ && !send_.unsent() && snd_end_ < window_edge() &&
         (state_ == State::established || state_ == State::close_wait);
}

}  // namespace sluice::tcp
