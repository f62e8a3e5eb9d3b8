#include "dataplane/tcp/fast_path.hpp"

// Urgent data: RFC 9293 section 3.8.5. Its end is all that is known of it; the bytes are ordinary ones. Whether the
// pointer is that of the last urgent byte or of the one behind it (RFC 6093) is between the two applications.

namespace sluice::tcp {

/// Of a segment that is acceptable, whether or not its window took any data (MUST-66).
void Endpoint::take_urgent_pointer(const Segment& segment) {
  if (fin_received_) return;
  const SeqNum end = segment.seq + segment.urgent;
  if (end <= rcv_nxt_ - unread_ || (urgent_in_ && end <= rcv_up_)) return;
  rcv_up_ = end;
  urgent_in_ = true;
}

void Endpoint::announce_urgent(SeqNum end) {
  if (state_ == State::closed || end <= snd_una_ || (urgent_out_ && end <= snd_up_)) return;
  snd_up_ = end;
  urgent_out_ = true;
  on_fast_path_ = false;
  ack_now_ = true;
}

/// The pointer counts from the segment's own number, in 16 bits. Where it does not reach, the farthest place is named
/// that the peer cannot have received yet: a later segment, which comes first, names one farther on.
void Endpoint::mark_urgent(Segment& segment) const {
  segment.urgent = 0;
  const std::int32_t distance = snd_up_ - segment.seq;
  if (distance <= 0) return;
  constexpr std::int32_t farthest = 65535;
  if (distance > farthest && segment.seq + farthest <= snd_nxt_) return;
  segment.urgent = static_cast<std::uint16_t>(std::min(distance, farthest));
  segment.flags.bits |= Flags::urg_bit;
}

/// What has been read, or acknowledged, is not urgent any more.
void Endpoint::settle_urgent() {
  if (urgent_in_ && rcv_up_ <= rcv_nxt_ - unread_) urgent_in_ = false;
  if (urgent_out_ && snd_up_ <= snd_una_) urgent_out_ = false;
}

}  // namespace sluice::tcp
