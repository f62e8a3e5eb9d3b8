// SACK scoreboard of a send queue (RFC 6675) and loss marks by time (RFC 8985). Marks are bits in the packets' notes;
// the search positions are in Scoreboard. Called by ack_processing.cpp and recovery.cpp for connections that hold a
// RecoveryState. in_flight_ and to_retransmit change together with every mark.

#include <algorithm>
#include <cassert>

#include "dataplane/tcp/delivery_rate.hpp"
#include "dataplane/tcp/send_queue.hpp"
#include "dataplane/tcp/stream_range.hpp"

namespace sluice::tcp {
namespace {

bool is_sacked(packet::Cursor at) {
  return (at.note().flags & SendMark::sacked) != 0;
}

/// Returns the last packet of the run of sacked packets that `begin` belongs to. Stores the result in the metadata of
/// `begin` (PacketNote::scratch64_b), so that the next search skips the run. The stored packet is always a later one,
/// and packets leave the queue from the front. So it is in the queue as long as `begin` is.
packet::Cursor run_last(packet::Cursor begin) {
  packet::Cursor last = begin;
  while (true) {
    const packet::Cursor known = packet::Cursor::from_bits(last.note().scratch64_b);
    const packet::Cursor following = known ? known : last.next();
    if (!following || !is_sacked(following)) break;
    last = following;
  }
  if (!(last == begin)) begin.note().scratch64_b = last.bits();
  return last;
}

Transmission transmission(packet::Cursor at) {
  return transmission_of(at.note());
}

/// Records in `delivery` that the packet `at` was delivered (RFC 8985 section 6.2, steps 2 and 3).
void deliver(packet::Cursor at, Delivery& delivery) {
  const bool once = at.note().transmissions == 1;
  if (once && end(at) <= delivery.fack) delivery.reordered = true;
  const Transmission sent = transmission(at);
  if (!once && (delivery.originals || delivery.now - sent.at < delivery.min_rtt)) return;  // an original arrived
  if (!delivery.any || delivery.newest < sent) delivery.newest = sent;
  delivery.any = true;
}

/// Reports to the delivery-rate estimator that the part of the packet before `ack` was delivered.
void count_delivered(packet::Cursor at, SeqNum ack, DeliveryRate& rate) {
  if (end(at) <= ack) {
    rate.on_delivered(at.note());
  } else {
    rate.on_part_delivered(static_cast<std::uint32_t>(ack - first(at)));
  }
}

}  // namespace

bool SendQueue::front_sacked() const {
  return outstanding() && is_sacked(packets_.front());
}

bool SendQueue::front_overtaken(const Delivery& delivery) const {
  return delivery.any && outstanding() && transmission(packets_.front()) < delivery.newest;
}

bool SendQueue::front_lost() const {
  return outstanding() && (packets_.front().note().flags & SendMark::lost) != 0;
}

bool SendQueue::front_retransmitted() const {
  return outstanding() && (packets_.front().note().flags & SendMark::retransmitted) != 0;
}

Delivery SendQueue::begin_delivery(SeqNum una) const {
  Delivery delivery;
  delivery.fack = sacked() != 0 ? recovery_state_->scoreboard.fack : una;
  return delivery;
}

void SendQueue::record_delivered(SeqNum ack, Delivery& delivery) const {
  for (packet::Cursor at = packets_.front(); at && !(at == unsent_) && first(at) < ack; at = at.next()) {
    if (!is_sacked(at)) {
      if (delivery.rate != nullptr) count_delivered(at, ack, *delivery.rate);
      if (end(at) <= ack) deliver(at, delivery);
      continue;
    }
    delivery.known += static_cast<std::uint32_t>(earlier(end(at), ack) - first(at));
  }
}

void SendQueue::mark_sacked(std::span<const SackBlock> blocks, SeqNum una, SeqNum nxt, AckEvent& event,
                            Delivery& delivery) {
  int steps = max_steps;
  for (const SackBlock& block : blocks) {
    // A block at or below SND.UNA is a D-SACK (RFC 2883); one beyond SND.NXT is invalid.
    if (block.left < una || block.left >= block.right || block.right > nxt) continue;
    // Only the first block has new data (RFC 2018 section 4). The others repeat what earlier ACKs have reported.
    if (!mark_block(block, steps, event, delivery) && &block == blocks.data())
      event.misplaced_sack = static_cast<std::uint32_t>(block.right - una);
  }
}

/// Marks the packets that `block` covers. `steps` is the number of packets that the search may still pass without
/// marking one. Returns false if the block ends inside a packet.
bool SendQueue::mark_block(const SackBlock& block, int& steps, AckEvent& event, Delivery& delivery) {
  packet::Cursor at = nearest_before(block.left);
  packet::Cursor last_passed = at;
  for (; at && !(at == unsent_) && first(at) < block.left; --steps) {
    if (steps <= 0) {
      record_found(last_passed);
      mark_newest(block, event, delivery);
      return true;
    }
    last_passed = at;
    at = (is_sacked(at) ? run_last(at) : at).next();
  }
  if (at && !(at == unsent_)) record_found(at);
  while (at && !(at == unsent_) && end(at) <= block.right) {
    if (is_sacked(at)) {
      if (--steps <= 0) {
        mark_newest(block, event, delivery);
        return true;
      }
      at = run_last(at).next();
      continue;
    }
    mark_sacked(at, event, delivery);
    at = at.next();
  }
  return !at || at == unsent_ || first(at) >= block.right;
}

/// Returns a packet from which to search for sequence number `place`. This is the nearest stored packet at or before
/// `place`: one at which an earlier search for a SACK block or for losses ended. If there is none, it is the front of
/// the queue.
packet::Cursor SendQueue::nearest_before(SeqNum place) const {
  const Scoreboard& board = recovery_state_->scoreboard;
  packet::Cursor nearest = packets_.front();
  const auto consider = [&](packet::Cursor at) {
    if (at && first(at) <= place && first(nearest) < first(at)) nearest = at;
  };
  consider(board.loss_edge);
  for (const packet::Cursor at : board.found) consider(at);
  return nearest;
}

/// Stores `at`, a packet at which a search for a SACK block ended, because later searches start there. It replaces the
/// packet stored longest ago.
void SendQueue::record_found(packet::Cursor at) {
  Scoreboard& board = scoreboard();
  if (std::ranges::find(board.found, at) != board.found.end()) return;
  board.found[board.oldest_found] = at;
  board.oldest_found = static_cast<std::uint8_t>((board.oldest_found + 1) % Scoreboard::places);
}

/// Discards stored positions at the packet `at`, which leaves the queue. These are the packets at which searches for
/// SACK blocks start, and the one at which the search for losses starts (loss_edge).
void SendQueue::forget_place(packet::Cursor at) {
  Scoreboard& board = scoreboard();
  if (board.loss_edge == at) board.loss_edge = packet::Cursor();
  std::ranges::replace(board.found, at, packet::Cursor());
}

/// Marks only the packet with the highest sequence number, if the block covers it; this needs no search. RACK needs
/// only this packet's send time to detect earlier losses.
void SendQueue::mark_newest(const SackBlock& block, AckEvent& event, Delivery& delivery) {
  const bool covered = block.left <= first(last_sent_) && end(last_sent_) <= block.right;
  if (covered && !is_sacked(last_sent_)) mark_sacked(last_sent_, event, delivery);
}

/// Marks one packet sacked and updates the bytes in flight.
void SendQueue::mark_sacked(packet::Cursor position, AckEvent& event, Delivery& delivery) {
  Scoreboard& board = scoreboard();
  if (board.sacked == UINT16_MAX) return;
  packet::PacketNote& note = position.note();
  sample(note, event);
  deliver(position, delivery);
  if (delivery.rate != nullptr) delivery.rate->on_delivered(note);
  const bool counted = (note.flags & SendMark::lost) == 0;
  const bool copied = (note.flags & SendMark::retransmitted) != 0;
  in_flight_ -= ((counted ? 1U : 0U) + (copied ? 1U : 0U)) * note.payload_len;
  if (!counted && !copied) board.to_retransmit -= note.payload_len;
  if (copied) unlink_retransmission(position);
  note.flags = SendMark::sacked;
  event.newly_sacked += note.payload_len;
  if (board.sacked == 0 || end(position) > board.fack) board.fack = end(position);
  ++board.sacked;
}

/// Marks a packet lost and due for retransmission. Neither the packet nor an earlier retransmission of it then counts
/// as in flight.
void SendQueue::lose(packet::Cursor at, AckEvent& event, DeliveryRate* rate) {
  Scoreboard& board = scoreboard();
  packet::PacketNote& note = at.note();
  const bool counted = (note.flags & SendMark::lost) == 0;
  const bool copied = (note.flags & SendMark::retransmitted) != 0;
  if ((note.flags & SendMark::sacked) != 0 || (!counted && !copied)) return;
  in_flight_ -= ((counted ? 1U : 0U) + (copied ? 1U : 0U)) * note.payload_len;
  if (copied) unlink_retransmission(at);
  note.flags = SendMark::lost;
  if (board.to_retransmit == 0 || (board.retransmit && first(at) < first(board.retransmit))) board.retransmit = at;
  board.to_retransmit += note.payload_len;
  event.newly_lost += note.payload_len;
  if (rate != nullptr) rate->on_lost(note);
}

std::uint32_t SendQueue::mark_overdue(const Rack& rack, std::uint32_t now, std::uint32_t window, AckEvent& event,
                                      DeliveryRate* rate) {
  Scoreboard& board = scoreboard();
  std::uint32_t wait = 0;
  const auto given_up = [&](packet::Cursor at) {
    const std::int32_t left = rack.time_until_lost(transmission(at), now, window);
    if (left <= 0) return true;
    const auto ticks = static_cast<std::uint32_t>(left);
    wait = wait == 0 ? ticks : std::min(wait, ticks);
    return false;
  };
  while (board.retransmissions && rack.overtaken(transmission(board.retransmissions)) &&
         given_up(board.retransmissions))
    lose(board.retransmissions, event, rate);
  packet::Cursor at = board.loss_edge ? board.loss_edge : packets_.front();
  while (at && !(at == unsent_)) {
    if (is_sacked(at)) {
      at = run_last(at).next();
    } else if (at.note().flags != 0) {
      at = at.next();
    } else if (rack.overtaken(transmission(at)) && given_up(at)) {
      lose(at, event, rate);
      at = at.next();
    } else {
      break;
    }
  }
  board.loss_edge = at;
  return wait;
}

void SendQueue::mark_front_lost(AckEvent& event, DeliveryRate* rate) {
  if (outstanding() && !front_lost()) lose(packets_.front(), event, rate);
}

void SendQueue::mark_lost_before(SeqNum limit, AckEvent& event, DeliveryRate* rate) {
  Scoreboard& board = scoreboard();
  packet::Cursor at = board.loss_edge ? board.loss_edge : packets_.front();
  for (; at && !(at == unsent_) && end(at) <= limit; at = at.next()) {
    if ((at.note().flags & SendMark::lost) == 0) lose(at, event, rate);
  }
  board.loss_edge = at;
}

void SendQueue::mark_lost_by_timeout(Instant before, AckEvent& event, DeliveryRate* rate) {
  for (packet::Cursor at = packets_.front(); at && !(at == unsent_); at = at.next()) {
    if (at == packets_.front() || at.note().sent <= before) lose(at, event, rate);
  }
}

std::uint32_t SendQueue::largest_before(SeqNum limit) const {
  std::uint32_t largest = 0;
  for (packet::Cursor at = packets_.front(); at && !(at == unsent_) && end(at) <= limit; at = at.next()) {
    largest = std::max<std::uint32_t>(largest, at.note().payload_len);
  }
  return largest;
}

void SendQueue::mark_lost_above(std::uint32_t payload, AckEvent& event) {
  for (packet::Cursor at = packets_.front(); at && !(at == unsent_); at = at.next()) {
    if (at.note().payload_len > payload) lose(at, event, nullptr);
  }
}

void SendQueue::unmark_lost() {
  Scoreboard& board = scoreboard();
  board.retransmit = board.loss_edge = packet::Cursor();
  while (board.retransmissions) {
    packet::PacketNote& note = board.retransmissions.note();
    if ((note.flags & SendMark::lost) == 0) in_flight_ -= note.payload_len;  // the packet was counted twice
    note.flags = 0;
    unlink_retransmission(board.retransmissions);
  }
  for (packet::Cursor at = packets_.front(); board.to_retransmit != 0; at = at.next()) {
    packet::PacketNote& note = at.note();
    if ((note.flags & SendMark::lost) == 0) continue;
    note.flags = 0;
    board.to_retransmit -= note.payload_len;
    in_flight_ += note.payload_len;
  }
}

void SendQueue::forget_sacks() {
  Scoreboard& board = scoreboard();
  for (packet::Cursor at = packets_.front(); at && !(at == unsent_); at = at.next()) {
    if (!is_sacked(at)) continue;
    at.note().flags = 0;
    at.note().scratch64_b = 0;
    in_flight_ += at.note().payload_len;
  }
  board.sacked = 0;
  board.loss_edge = packet::Cursor();
}

packet::Cursor SendQueue::next_retransmission() const {
  if (to_retransmit() == 0) return {};
  const Scoreboard& board = recovery_state_->scoreboard;
  packet::Cursor at = board.retransmit ? board.retransmit : packets_.front();
  constexpr std::uint8_t marks = SendMark::lost | SendMark::retransmitted | SendMark::sacked;
  while ((at.note().flags & marks) != SendMark::lost) {
    at = at.next();
    assert(at);
  }
  board.retransmit = at;
  return at;
}

/// Appends a packet to the ring of retransmissions, as the newest one.
void SendQueue::link_retransmission(packet::Cursor at) {
  Scoreboard& board = scoreboard();
  packet::PacketNote& note = at.note();
  if (!board.retransmissions) {
    note.scratch64 = note.scratch64_b = at.bits();
    board.retransmissions = at;
    return;
  }
  const packet::Cursor last = packet::Cursor::from_bits(board.retransmissions.note().scratch64_b);
  note.scratch64 = board.retransmissions.bits();
  note.scratch64_b = last.bits();
  last.note().scratch64 = board.retransmissions.note().scratch64_b = at.bits();
}

/// Removes a packet from the ring of retransmissions.
void SendQueue::unlink_retransmission(packet::Cursor at) {
  Scoreboard& board = scoreboard();
  packet::PacketNote& note = at.note();
  const packet::Cursor next = packet::Cursor::from_bits(note.scratch64);
  if (next == at) {
    board.retransmissions = packet::Cursor();
  } else {
    next.note().scratch64_b = note.scratch64_b;
    packet::Cursor::from_bits(note.scratch64_b).note().scratch64 = note.scratch64;
    if (board.retransmissions == at) board.retransmissions = next;
  }
  note.scratch64_b = 0;
}

}  // namespace sluice::tcp
