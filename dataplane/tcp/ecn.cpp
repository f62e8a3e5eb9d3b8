#include "dataplane/tcp/fast_path.hpp"

// ECN (RFC 3168 section 6.1) on a connection that negotiated it in the handshake.

namespace sluice::tcp {

/// Sets the ECN fields of an outgoing segment (RFC 3168 sections 6.1.2 and 6.1.3). Every ACK echoes congestion with
/// ECE. New data is ECN-capable, and the first segment after a reduction carries CWR. Retransmissions and empty
/// segments are not ECN-capable (sections 6.1.4 and 6.1.5).
void Sender::mark_ecn(Segment& segment) {
  if (AccurateEcn* const accurate = accurate_ecn()) {
    mark_accurately(*accurate, segment);
    return;
  }
  if (echoes_mark()) segment.flags.bits |= Flags::ece_bit;
  if (segment.payload_len == 0) return;
  segment.ecn = ecn_capable;
  if (bits_.cwr_due) segment.flags.bits |= Flags::cwr_bit;
  bits_.cwr_due = false;
}

/// Records that CWR must be sent with a later segment, because the output did not send the segment with CWR.
void Sender::cwr_stays_due(const Segment& segment) {
  bits_.cwr_due = segment.flags.cwr() && accurate_ecn() == nullptr;
}

/// Processes the ECN field of arriving data (RFC 3168 section 6.1.3). After a CE mark every ACK carries ECE; the peer's
/// CWR ends that.
void Receiver::on_ce_mark(const Segment& segment) {
  if (accurate_ecn() != nullptr) return;  // count_mark() has counted it
  if (segment.flags.cwr()) bits_.ece_due = false;
  if (segment.ecn == congestion_experienced) bits_.ece_due = true;
}

/// Reduces cwnd at once if the ACK with an ECN echo leaves nothing in flight. The reduction cannot be spread over a
/// round trip then. The new cwnd is computed from the bytes in flight before this ACK.
void Sender::reduce_at_once(const AckEvent& event) {
  PathView view = path(event.now);
  view.flight_size = event.in_flight;
  congestion_.on_mark(view);
  congestion_.on_recovery_exit(view, true);
}

/// Handles an ECN echo like a loss: cwnd is reduced once per window of data, and PRR spreads the reduction over the
/// round trip. If a loss has already reduced cwnd, only CWR is sent. Until data beyond the last reduced window
/// (loss_recovery_.point) is acknowledged, echoes are ignored, because the peer repeats an echo until CWR arrives. With
/// accurate ECN an increased count of marks is the echo, and no CWR is needed. Returns true if nothing was in
/// flight any more, so that the reduction was not spread. The caller must then not increase cwnd for this ACK (RFC 3168
/// section 6.1.2).
bool Sender::on_ecn_echo(const Segment& segment, const AckEvent& event) {
  const bool uses_cwnd = bits_.window_source == WindowSource::congestion_control;
  if (bits_.reduced && snd_.una >= loss_recovery_.point) {
    bits_.reduced = false;
    if (uses_cwnd) congestion_.on_recovery_exit(path(event.now), true);
  }
  const bool heard_of = snd_.una <= loss_recovery_.point;
  AccurateEcn* const accurate = accurate_ecn();
  const bool echoed = accurate != nullptr ? handle_ace(*accurate, segment, event) : segment.flags.ece();
  const bool of_last_flight = !queue().outstanding() && event.acked != 0;
  if (echoed && !bits_.reduced && !heard_of && bits_.recovery == Recovery::none &&
      (queue().outstanding() || of_last_flight)) {
    bits_.cwr_due = accurate == nullptr;
    bits_.tail_probe_outstanding = false;
    loss_recovery_.point = snd_.nxt;
    if (of_last_flight) {
      if (uses_cwnd) reduce_at_once(event);
      return true;
    }
    bits_.reduced = true;
    ensure_recovery_state().reduction.begin();
    if (uses_cwnd) congestion_.on_mark(path(event.now));
  }
  if (bits_.reduced && uses_sack()) shape_reduction(event);
  return false;
}

}  // namespace sluice::tcp
