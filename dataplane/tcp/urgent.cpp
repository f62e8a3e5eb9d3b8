#include "dataplane/tcp/fast_path.hpp"

// Urgent data (RFC 9293 section 3.8.5). Only its end is tracked; the bytes are ordinary data. Whether the pointer
// refers to the last urgent byte or the one after it (RFC 6093) is left to the two applications.

namespace sluice::tcp {

/// Processes the urgent pointer of an acceptable segment, even if none of the segment's data fitted the receive window
/// (MUST-66 of RFC 9293).
void Receiver::take_urgent_pointer(const Segment& segment) {
  if (bits_.fin_received) return;
  const SeqNum end = segment.seq + segment.urgent;
  if (end <= rcv_.nxt - rcv_.unread || (bits_.urgent_in && end <= urgent_end())) return;
  ensure_recovery_state().rcv_up = end;
  bits_.urgent_in = true;
}

void Sender::announce_urgent(SeqNum end) {
  if (state() == State::closed || end <= snd_.una || (bits_.urgent_out && end <= recovery_state().snd_up)) return;
  ensure_recovery_state().snd_up = end;
  bits_.urgent_out = true;
  leave_fast_path();
  request_ack();
}

/// Sets the urgent pointer, a 16-bit offset from the segment's sequence number. If the urgent data ends farther away,
/// the pointer is 65535, provided that it then points beyond all sent data. Otherwise the segment has no urgent
/// pointer, and a later segment announces the urgent data.
void Sender::mark_urgent(Segment& segment) const {
  segment.urgent = 0;
  const std::int32_t distance = recovery_state().snd_up - segment.seq;
  if (distance <= 0) return;
  constexpr std::int32_t farthest = 65535;
  if (distance > farthest && segment.seq + farthest <= snd_.nxt) return;
  segment.urgent = static_cast<std::uint16_t>(std::min(distance, farthest));
  segment.flags.bits |= Flags::urg_bit;
}

/// Clears the urgent flag once the urgent data was acknowledged.
void Sender::update_urgent_out() {
  if (bits_.urgent_out && recovery_state().snd_up <= snd_.una) bits_.urgent_out = false;
}

}  // namespace sluice::tcp
