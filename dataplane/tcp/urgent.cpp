#include "dataplane/tcp/fast_path.hpp"

// Urgent data: RFC 9293 section 3.8.5. Its end is all that is known of it; the bytes are ordinary ones. Whether the
// pointer is that of the last urgent byte or of the one behind it (RFC 6093) is between the two applications.

namespace sluice::tcp {

/// Of a segment that is acceptable, whether or not its window took any data (MUST-66).
void Endpoint::take_urgent_pointer(const Segment& segment) {
  if (bits_.fin_received) return;
  const SeqNum end = segment.seq + segment.urgent;
  if (end <= rcv_.nxt - rcv_.unread || (bits_.urgent_in && end <= urgent_end())) return;
  disturb().rcv_up = end;
  bits_.urgent_in = true;
}

void Endpoint::announce_urgent(SeqNum end) {
  if (bits_.state == State::closed || end <= snd_.una || (bits_.urgent_out && end <= disturbance().snd_up)) return;
  disturb().snd_up = end;
  bits_.urgent_out = true;
  bits_.on_fast_path = false;
  bits_.ack_now = true;
}

/// The pointer counts from the segment's own number, in 16 bits. Where it does not reach, the farthest place is named
/// that the peer cannot have received yet: a later segment, which comes first, names one farther on.
void Endpoint::mark_urgent(Segment& segment) const {
  segment.urgent = 0;
  const std::int32_t distance = disturbance().snd_up - segment.seq;
  if (distance <= 0) return;
  constexpr std::int32_t farthest = 65535;
  if (distance > farthest && segment.seq + farthest <= snd_.nxt) return;
  segment.urgent = static_cast<std::uint16_t>(std::min(distance, farthest));
  segment.flags.bits |= Flags::urg_bit;
}

/// What has been read, or acknowledged, is not urgent any more.
void Endpoint::settle_urgent() {
  if (bits_.urgent_in && urgent_end() <= rcv_.nxt - rcv_.unread) bits_.urgent_in = false;
  if (bits_.urgent_out && disturbance().snd_up <= snd_.una) bits_.urgent_out = false;
}

}  // namespace sluice::tcp
