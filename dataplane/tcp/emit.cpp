// Everything an endpoint sends: decides what is due and builds the segments without payload; emit_data.cpp builds the
// others. Called through Endpoint::emit() by the relay of the proxy and the hosts of the emulator. A segment that the
// output refuses stays due.

#include <algorithm>
#include <span>

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {

Bytes Endpoint::emit_due(Instant now, Output& output, Bytes allowance) {
  if (rcv_.ack_deadline <= now) bits_.ack_now = true;
  if (!bits_.on_fast_path) [[unlikely]]
    return emit_slow(now, output, allowance);
  Bytes left = allowance;
  if (send_.unsent()) emit_new(now, output, left);
  if (bits_.ack_now) emit_ack(now, output);
  if (bits_.timer == Timer::none && send_.unsent() && must_guard_window()) arm(Timer::persist, now + rto());
  return allowance - left;
}

/// True if only data, a FIN or an ACK can be due, without recovery, probes, ECN, pacing or cutting. This includes
/// connections that open or close normally.
inline bool Endpoint::sends_plainly() const {
  return bits_.state >= State::established && !bits_.reset_due && !bits_.use_ecn && !bits_.small_path &&
         !bits_.probe_due && !bits_.tail_due && bits_.recovery == Recovery::none && snd_.wnd != 0 &&
         !has_recovery_state() && !paced();
}

/// Sends all due segments when the fast path does not apply.
Bytes Endpoint::emit_slow(Instant now, Output& output, Bytes allowance) {
  if (sends_plainly()) [[likely]] {
    Bytes left = allowance;
    if (send_.unsent()) emit_new(now, output, left);
    if (fin_can_go()) emit_fin(now, output);
    if (bits_.ack_now) emit_ack(now, output);
    if (bits_.timer == Timer::none && must_guard_window()) arm(Timer::persist, now + rto());
    update_fast_path();
    return allowance - left;
  }
  return emit_slow_path(now, output, allowance);
}

/// Sends everything that can be due in any state, including RST, handshake, recovery, probes and paced data.
Bytes Endpoint::emit_slow_path(Instant now, Output& output, Bytes allowance) {
  if (bits_.reset_due) {
    emit_reset(now, output);
    return Bytes();
  }
  if (bits_.state < State::established) {
    emit_handshake(now, output);
    return Bytes();
  }
  if (bits_.use_ecn && bits_.ack_now) emit_accurate_answer(now, output);
  // SACK blocks do not fit beside a full segment, so they are sent first in a pure ACK.
  if (bits_.ack_now && has_recovery_state() && !recovery_state().reassembly.sack_generator().empty())
    emit_ack(now, output);
  if (bits_.small_path) cut_segments(now, output, allowance);
  const std::uint32_t before = send_.in_flight();
  const Bytes sent = emit_data(now, output, paced() ? burst_allowance(now, output, allowance) : allowance);
  if (paced()) record_burst(now, sent, allowance);
  if (has_recovery_state()) ensure_recovery_state().reduction.sent(send_.in_flight() - before);
  if (fin_can_go()) emit_fin(now, output);
  if (bits_.probe_due) emit_probe(now, output);
  if (bits_.ack_now) emit_ack(now, output);
  if (must_guard_window()) arm(Timer::persist, now + rto());
  if (must_guard_refused()) arm(Timer::retransmit, now + rto());
  update_fast_path();
  return sent;
}

bool Endpoint::wants_to_send(Instant now) const {
  if (bits_.ack_now || rcv_.ack_deadline <= now) return true;
  if (bits_.syn_due || bits_.probe_due || bits_.reset_due || bits_.tail_due) return true;
  if (bits_.state < State::established) return false;
  return (can_send_now() && !held_by_pacing(now)) || fin_can_go() || must_guard_window() || must_guard_refused();
}

/// Recomputes the fast-path flag of an open connection and releases recovery state that is no longer needed. The fast
/// paths of receive() and emit() require that no recovery, reordering, probe, urgent data, ECN reduction or FIN is in
/// progress.
void Endpoint::update_fast_path_open() {
  if (bits_.urgent_in || bits_.urgent_out) [[unlikely]]
    update_fast_path_urgent();
  if (has_recovery_state() && bits_.recovery == Recovery::none && !bits_.reduced) release_recovery_state();
  bits_.on_fast_path = bits_.state == State::established && bits_.recovery == Recovery::none &&
                       can_release_recovery_state() && loss_recovery_.duplicate_acks == 0 && !bits_.reset_due &&
                       !bits_.fin_known && !bits_.fin_wanted && !bits_.probe_due && !bits_.split_due &&
                       !bits_.tail_due && !bits_.tail_out && !bits_.reduced && !bits_.urgent_in && !bits_.urgent_out &&
                       !bits_.keepalive_pending && (snd_.wnd != 0 || !send_.outstanding()) && may_go_fast();
}

/// Sends a pure ACK, or one with SACK blocks, ECN flags or an urgent pointer if one of these is due.
void Endpoint::emit_ack(Instant now, Output& output) {
  if (has_recovery_state() || bits_.urgent_out || bits_.use_ecn || bits_.duplicates_due > 1) [[unlikely]] {
    emit_ack_with_more(now, output);
    return;
  }
  const Acknowledgement ack{.seq = acceptable_seq(),
                            .ack = next_acknowledgement(),
                            .window = advertise(),
                            .has_timestamps = bits_.use_timestamps,
                            .ts_value = ts_value_,
                            .ts_echo = rcv_.ts_recent};
  if (output.acknowledge(ack, now) == 0) return;
  acknowledged_up_to(ack.ack);
  if (!holding_back()) bits_.duplicates_due = 0;
}

/// Sends an ACK that also carries SACK blocks, ECN flags or the urgent pointer, or that is repeated as duplicate ACKs.
void Endpoint::emit_ack_with_more(Instant now, Output& output) {
  Segment segment = header(acceptable_seq());
  if (has_recovery_state() && !recovery_state().reassembly.sack_generator().empty() && !holding_back()) [[unlikely]] {
    if (bits_.use_sack && recovery_state().reassembly.sack_generator().overflowed())
      emit_all_runs(segment, now, output);
    fill_sacks(segment);
  }
  if (bits_.urgent_out) [[unlikely]]
    mark_urgent(segment);
  if (output.transmit(segment, nullptr, now) == 0) return;
  ack_went_out(segment);
  if (holding_back()) return;
  // RFC 5681 section 4.2: a sender without SACK counts one duplicate ACK for each out-of-order segment.
  for (; bits_.duplicates_due > 1; --bits_.duplicates_due) output.transmit(segment, nullptr, now);
  bits_.duplicates_due = 0;
}

/// Sends up to 8 additional ACKs with all runs, because one ACK has too few SACK blocks for a burst with many holes.
void Endpoint::emit_all_runs(Segment segment, Instant now, Output& output) const {
  constexpr int most = 8;
  packet::Cursor from;
  for (int i = 0; i < most; ++i) {
    segment.sack_count =
        recovery_state().reassembly.runs(from, std::span(segment.sack_blocks).first(SackGenerator::capacity));
    if (segment.sack_count != 0) output.transmit(segment, nullptr, now);
    if (!from) return;
  }
}

/// Sends the FIN in a segment of its own if no data segment can carry it.
void Endpoint::emit_fin(Instant now, Output& output) {
  Segment segment = header(snd_.end);
  segment.flags.bits |= Flags::fin_bit;
  if (bits_.urgent_out) mark_urgent(segment);
  if (output.transmit(segment, nullptr, now) == 0) return;
  if (bits_.fin_sent) ++counters_.retransmitted;
  fin_went_out();
  ack_went_out(segment);
  if (bits_.timer < Timer::reorder) arm_retransmit(now);
}

/// True if a FIN without data can be sent now: it must be retransmitted, or all data was sent and the window permits
/// it.
bool Endpoint::fin_can_go() const {
  if (bits_.fin_due_again) return !timeout_in_doubt();
  return bits_.fin_wanted && !bits_.fin_sent && !send_.unsent() && snd_.end < window_edge() &&
         (bits_.state == State::established || bits_.state == State::close_wait);
}

}  // namespace sluice::tcp
