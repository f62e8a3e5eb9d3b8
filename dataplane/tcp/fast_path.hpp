#pragma once

#include <algorithm>
#include <utility>

#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/tcp/tick.hpp"

// Inline members of Receiver, Sender and Endpoint that every segment on the fast path runs through, shared by several
// .cpp files.

namespace sluice::tcp {

/// Stores the timestamp to echo: the TSval of the segment that contains the last acknowledgement number sent (RFC 7323
/// section 4.3).
inline void Receiver::remember_timestamp(const Segment& segment, Instant now) {
  if (!segment.has_timestamps) return;
  if (static_cast<std::int32_t>(segment.ts_value - rcv_.newest_ts) > 0) rcv_.newest_ts = segment.ts_value;
  if (segment.seq > rcv_.last_ack_sent) return;
  rcv_.ts_recent = segment.ts_value;
  ts_recent_at_ = tick::s137(now);
}

/// Appends a payload to the unread in-order data and advances RCV.NXT.
inline void Receiver::append_in_order(packet::Packet&& payload) {
  packet::PacketNote& note = payload.note();
  note.seq = rcv_.nxt.raw();
  note.header_len = 0;
  rcv_.nxt += note.payload_len;
  rcv_.unread += note.payload_len;
  in_order_.push_back(std::move(payload));
}

/// Schedules an ACK for `segments` data segments. The ACK is sent at once for every second segment, else after the
/// delayed-ACK time (RFC 5681 section 4.2). Does nothing while the endpoint's owner withholds acknowledgements.
inline void Receiver::schedule_ack(std::uint32_t segments, Instant now) {
  if (bits_.acks_deferred) [[unlikely]]
    return;
  if (bits_.segment_unacked || segments >= 2) bits_.ack_now = true;
  if (bits_.segment_unacked) return;
  bits_.segment_unacked = true;
  if (ack_deadline() == never) set_ack_deadline(now + config().delayed_ack);
}

/// Returns how many bytes the right edge of the receive window can move now. The result is negative if the edge is
/// beyond the receive room (bytes accepted beyond the first unread one).
inline std::int32_t Receiver::edge_gain() const {
  const std::uint32_t room = std::min(room_, largest_window_field << bits_.rcv_shift);
  return (rcv_.nxt + room - rcv_.unread) - rcv_.adv;
}

/// True if a move of the right edge by `gain` bytes is certain not to justify a window update. The move is less than
/// half the receive room (bytes accepted beyond the first unread one). In addition, the peer's window still has space
/// for a segment. This quick test precedes is_window_update_due(), which would reject such a move, too.
inline bool Receiver::is_too_small_update(std::int32_t gain) const {
  return gain < static_cast<std::int32_t>(room_ / 2) && rcv_.adv - rcv_.nxt >= local_mss() + (1 << bits_.rcv_shift);
}

/// True if the right edge can move far enough for a window update (RFC 9293 section 3.8.6.2.2): by `step` bytes, or by
/// half the receive room (bytes accepted beyond the first unread one). If no segment fits the window that the peer
/// sees, a move is far enough if a segment, or half the receive room, fits afterwards.
inline bool Receiver::edge_may_move(std::uint32_t step) const {
  // Early exit, because mostly the edge cannot move at all, whatever the window field can express.
  if ((rcv_.nxt + room_ - rcv_.unread) - rcv_.adv <= 0) return false;
  const std::int32_t gain = edge_gain();
  if (gain >= static_cast<std::int32_t>(step)) return true;
  return gain > 0 && !is_too_small_update(gain) && is_window_update_due(gain);
}

/// Returns how many bytes the right edge of the receive window must be able to move before a pure window update is
/// sent.
inline std::uint32_t Receiver::window_update_step() const {
  const std::uint32_t mss = local_mss();
  if (bits_.window_updates == WindowUpdates::sparing) return 2 * mss;
  const bool for_its_size = bits_.window_updates == WindowUpdates::prompt_for_its_size;
  const auto open = static_cast<std::uint32_t>(std::max(rcv_.adv - rcv_.nxt, 0));
  return std::clamp(open / prompt_share, mss, (for_its_size ? prompt_segments_for_its_size : prompt_segments) * mss);
}

/// Schedules a pure window update if the right edge can move by the distance that WindowUpdates selects.
inline void Receiver::consider_window_update() {
  if (bits_.ack_now || state() < State::established || state() > State::fin_wait_2 || bits_.fin_received) return;
  if (edge_may_move(window_update_step())) bits_.ack_now = true;
}

/// Returns the window field of a segment, and moves the right edge forwards if possible. Small moves are postponed,
/// because they cause the peer to send small segments. Rounding to the window scale may retract the announced edge by a
/// few bytes, which RFC 7323 section 2.4 allows. Data in any window advertised earlier is still accepted.
inline std::uint16_t Receiver::advertise() {
  if (edge_may_move(local_mss())) rcv_.adv += static_cast<std::uint32_t>(edge_gain());
  if (rcv_.adv < rcv_.nxt) rcv_.adv = rcv_.nxt;
  const auto window = static_cast<std::uint32_t>(rcv_.adv - next_acknowledgement()) >> bits_.rcv_shift;
  return static_cast<std::uint16_t>(std::min(window, largest_window_field));
}

/// Advances SND.UNA to `ack`: removes acknowledged packets, takes an RTT sample and restarts or stops the
/// retransmission timer.
inline void Sender::advance_una(SeqNum ack, AckEvent& event) {
  event.acked = static_cast<std::uint32_t>(ack - snd_.una);
  snd_.una = ack;
  queue().acknowledge(ack, event);
  loss_recovery_.retries = 0;
  // Keeps RecoveryPoint close behind SND.UNA, because an old value would appear to lie ahead after sequence numbers
  // wrap.
  if (snd_.una - loss_recovery_.point > 1 << 30) loss_recovery_.point = snd_.una - 1;
  // Without SACK, a segment behind a hole is acknowledged only when the hole is filled, so its RTT sample is too long.
  // An ACK of a segment that was sent once may end the backoff all the same (Karn and Partridge, 1987).
  if (bits_.recovery != Recovery::none && !uses_sack()) {
    const bool original = event.rtt >= Duration::zero();
    ensure_recovery_state().acked_original = original;
    if (original && (retransmits_blindly() || config().ends_backoff_in_recovery)) end_backoff();
    event.rtt = AckEvent::no_rtt;
  }
  if (event.rtt >= Duration::zero()) {
    sample_rtt(event.rtt, snd_.una, snd_.nxt);
    end_backoff();  // RFC 6298 section 5: the longer timeout stays until an RTT is measured
  }
  if (queue().outstanding() || fin_outstanding()) {
    if (!keeps_timer()) arm_retransmit(event.now);
  } else {
    arm(Timer::none, never);
    small_in_flight_ = 0;
  }
  if (event.misplaced) [[unlikely]]
    record_misplaced_ack(event.acked);
  if (event.small > 0) [[unlikely]]
    small_in_flight_ =
        static_cast<std::uint8_t>(small_in_flight_ - std::min<std::int32_t>(event.small, small_in_flight_));
}

/// Updates the peer's window (RFC 9293 section 3.10.7.4) if no segment with a newer window has arrived. A segment is
/// newer if it acknowledges more, or as much with a higher sequence number. Among equal ones the last to arrive is
/// used. `una_before`, SND.UNA before this segment, serves as SND.WL2. If segments arrive out of order, the stored
/// window may be too small until the next segment or the answer to a probe.
inline void Sender::update_window(const Segment& segment, SeqNum una_before) {
  if (segment.ack < una_before || (segment.ack == una_before && segment.seq < snd_.wl1)) return;
  if (segment.window == 0) [[unlikely]]
    leave_fast_path();
  take_window(segment);
}

/// Stores the peer's window that a segment states. Requires that the segment is known to be the newest. If it closes
/// the window, the caller must have left the fast path.
inline void Sender::take_window(const Segment& segment) {
  const std::uint32_t window = std::uint32_t{segment.window} << snd_shift();
  snd_.wl1 = segment.seq;
  if (window == snd_.wnd) [[likely]]
    return;
  if (window > snd_.wnd && armed() < Timer::reorder) {
    disarm(Timer::persist);
    end_backoff();
    bits_.probe_due = false;
  }
  snd_.wnd = window;
  snd_.max_wnd = std::max(snd_.max_wnd, window);
}

/// Returns the connection state that a congestion control may use.
inline PathView Sender::path(Instant now) const {
  return {.now = now, .srtt = srtt(), .mss = mtu_.mss, .flight_size = static_cast<std::uint32_t>(snd_.nxt - snd_.una)};
}

/// Arms the timer for outstanding data. On the fast path (connection established, no loss or reordering) with SACK this
/// is the tail loss probe timer. Whether a probe is permitted is checked only when that timer expires.
inline void Sender::arm_retransmit(Instant now) {
  if (on_fast_path() && uses_sack()) [[likely]] {
    arm(Timer::probe, now + probe_timeout());
  } else {
    arm_retransmit_slow(now);
  }
}

/// Processes an ACK of new data that carries no SACK blocks, while no recovery is in progress.
inline void Sender::acknowledge(SeqNum ack, Instant now, AckSample* ack_sample) {
  AckEvent event{.now = now, .cwnd_limited = bits_.cwnd_limited};
  advance_una(ack, event);
  event.delivered = event.acked;
  if (ack_sample != nullptr) *ack_sample = {event.delivered, event.rtt};
  if (bits_.window_source == WindowSource::congestion_control) congestion_.on_ack(event, path(now), false);
}

/// True if `length` more bytes fit cwnd, or if the caller's limit on the bytes to send (its allowance) replaces cwnd.
/// One segment is always permitted in flight. If the peer is suspected to acknowledge data before it arrives, at most
/// an initial window may be in flight.
inline bool Sender::fits_cwnd(std::uint32_t length, std::uint32_t in_flight) const {
  if (suspects_optimistic_acks() && in_flight != 0 && in_flight + length > initial_window()) [[unlikely]]
    return false;
  if (bits_.window_source == WindowSource::allowance) return true;
  return in_flight == 0 || in_flight + length <= congestion_.cwnd();
}

/// Records whether cwnd limits the sender (RFC 7661 section 4.1), that is, whether no further segment fits. In slow
/// start cwnd counts as limiting if half of it is in flight, because it doubles per round trip.
inline void Sender::record_use_of_cwnd(std::uint32_t in_flight) {
  const std::uint32_t cwnd = congestion_.cwnd();
  bits_.cwnd_limited = in_flight + mtu_.mss > cwnd || (cwnd < congestion_.ssthresh() && in_flight >= cwnd / 2);
}

/// True if the peer's window and cwnd permit the first unsent packet, and the number of small segments in flight is
/// below its limit (max_small).
inline bool Sender::may_send_new() const {
  const packet::Cursor next = queue().unsent();
  if (!next) return false;
  const std::uint32_t length = next.note().payload_len;
  if (length < SendQueue::small && small_in_flight_ >= max_small) [[unlikely]]
    return false;
  return snd_.nxt + length <= window_edge() && fits_cwnd(length);
}

/// Returns the sequence number for a segment without data. It is SND.NXT, or the window's right edge if the peer has
/// retracted more of its window than scaling rounds off. A segment beyond the edge is not acceptable, so its ACK would
/// be ignored (RFC 9293 section 3.10.7.4).
inline SeqNum Sender::acceptable_seq() const {
  return snd_.nxt - window_edge() < 1 << snd_shift() ? snd_.nxt : window_edge();
}

/// Returns a segment with the fields that every segment of an established connection carries.
inline Segment Sender::header(SeqNum seq) {
  Segment segment;
  segment.seq = seq;
  segment.ack = next_acknowledgement();
  segment.flags.bits = Flags::ack_bit;
  segment.window = advertise();
  if (uses_timestamps()) {
    segment.has_timestamps = true;
    segment.ts_value = ts_value_;
    segment.ts_echo = ts_recent();
  }
  if (uses_ecn()) [[unlikely]]
    mark_ecn(segment);
  return segment;
}

/// Records that data before `ack` is acknowledged, by an earlier segment or by the segment being built.
inline void Receiver::acknowledged_up_to(SeqNum ack) {
  bits_.ack_now = false;
  set_ack_deadline(never);
  bits_.segment_unacked = false;
  rcv_.last_ack_sent = ack;
}

/// Records that `segment` was sent with the current acknowledgement and SACK blocks.
inline void Receiver::ack_went_out(const Segment& segment) {
  acknowledged_up_to(segment.ack);
  if (segment.sack_count != 0) [[unlikely]]
    ensure_recovery_state().reassembly.sack_generator().reported();
}

inline void Endpoint::update_fast_path() {
  leave_fast_path();
  if (state() == State::established || has_recovery_state() || urgent_ahead() || urgent_is_out())
    update_fast_path_open();
}

}  // namespace sluice::tcp
