// Cut-through: data segments are forwarded from one endpoint of a relay to the other endpoint's peer in the frame in
// which they arrived. Called by the relay of the proxy, for connections whose two endpoints are on the fast path.

#include <algorithm>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {

bool Endpoint::can_cut_through(const Endpoint& from, const Segment& segment, Instant now) {
  if (!can_forward(segment)) return false;
  // The TSval in the frame is not rewritten, so it must not be older than the newest one.
  if (segment.has_timestamps && static_cast<std::int32_t>(segment.ts_value - from.newest_ts_value()) < 0) return false;
  if (!from.is_plain_next_segment(segment) || !from.in_order().empty()) return false;
  return has_window_for(segment.payload_len, now);
}

/// True if this endpoint can send the segment in the frame in which another endpoint received it. Windows are not
/// checked here.
inline bool Sender::can_forward(const Segment& segment) const {
  if (!on_fast_path() || queue().unsent() || snd_.nxt != segment.seq || !cuts_through_size(segment.payload_len))
    return false;
  return !uses_ecn() && uses_timestamps() == segment.has_timestamps;
}

/// True if the peer's window and the congestion window permit `length` more bytes. Compares with queue().in_flight(),
/// which equals the pipe on the fast path (established, no loss or reordering), because no packet is marked lost.
inline bool Sender::has_window_for(std::uint32_t length, Instant now) {
  if (!queue().outstanding()) restart_after_idle(now);
  return snd_.nxt + length <= window_edge() && fits_cwnd(length, queue().in_flight());
}

Bytes Endpoint::cut_through_bytes(const Endpoint& from) const {
  return Bytes(usable_window(from.rcv_adv() - from.rcv_nxt()));
}

/// Returns how many of `offered` bytes the peer's window and the congestion window permit to send now. Requires the
/// fast path: an established connection without loss or reordering.
inline std::int64_t Sender::usable_window(std::int32_t offered) const {
  const std::int64_t window = std::min(window_edge() - snd_.nxt, offered);
  const std::int64_t cwnd =
      bits_.window_source == WindowSource::allowance ? window : std::int64_t{congestion_.cwnd()} - queue().in_flight();
  return std::min(window, cwnd);
}

CutThroughHeader Endpoint::begin_cut_through() {
  const SeqNum ack = next_acknowledgement();
  acknowledged_up_to(ack);
  return {.ack = ack, .window = advertise(), .ts_echo = ts_recent()};
}

void Endpoint::cut_through(const Segment& segment, packet::Packet&& frame, Instant now) {
  packet::PacketNote& note = frame.note();
  note.seq = segment.seq.raw();
  note.header_len = static_cast<std::uint16_t>(frame.size() - segment.payload_len);
  queue().push_sent(std::move(frame), now);
}

/// Counts received data that another endpoint forwards, so that this endpoint does not queue it. `last` is the number
/// of bytes in the last segment, and `before` the number in all segments before it. These bytes reduce the receive
/// room, the number of bytes that the endpoint still accepts. A window update is considered before the last segment is
/// counted, as splice_from() does for queued data. Cut-through and queueing thus cause equal window updates.
inline void Receiver::account_cut_through(std::uint32_t before, std::uint32_t last) {
  if (bits_.window_updates == WindowUpdates::sparing || bits_.ack_now) [[likely]] {
    room_ -= std::min(room_, before + last);
    return;
  }
  room_ -= std::min(room_, before);
  consider_window_update();
  room_ -= std::min(room_, last);
}

/// Processes the headers of `count` received segments from `first` to `last`. Their data is not queued here, because
/// another endpoint forwards it.
inline void Receiver::receive_cut_through(const Segment& first, const Segment& last, std::uint32_t count, Instant now) {
  rcv_.nxt = last.seq + last.payload_len;
  schedule_ack(count, now);
  account_cut_through(static_cast<std::uint32_t>(last.seq - first.seq), last.payload_len);
  if (last.has_timestamps) {
    remember_timestamp(first, now);
    rcv_.newest_ts = last.ts_value;
  }
}

/// Counts data up to `end` that was sent in the frames in which another endpoint received it.
inline void Sender::forwarded_up_to(SeqNum end, Instant now) {
  snd_.nxt = snd_.end = end;
  snd_.last_sent = tick::ms(now);
  if (armed() < Timer::reorder) arm_retransmit(now);
  record_use_of_cwnd(queue().in_flight());
}

void Endpoint::end_cut_through(Endpoint& from, const Segment& first, const Segment& last, std::uint32_t count,
                               Instant now) {
  from.receive_cut_through(first, last, count, now);
  from.take_window(last);
  set_timestamp(from.newest_ts_value());
  forwarded_up_to(last.seq + last.payload_len, now);
}

}  // namespace sluice::tcp
