// Everything the sender of an open connection sends: decides what is due and builds the segments without payload;
// emit_data.cpp builds the others. Called by Endpoint::emit_due(). A segment that the output refuses stays due.

#include <algorithm>
#include <span>

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {

/// True if only data, a FIN or an ACK can be due on an open connection. There is then no recovery, probe, ECN, pacing
/// or packet to cut. Unlike on the fast path, the connection may be closing.
bool Sender::sends_plainly() const {
  return state() >= State::established && !bits_.reset_due && !uses_ecn() && !bits_.small_path && !bits_.probe_due &&
         !bits_.tail_probe_due && bits_.recovery == Recovery::none && snd_.wnd != 0 && !has_recovery_state() &&
         !paced();
}

/// Sends the data, FIN and ACK that are due on a connection for which sends_plainly() is true. Returns the IP bytes of
/// the data segments.
Bytes Sender::emit_plainly(Instant now, Output& output, Bytes allowance) {
  Bytes left = allowance;
  if (queue().unsent()) emit_new(now, output, left);
  if (fin_can_go()) emit_fin(now, output);
  if (ack_is_due()) emit_ack(now, output);
  if (armed() == Timer::none && needs_persist_timer()) arm(Timer::persist, now + rto());
  return allowance - left;
}

/// Sends everything that can be due on an open connection, including recovery, probes and paced data. Returns the IP
/// bytes of the data segments.
Bytes Sender::emit_everything(Instant now, Output& output, Bytes allowance) {
  if (uses_ecn() && ack_is_due()) emit_accurate_answer(now, output);
  // SACK blocks do not fit beside a full segment, so they are sent first in a pure ACK.
  if (ack_is_due() && has_sack_blocks()) emit_ack(now, output);
  if (bits_.small_path && !new_data_waits()) cut_segments(now, output, allowance);
  const std::uint32_t before = queue().in_flight();
  const Bytes sent = emit_data(now, output, paced() ? burst_allowance(now, output, allowance) : allowance);
  if (paced()) record_burst(now, sent, allowance);
  if (has_recovery_state()) ensure_recovery_state().reduction.sent(queue().in_flight() - before);
  if (fin_can_go()) emit_fin(now, output);
  if (bits_.probe_due) emit_probe(now, output);
  if (ack_is_due()) emit_ack(now, output);
  if (needs_persist_timer()) arm(Timer::persist, now + rto());
  if (needs_probe_timer() || must_guard_flight()) arm(Timer::retransmit, now + rto());
  return sent;
}

/// True if the sender's state permits the fast paths: no recovery, probe, ECN reduction, urgent data, packet to cut or
/// FIN is in progress.
bool Sender::sends_in_order() const {
  return bits_.recovery == Recovery::none && loss_recovery_.duplicate_acks == 0 && !bits_.reset_due &&
         !bits_.fin_requested && !bits_.probe_due && !bits_.split_due && !bits_.tail_probe_due &&
         !bits_.tail_probe_outstanding && !bits_.reduced && !bits_.urgent_out &&
         (snd_.wnd != 0 || !queue().outstanding()) && may_go_fast();
}

/// Returns the RecoveryState to its pool if no recovery is in progress and nothing needs it any more.
void Sender::release_recovery_state() {
  if (bits_.recovery != Recovery::none || bits_.reduced) return;
  if (queue().sacked() == 0) ensure_recovery_state().rack.forget();
  if (can_release_recovery_state() && !recovery_state().scoreboard.retransmissions && !urgent_ahead() &&
      !bits_.urgent_out)
    give_back_recovery_state();
}

/// Sends an ACK. Calls emit_ack_with_more() if SACK blocks, ECN flags, an urgent pointer or several duplicate ACKs may
/// be due.
void Sender::emit_ack(Instant now, Output& output) {
  if (has_recovery_state() || bits_.urgent_out || uses_ecn() || duplicates_due() > 1) [[unlikely]] {
    emit_ack_with_more(now, output);
    return;
  }
  const Acknowledgement ack{.seq = acceptable_seq(),
                            .ack = next_acknowledgement(),
                            .window = advertise(),
                            .has_timestamps = uses_timestamps(),
                            .ts_value = ts_value_,
                            .ts_echo = ts_recent()};
  if (output.acknowledge(ack, now) == 0) return;
  acknowledged_up_to(ack.ack);
  if (!holding_back()) clear_duplicates();
}

/// Sends an ACK that also carries SACK blocks, ECN flags or the urgent pointer, or that is repeated as duplicate ACKs.
void Sender::emit_ack_with_more(Instant now, Output& output) {
  Segment segment = header(acceptable_seq());
  if (has_sack_blocks() && !holding_back()) [[unlikely]] {
    if (uses_sack() && sack_generator().overflowed()) emit_all_runs(segment, now, output);
    fill_sacks(segment);
  }
  if (bits_.urgent_out) [[unlikely]]
    mark_urgent(segment);
  if (output.transmit(segment, nullptr, now) == 0) return;
  ack_went_out(segment);
  if (holding_back()) return;
  // RFC 5681 section 4.2: a sender without SACK counts one duplicate ACK for each out-of-order segment.
  for (unsigned left = duplicates_due(); left > 1; --left) output.transmit(segment, nullptr, now);
  clear_duplicates();
}

/// Sends up to 8 additional ACKs, so that SACK blocks report all out-of-order data. One ACK has too few SACK blocks for
/// a burst with many holes.
void Sender::emit_all_runs(Segment segment, Instant now, Output& output) const {
  constexpr int most = 8;
  packet::Cursor from;
  for (int i = 0; i < most; ++i) {
    segment.sack_count =
        recovery_state().reassembly.runs(from, std::span(segment.sack_blocks).first(SackGenerator::capacity));
    if (segment.sack_count != 0) output.transmit(segment, nullptr, now);
    if (!from) return;
  }
}

/// Sends the FIN in a separate segment if no data segment can carry it.
void Sender::emit_fin(Instant now, Output& output) {
  Segment segment = header(snd_.end);
  segment.flags.bits |= Flags::fin_bit;
  if (bits_.urgent_out) mark_urgent(segment);
  if (output.transmit(segment, nullptr, now) == 0) return;
  if (bits_.fin_sent) ++counters_.retransmitted;
  fin_went_out();
  ack_went_out(segment);
  if (armed() < Timer::reorder) arm_retransmit(now);
}

/// True if a FIN without data can be sent now: it must be retransmitted, or all data was sent and the peer's window
/// permits it.
bool Sender::fin_can_go() const {
  if (bits_.fin_due_again) return !tests_spurious_timeout();
  return bits_.fin_requested && !bits_.fin_sent && !queue().unsent() && snd_.end < window_edge() &&
         (state() == State::established || state() == State::close_wait);
}

}  // namespace sluice::tcp
