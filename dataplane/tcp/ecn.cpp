#include "dataplane/tcp/fast_path.hpp"

// Explicit congestion notification (RFC 3168 section 6.1), on a connection whose handshake agreed on it.

namespace sluice::tcp {

/// What leaves: congestion seen is echoed with every acknowledgement; new data says that it can be marked, and once
/// that the window was reduced (sections 6.1.2 and 6.1.3). Repetitions and empty segments cannot be marked (6.1.4 and
/// 6.1.5).
void Endpoint::mark_ecn(Segment& segment) {
  if (const AccurateEcn* const accurate = accurate_ecn()) {
    mark_accurately(*accurate, segment);
    return;
  }
  if (bits_.ece_due) segment.flags.bits |= Flags::ece_bit;
  if (segment.payload_len == 0) return;
  segment.ecn = ecn_capable;
  if (bits_.cwr_due) segment.flags.bits |= Flags::cwr_bit;
  bits_.cwr_due = false;
}

/// What was to say that the window was reduced has not left.
void Endpoint::cwr_stays_due(const Segment& segment) {
  bits_.cwr_due = segment.flags.cwr() && accurate_ecn() == nullptr;
}

/// Data arrived that counts: CWR ends the echo of what was before, a mark begins a new one (section 6.1.3).
void Endpoint::heed_mark(const Segment& segment) {
  if (accurate_ecn() != nullptr) return;  // counted, with whatever came marked
  if (segment.flags.cwr()) bits_.ece_due = false;
  if (segment.ecn == congestion_experienced) bits_.ece_due = true;
}

/// The acknowledgement that echoes congestion leaves nothing in flight, so there is no round trip over which the
/// reduction could be spread. What was in flight before it counts.
void Endpoint::reduce_at_once(const AckEvent& event) {
  PathView view = path(event.now);
  view.flight_size = event.in_flight;
  congestion_.on_mark(view);
  congestion_.on_recovery_exit(view, true);
}

/// The peer echoes congestion: as after a loss, once for each window of data, spread over the round trip as PRR does.
/// What a loss has reduced already is answered with no more than CWR. CWR leaves with what is sent after the reduction:
/// up to its acknowledgement the peer goes on echoing the old mark, also in the one that reaches repair_.point. With
/// accurate feedback a count that has grown is the echo, and nothing has to end it. Returns true if the window was
/// reduced at once, so that this acknowledgement does not make it grow (section 6.1.2).
bool Endpoint::heed_echo(const Segment& segment, const AckEvent& event) {
  const bool steered = bits_.window_source == WindowSource::congestion_control;
  if (bits_.reduced && snd_.una >= repair_.point) {
    bits_.reduced = false;
    if (steered) congestion_.on_recovery_exit(path(event.now), true);
  }
  const bool heard_of = snd_.una <= repair_.point;
  AccurateEcn* const accurate = accurate_ecn();
  const bool echoed = accurate != nullptr ? heed_count(*accurate, segment, event) : segment.flags.ece();
  const bool of_last_flight = !send_.outstanding() && event.acked != 0;
  if (echoed && !bits_.reduced && !heard_of && bits_.recovery == Recovery::none &&
      (send_.outstanding() || of_last_flight)) {
    bits_.cwr_due = accurate == nullptr;
    bits_.tail_out = false;
    repair_.point = snd_.nxt;
    if (of_last_flight) {
      if (steered) reduce_at_once(event);
      return true;
    }
    bits_.reduced = true;
    disturb().reduction.begin();
    if (steered) congestion_.on_mark(path(event.now));
  }
  if (bits_.reduced && bits_.use_sack) shape_reduction(event);
  return false;
}

}  // namespace sluice::tcp
