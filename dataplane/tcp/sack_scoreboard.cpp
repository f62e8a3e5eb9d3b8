#include <cassert>

#include "dataplane/tcp/send_queue.hpp"

// The scoreboard of RFC 6675 on the packets of a send queue. Marks live in the packets' notes.

namespace sluice::tcp {
namespace {

bool sacked(packet::Cursor at) {
  return (at.note().flags & SendMark::sacked) != 0;
}

SeqNum first(packet::Cursor at) {
  return SeqNum(at.note().seq);
}

SeqNum end(packet::Cursor at) {
  return SeqNum(at.note().seq) + at.note().payload_len;
}

/// The last packet of the sacked run that `begin` belongs to. The way found is noted, so that the next walk jumps: a
/// note only ever points forward, and packets leave from the front, so it never points to one that is gone.
packet::Cursor run_last(packet::Cursor begin) {
  packet::Cursor last = begin;
  while (true) {
    const packet::Cursor known = packet::Cursor::from_bits(last.note().scratch64_b);
    const packet::Cursor following = known ? known : last.next();
    if (!following || !sacked(following)) break;
    last = following;
  }
  if (!(last == begin)) begin.note().scratch64_b = last.bits();
  return last;
}

}  // namespace

bool SendQueue::front_sacked() const {
  return outstanding() && sacked(packets_.front());
}

bool SendQueue::front_lost() const {
  return outstanding() && (packets_.front().note().flags & SendMark::lost) != 0;
}

bool SendQueue::front_repeated() const {
  return outstanding() && (packets_.front().note().flags & SendMark::retransmitted) != 0;
}

void SendQueue::mark_sacked(std::span<const SackBlock> blocks, SeqNum una, SeqNum nxt, AckEvent& event) {
  for (const SackBlock& block : blocks) {
    // A block at or below SND.UNA reports a duplicate (RFC 2883); one beyond SND.NXT is nonsense.
    if (block.left < una || block.left >= block.right || block.right > nxt) continue;
    mark_block(block, event);
  }
}

void SendQueue::mark_block(const SackBlock& block, AckEvent& event) {
  const bool above = highest_sacked_ && first(highest_sacked_) <= block.left;
  packet::Cursor at = above ? highest_sacked_ : packets_.front();
  while (at && !(at == unsent_) && first(at) < block.left) at = (sacked(at) ? run_last(at) : at).next();
  while (at && !(at == unsent_) && end(at) <= block.right) {
    if (sacked(at)) {
      at = run_last(at).next();
      continue;
    }
    mark_sacked(at, event);
    at = at.next();
  }
}

void SendQueue::mark_sacked(packet::Cursor position, AckEvent& event) {
  packet::PacketNote& note = position.note();
  sample(note, event);
  const bool counted = (note.flags & SendMark::lost) == 0;
  const bool copied = (note.flags & SendMark::retransmitted) != 0;
  in_flight_ -= ((counted ? 1U : 0U) + (copied ? 1U : 0U)) * note.payload_len;
  if (!counted && !copied) to_retransmit_ -= note.payload_len;
  note.flags = SendMark::sacked;
  event.newly_sacked += note.payload_len;
  if (!loss_edge_ || first(position) >= first(loss_edge_)) ++sacked_above_;
  if (!highest_sacked_ || first(position) > first(highest_sacked_)) highest_sacked_ = position;
}

void SendQueue::mark_lost(packet::PacketNote& note, AckEvent& event) {
  if ((note.flags & (SendMark::lost | SendMark::sacked)) != 0) return;
  note.flags |= SendMark::lost;
  in_flight_ -= note.payload_len;
  if ((note.flags & SendMark::retransmitted) == 0) to_retransmit_ += note.payload_len;
  event.newly_lost += note.payload_len;
}

// The edge moves up as long as enough is sacked above it, so every packet is looked at once.
void SendQueue::mark_lost_by_sack(AckEvent& event) {
  while (sacked_above_ >= threshold) {
    const packet::Cursor at = loss_edge_ ? loss_edge_ : packets_.front();
    if (sacked(at)) {
      --sacked_above_;
    } else {
      mark_lost(at.note(), event);
    }
    loss_edge_ = at.next();  // there is one: sacked packets lie above
  }
}

void SendQueue::mark_front_lost(AckEvent& event) {
  if (!outstanding()) return;
  mark_lost(packets_.front().note(), event);
  retransmit_ = packet::Cursor();
}

void SendQueue::mark_all_lost() {
  in_flight_ = to_retransmit_ = sacked_above_ = 0;
  retransmit_ = loss_edge_ = packet::Cursor();
  for (packet::Cursor at = packets_.front(); at && !(at == unsent_); at = at.next()) {
    if (sacked(at)) {
      ++sacked_above_;
      continue;
    }
    at.note().flags = SendMark::lost;
    to_retransmit_ += at.note().payload_len;
  }
}

void SendQueue::unmark_lost() {
  in_flight_ = to_retransmit_ = sacked_above_ = 0;
  retransmit_ = loss_edge_ = packet::Cursor();
  for (packet::Cursor at = packets_.front(); at && !(at == unsent_); at = at.next()) {
    if (sacked(at)) {
      ++sacked_above_;
      continue;
    }
    at.note().flags = 0;
    in_flight_ += at.note().payload_len;
  }
}

void SendQueue::forget_sacks() {
  for (packet::Cursor at = packets_.front(); at && !(at == unsent_); at = at.next()) {
    if (!sacked(at)) continue;
    at.note().flags = 0;
    at.note().scratch64_b = 0;
    in_flight_ += at.note().payload_len;
  }
  sacked_above_ = 0;
  highest_sacked_ = packet::Cursor();
}

packet::Cursor SendQueue::next_retransmission() const {
  if (to_retransmit_ == 0) return {};
  packet::Cursor at = retransmit_ ? retransmit_ : packets_.front();
  constexpr std::uint8_t marks = SendMark::lost | SendMark::retransmitted | SendMark::sacked;
  while ((at.note().flags & marks) != SendMark::lost) {
    at = at.next();
    assert(at);
  }
  retransmit_ = at;
  return at;
}

packet::Cursor SendQueue::next_speculative() const {
  if (!highest_sacked_) return {};
  packet::Cursor at = loss_edge_ ? loss_edge_ : packets_.front();
  for (; at && first(at) < first(highest_sacked_); at = at.next()) {
    if ((at.note().flags & (SendMark::sacked | SendMark::retransmitted)) == 0) return at;
  }
  return {};
}

packet::Cursor SendQueue::last_unsacked() const {
  packet::Cursor last;
  for (packet::Cursor at = packets_.front(); at && !(at == unsent_); at = at.next()) {
    if (!sacked(at)) last = at;
  }
  return last;
}

}  // namespace sluice::tcp
