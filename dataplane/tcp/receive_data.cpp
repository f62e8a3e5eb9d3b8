// Data of a Receiver: in order and out of order, the receive window, and when to acknowledge. Called by
// segment_arrival.cpp after a segment passed the checks, and by the owner that reads data and sets the receive room.
// The right edge of the advertised window never moves back (RFC 9293 section 3.8.6).

#include <algorithm>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {

void Receiver::reset() {
  const WindowUpdates updates = bits_.window_updates;
  bits_ = Bits();
  bits_.window_updates = updates;
  ts_recent_at_ = 0;
  rcv_ = Sequence();
  discarded_ = 0;
  out_of_order_ = 0;
}

void Receiver::start_receiving(std::uint16_t local_mss, Instant now) {
  set_local_mss(local_mss);
  last_challenge_ = static_cast<std::uint16_t>(tick::ms8(now) - challenge_spacing);
}

void Receiver::begin_stream(SeqNum nxt, SeqNum adv) {
  rcv_.nxt = rcv_.last_ack_sent = nxt;
  rcv_.adv = adv;
}

void Receiver::begin_timestamps(std::uint32_t ts_value, Instant now) {
  rcv_.ts_recent = rcv_.newest_ts = ts_value;
  ts_recent_at_ = tick::s137(now);
}

/// Removes all unread data from the receive window without granting its space to the peer again. Returns the number of
/// these bytes; the caller removes the packets from in_order(). Unless WindowUpdates is `sparing`, schedules a window
/// update if reading the bytes would make it due.
std::uint32_t Receiver::hand_over_unread() {
  const std::uint32_t taken = std::exchange(rcv_.unread, 0);
  if (bits_.window_updates != WindowUpdates::sparing) [[unlikely]]
    consider_window_update();
  room_ -= std::min(room_, taken);
  return taken;
}

packet::Packet Receiver::read() {
  if (in_order_.empty()) return {};
  packet::Packet first = in_order_.pop_front();
  rcv_.unread -= first.note().payload_len;
  consider_window_update();
  return first;
}

/// Processes data and FIN of an acceptable segment that the fast paths (data in order, no loss) do not accept.
void Receiver::accept_data(const Segment& segment, packet::Packet&& payload, Instant now) {
  if (bits_.fin_received) {  // nothing can follow a FIN
    bits_.ack_now = true;
    return;
  }
  if (uses_ecn()) on_ce_mark(segment);
  const SeqNum end = segment.seq + segment.payload_len;
  if (segment.flags.fin() && !bits_.fin_known && end <= later(rcv_.adv, rcv_.nxt)) {
    bits_.fin_known = true;
    fin_seq_ = end;
  }
  if (payload) {
    accept_payload(segment.seq, std::move(payload), now);
  } else if (segment.payload_len != 0) {  // no memory for the payload
    count(discarded_);
    bits_.ack_now = true;
  }
  if (bits_.fin_known && rcv_.nxt >= fin_seq_) receive_fin(now);
  if (segment.flags.fin() && !bits_.acks_deferred) bits_.ack_now = true;
}

/// Cuts the payload to the receive window, then appends it in order or stores it out of order.
void Receiver::accept_payload(SeqNum seq, packet::Packet&& payload, Instant now) {
  const std::uint32_t length = payload.note().payload_len;
  const SeqNum limit = bits_.fin_known ? earlier(rcv_.adv, fin_seq_) : rcv_.adv;
  const SeqNum begin = later(seq, rcv_.nxt);
  const SeqNum end = earlier(seq + length, limit);
  if (begin >= end) {
    count(discarded_);
    if (length == 1 && seq == rcv_.nxt && probes_window()) {  // the octet at the edge of a closed window
      bits_.keepalive_pending = true;
    } else {
      bits_.ack_now = true;
    }
    return;
  }
  payload.note().seq = seq.raw();
  if (begin > seq) {
    report_duplicate(seq, begin);
    trim_payload_front(payload, static_cast<std::uint32_t>(begin - seq));
    bits_.ack_now = true;
  }
  if (end < seq + length) {
    truncate_payload(payload, static_cast<std::uint32_t>(end - begin));
    bits_.ack_now = true;
  }
  if (begin != rcv_.nxt) {
    payload.note().received = now;
    accept_out_of_order(std::move(payload));
    return;
  }
  append_in_order(std::move(payload));
  if (!reassembling()) {
    schedule_ack(1, now);
    return;
  }
  drain_reassembly();
}

/// Stores an out-of-order payload. Schedules a duplicate ACK, unless the endpoint's owner withholds the ACK of earlier
/// data.
void Receiver::accept_out_of_order(packet::Packet&& payload) {
  // While acknowledgements are held, no SACK block is reported, because the peer would take the withheld data for lost.
  if (!holding_back()) bits_.ack_now = true;
  if (!ensure_recovery_state().reassembly.insert(std::move(payload), reassembly_limits())) {
    count(discarded_);
    return;
  }
  count(out_of_order_);
  if (!uses_sack() && bits_.duplicates_due < max_duplicates_due) ++bits_.duplicates_due;
}

/// Returns the limits of the reassembly queue. Payloads are joined up to the size of one segment only, because a joined
/// packet is forwarded as one segment.
///
/// The peer may fill the offered window. Two consecutive packets together contain more than one segment size, because
/// smaller ones are joined. Twice as many packets as full segments fit the window thus suffice for data without holes.
/// Small segments with holes between them need more packets. Up to 4096 packets (min_stored_packets) are therefore
/// stored even if the window is small.
Reassembly::Limits Receiver::reassembly_limits() const {
  const std::uint32_t joined = payload_within(local_mss());
  const auto offered = static_cast<std::uint32_t>(std::max(rcv_.adv - rcv_.nxt, 0));
  const std::uint32_t needed = 2 * (offered / std::max(joined, 1U));
  return {.packets = std::min(config().max_out_of_order, std::max(needed, Reassembly::min_stored_packets)),
          .joined = joined};
}

/// Delivers the out-of-order data that follows a filled hole, and acknowledges at once (RFC 5681 section 4.2). The work
/// is bounded: every delivered packet arrived in a segment of its own, and Reassembly::Limits limits the number of
/// stored packets.
void Receiver::drain_reassembly() {
  if (!bits_.acks_deferred) bits_.ack_now = true;
  bits_.duplicates_due = 0;
  packet::Queue ready;
  ensure_recovery_state().reassembly.take(rcv_.nxt, ready);
  while (!ready.empty()) append_in_order(ready.pop_front());
  ensure_recovery_state().reassembly.sack_generator().advance(rcv_.nxt);
}

/// Records that the bytes [left, right) arrived twice, to be reported as D-SACK (RFC 2883).
void Receiver::report_duplicate(SeqNum left, SeqNum right) {
  if (uses_sack() && left < right) ensure_recovery_state().reassembly.sack_generator().duplicate({left, right});
}

void Receiver::defer_acks() {
  bits_.acks_deferred = true;
}

void Receiver::stop_deferring_acks() {
  bits_.acks_deferred = false;
  send_ack_now();
}

void Receiver::acknowledge_up_to(SeqNum limit) {
  const SeqNum allowed = earlier(limit, rcv_.nxt);
  if (allowed <= rcv_.last_ack_sent) return;
  rcv_.last_ack_sent = allowed;
  bits_.ack_now = true;
}

void Receiver::set_receive_room(Bytes room, WindowUpdates updates) {
  bits_.window_updates = updates;
  const std::uint32_t before = room_;
  room_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(room.count(), 0, 1 << 30));
  if (room_ > before) consider_window_update();
}

bool Receiver::add_receive_space(std::uint32_t bytes) {
  const auto open = static_cast<std::uint32_t>(std::max(rcv_.adv - rcv_.nxt, 0));
  if (room_ == 0 || open <= room_ / 2 || bits_.window_updates != WindowUpdates::sparing) return false;
  room_ += bytes;
  if (!edge_may_move(window_update_step())) [[likely]]
    return true;
  room_ -= bytes;
  return false;
}

/// True if a move of the right edge by `gain` bytes justifies a window update, although it is less than
/// window_update_step(). The peer sees a window rounded down to the scale, and waits while no segment fits that window
/// (RFC 9293 section 3.8.6.2.1). If the peer waits, a move is large enough once a segment fits again.
bool Receiver::is_window_update_due(std::int32_t gain) const {
  const auto half = static_cast<std::int32_t>(room_ / 2);
  const std::int32_t unit = 1 << bits_.rcv_shift;
  const std::int32_t open = rcv_.adv - rcv_.nxt;
  const std::int32_t useful = std::max(unit, std::min<std::int32_t>(local_mss(), half));
  if ((open & -unit) >= useful) return gain >= half;
  return ((open + gain) & -unit) >= useful;
}

}  // namespace sluice::tcp
