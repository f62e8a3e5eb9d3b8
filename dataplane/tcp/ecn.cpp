#include "dataplane/tcp/fast_path.hpp"

// Explicit congestion notification (RFC 3168 section 6.1), on a connection whose handshake agreed on it.

namespace sluice::tcp {

/// What leaves: congestion seen is echoed with every acknowledgement; new data says that it can be marked, and once
/// that the window was reduced (sections 6.1.2 and 6.1.3). Repetitions and empty segments cannot be marked (6.1.4 and
/// 6.1.5).
void Endpoint::mark_ecn(Segment& segment) {
  if (ece_due_) segment.flags.bits |= Flags::ece_bit;
  if (segment.payload_len == 0) return;
  segment.ecn = ecn_capable;
  if (cwr_due_) segment.flags.bits |= Flags::cwr_bit;
}

/// Data arrived that counts: CWR ends the echo of what was before, a mark begins a new one (section 6.1.3).
void Endpoint::heed_mark(const Segment& segment) {
  if (segment.flags.cwr()) ece_due_ = false;
  if (segment.ecn == congestion_experienced) ece_due_ = true;
}

/// The peer echoes congestion: as after a loss, once for each window of data, spread over the round trip as PRR does.
/// What a loss has reduced already is answered with no more than CWR. CWR leaves with what is sent after the reduction:
/// up to its acknowledgement the peer goes on echoing the old mark, also in the one that reaches recovery_point_.
void Endpoint::heed_echo(const Segment& segment, const AckEvent& event) {
  const bool steered = window_source_ == WindowSource::congestion_control;
  if (reduced_ && snd_una_ >= recovery_point_) {
    reduced_ = false;
    if (steered) congestion_.on_recovery_exit(path(event.now), true);
  }
  const bool heard_of = snd_una_ <= recovery_point_;
  if (segment.flags.ece() && !reduced_ && !heard_of && recovery_ == Recovery::none && send_.outstanding()) {
    reduced_ = cwr_due_ = true;
    tail_out_ = false;
    recovery_point_ = snd_nxt_;
    reduction_.begin();
    if (steered) congestion_.on_mark(path(event.now));
  }
  if (reduced_ && use_sack_) shape_reduction(event);
}

}  // namespace sluice::tcp
