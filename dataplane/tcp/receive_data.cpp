#include <algorithm>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"

// The receiving half: data in order, the window we offer, and when to acknowledge.

namespace sluice::tcp {
packet::Packet Endpoint::read() {
  if (in_order_.empty()) return {};
  packet::Packet first = in_order_.pop_front();
  rcv_.unread -= first.note().payload_len;
  consider_window_update();
  return first;
}

/// The slow path: anything but the next data in order into an empty reassembly queue.
void Endpoint::accept_data(const Segment& segment, packet::Packet&& payload, Instant now) {
  if (bits_.fin_received) {  // nothing can follow a FIN
    bits_.ack_now = true;
    return;
  }
  if (bits_.use_ecn) heed_mark(segment);
  const SeqNum end = segment.seq + segment.payload_len;
  if (segment.flags.fin() && !bits_.fin_known && end <= later(rcv_.edge, rcv_.nxt)) {
    bits_.fin_known = true;
    fin_seq_ = end;
  }
  if (payload) {
    accept_payload(segment.seq, std::move(payload), now);
  } else if (segment.payload_len != 0) {  // there was no memory for it
    count(counters_.discarded);
    bits_.ack_now = true;
  }
  if (bits_.fin_known && rcv_.nxt >= fin_seq_) receive_fin(now);
  if (segment.flags.fin() && !bits_.acks_held) bits_.ack_now = true;
}

/// Cuts the payload to the window and puts it where it belongs.
void Endpoint::accept_payload(SeqNum seq, packet::Packet&& payload, Instant now) {
  const std::uint32_t length = payload.note().payload_len;
  const SeqNum limit = bits_.fin_known ? earlier(rcv_.edge, fin_seq_) : rcv_.edge;
  const SeqNum begin = later(seq, rcv_.nxt);
  const SeqNum end = earlier(seq + length, limit);
  if (begin >= end) {
    count(counters_.discarded);
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

void Endpoint::accept_out_of_order(packet::Packet&& payload) {
  // A block reported behind what is held back would make that look lost: the hole is told of when it is all that is.
  if (!holding_back()) bits_.ack_now = true;
  if (!disturb().reassembly.insert(std::move(payload), reassembly_limits())) {
    count(counters_.discarded);
    return;
  }
  count(counters_.out_of_order);
  if (!bits_.use_sack && bits_.duplicates_due < most_duplicates_due) ++bits_.duplicates_due;
}

/// A packet that segments were joined in is sent on as one: it is no larger than what this peer's segments may be, as
/// on both sides of a relay the same was agreed on.
///
/// The peer may fill the window that was offered, so all of it is kept where its segments are not small: two packets
/// that follow each other hold more than `joined` bytes. Small segments with holes between them take more packets for
/// their bytes, and of those no more than `always_held` are kept.
Reassembly::Limits Endpoint::reassembly_limits() const {
  const std::uint32_t joined = payload_within(mtu_.local_mss);
  const auto offered = static_cast<std::uint32_t>(std::max(rcv_.edge - rcv_.nxt, 0));
  const std::uint32_t needed = 2 * (offered / std::max(joined, 1U));
  return {.packets = std::min(config_->max_out_of_order, std::max(needed, Reassembly::always_held)), .joined = joined};
}

/// A hole was filled (RFC 5681 section 4.2: acknowledge at once). What follows it becomes readable at once, however
/// much it is: every packet of it was paid for by a segment that came before, so no sequence of segments costs more
/// than its number. More than the window it is never, nor more packets than Reassembly::Limits allows.
void Endpoint::drain_reassembly() {
  if (!bits_.acks_held) bits_.ack_now = true;
  bits_.duplicates_due = 0;
  packet::Queue ready;
  disturb().reassembly.take(rcv_.nxt, ready);
  while (!ready.empty()) append_in_order(ready.pop_front());
  disturb().reassembly.report().advance(rcv_.nxt);
}

void Endpoint::report_duplicate(SeqNum left, SeqNum right) {
  if (bits_.use_sack && left < right) disturb().reassembly.report().duplicate({left, right});
}

void Endpoint::hold_acknowledgements() {
  bits_.acks_held = true;
}

void Endpoint::acknowledge_freely() {
  bits_.acks_held = false;
  hurry_acknowledgement();
}

void Endpoint::acknowledge_up_to(SeqNum limit) {
  const SeqNum allowed = earlier(limit, rcv_.nxt);
  if (allowed <= rcv_.last_ack_sent) return;
  rcv_.last_ack_sent = allowed;
  bits_.ack_now = true;
}

void Endpoint::set_receive_room(Bytes room, WindowUpdates updates) {
  bits_.window_updates = updates;
  const std::uint32_t before = room_;
  room_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(room.count(), 0, 1 << 30));
  if (room_ > before) consider_window_update();
}

bool Endpoint::regain_room(std::uint32_t bytes) {
  const auto open = static_cast<std::uint32_t>(std::max(rcv_.edge - rcv_.nxt, 0));
  if (room_ == 0 || open <= room_ / 2 || bits_.window_updates != WindowUpdates::sparing) return false;
  room_ += bytes;
  if (!edge_may_move(window_update_step())) [[likely]]
    return true;
  room_ -= bytes;
  return false;
}

/// The peer sees a window that is rounded down to the scale, and waits while no segment fits into it (RFC 9293 section
/// 3.8.6.2.1): from such a one any move counts that makes one fit.
bool Endpoint::worth_moving(std::int32_t gain) const {
  const auto half = static_cast<std::int32_t>(room_ / 2);
  const std::int32_t unit = 1 << bits_.rcv_shift;
  const std::int32_t open = rcv_.edge - rcv_.nxt;
  const std::int32_t useful = std::max(unit, std::min<std::int32_t>(mtu_.local_mss, half));
  if ((open & -unit) >= useful) return gain >= half;
  return ((open + gain) & -unit) >= useful;
}

}  // namespace sluice::tcp
