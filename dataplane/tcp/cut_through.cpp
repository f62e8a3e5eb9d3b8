#include <algorithm>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"

// Cut-through: data segments are forwarded from one endpoint of a relay to the other endpoint's peer in the frame in
// which they arrived.

namespace sluice::tcp {

/// Compares the window with send_.in_flight(), which equals the pipe on the fast path because no packet is marked lost.
bool Endpoint::can_cut_through(const Endpoint& from, const Segment& segment, Instant now) {
  if (!bits_.on_fast_path || send_.unsent() || snd_.nxt != segment.seq || !cuts_through_size(segment.payload_len))
    return false;
  if (bits_.use_ecn || bits_.use_timestamps != segment.has_timestamps) return false;
  // The TSval in the frame is not rewritten, so it must not be older than the newest one.
  if (segment.has_timestamps && static_cast<std::int32_t>(segment.ts_value - from.rcv_.newest_ts) < 0) return false;
  if (!from.takes_next(segment) || !from.in_order_.empty()) return false;
  if (!send_.outstanding()) restart_after_idle(now);
  return snd_.nxt + segment.payload_len <= window_edge() && fits_cwnd(segment.payload_len, send_.in_flight());
}

Bytes Endpoint::cut_through_bytes(const Endpoint& from) const {
  const std::int64_t window = std::min(window_edge() - snd_.nxt, from.rcv_.adv - from.rcv_.nxt);
  const std::int64_t cwnd =
      bits_.window_source == WindowSource::allowance ? window : std::int64_t{congestion_.cwnd()} - send_.in_flight();
  return Bytes(std::min(window, cwnd));
}

CutThroughHeader Endpoint::begin_cut_through() {
  acknowledged_up_to(next_acknowledgement());
  return {.ack = rcv_.last_ack_sent, .window = advertise(), .ts_echo = rcv_.ts_recent};
}

void Endpoint::cut_through(const Segment& segment, packet::Packet&& frame, Instant now) {
  packet::PacketNote& note = frame.note();
  note.seq = segment.seq.raw();
  note.header_len = static_cast<std::uint16_t>(frame.size() - segment.payload_len);
  send_.push_sent(std::move(frame), now);
}

/// Accounts for forwarded data that was not queued: first `before` bytes, then `last` bytes of the last segment. The
/// bytes still count against the receive window, as in splice_from(). A window update is considered before the last
/// segment is subtracted, because splice_from() has the same order.
inline void Endpoint::let_pass(std::uint32_t before, std::uint32_t last) {
  if (bits_.window_updates == WindowUpdates::sparing || bits_.ack_now) [[likely]] {
    room_ -= std::min(room_, before + last);
    return;
  }
  room_ -= std::min(room_, before);
  consider_window_update();
  room_ -= std::min(room_, last);
}

void Endpoint::end_cut_through(Endpoint& from, const Segment& first, const Segment& last, std::uint32_t count,
                               Instant now) {
  const SeqNum end = last.seq + last.payload_len;
  from.rcv_.nxt = end;
  from.schedule_ack(count, now);
  from.let_pass(static_cast<std::uint32_t>(last.seq - first.seq), last.payload_len);
  if (last.has_timestamps) {
    from.remember_timestamp(first, now);
    from.rcv_.newest_ts = last.ts_value;
  }
  from.take_window(last);
  ts_value_ = from.rcv_.newest_ts;
  snd_.nxt = snd_.end = end;
  snd_.last_sent = tick::ms(now);
  if (bits_.timer < Timer::reorder) arm_retransmit(now);
  record_use_of_cwnd(send_.in_flight());
}

}  // namespace sluice::tcp
