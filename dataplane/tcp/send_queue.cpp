// Send queue of one connection: appending, sending, cutting and acknowledging packets. Called by the Endpoint that owns
// it; sack_scoreboard.cpp marks losses and SACKs. in_flight() equals the pipe of RFC 6675 after every call. Packets
// stay in the order of their sequence numbers and are contiguous.

#include "dataplane/tcp/send_queue.hpp"

#include <algorithm>
#include <cassert>

#include "dataplane/packet/join.hpp"
#include "dataplane/packet/split.hpp"
#include "dataplane/tcp/stream_range.hpp"

namespace sluice::tcp {
namespace {

/// Returns how many transmissions of the packet count as in flight (SetPipe() of RFC 6675).
std::uint32_t copies_in_flight(const packet::PacketNote& note) {
  return ((note.flags & SendMark::lost) == 0 ? 1U : 0U) + ((note.flags & SendMark::retransmitted) != 0 ? 1U : 0U);
}

/// True if the packet is marked lost and not retransmitted yet.
bool awaits_retransmission(const packet::PacketNote& note) {
  return (note.flags & (SendMark::lost | SendMark::retransmitted)) == SendMark::lost;
}

}  // namespace

bool SendQueue::join_back(const packet::Packet& payload, std::uint32_t most) {
  if (!unsent_) return false;
  packet::BorrowedPacket last(packets_.back());
  return packet::join(*last, payload, most);
}

void SendQueue::resent(packet::Cursor position, Instant now) {
  packet::PacketNote& note = position.note();
  assert((note.flags & SendMark::sacked) == 0);  // scratch64_b of a sacked packet points to the end of its run; the
                                                 // ring of retransmissions needs the same field
  note.sent = now;
  if (const packet::Cursor first_copy = scoreboard().retransmissions) {  // keeps their order
    const packet::Cursor newest = packet::Cursor::from_bits(first_copy.note().scratch64_b);
    note.sent = std::max(now, newest.note().sent + Duration(1));
  }
  if (note.transmissions < UINT8_MAX) ++note.transmissions;
  if ((note.flags & SendMark::retransmitted) != 0) {
    unlink_retransmission(position);
  } else {
    if (awaits_retransmission(note)) scoreboard().to_retransmit -= note.payload_len;
    note.flags |= SendMark::retransmitted;
    in_flight_ += note.payload_len;
  }
  link_retransmission(position);
}

void SendQueue::push_front_of_unsent(packet::Packet packet) {
  const packet::Cursor before = last_sent();
  packet::PacketNote& note = packet.note();
  note.flags = 0;
  note.transmissions = 0;
  note.scratch64_b = 0;
  packets_.insert_after(before, std::move(packet));
  const packet::Cursor added = before ? before.next() : packets_.front();
  if (recovery_state_ != nullptr && scoreboard().loss_edge == unsent_) scoreboard().loss_edge = added;
  unsent_ = added;
}

bool SendQueue::cut(packet::Cursor position, std::uint32_t length) {
  packet::BorrowedPacket whole(position);
  packet::Packet front = packet::split_front(*whole, static_cast<std::uint16_t>(length));
  if (!front) return false;
  const packet::PacketNote& rest = position.note();
  packet::PacketNote& note = front.note();
  note.flags = rest.flags;
  note.transmissions = rest.transmissions;
  note.sent = rest.sent;
  note.scratch32 = rest.scratch32;
  note.scratch64 = rest.scratch64;
  note.scratch64_c = rest.scratch64_c;
  note.scratch64_b = 0;
  packet::Cursor before = last_sent();
  if (!(position == unsent_)) {
    // Packets are retransmitted in queue order. The newest retransmission thus lies shortly before the packet to cut,
    // and a piece cut off lies right before the rest. All cuts of one recovery together pass each packet once.
    const bool never_sent = note.transmissions == 0;
    packet::Cursor at = never_sent ? unsent_ : packets_.front();
    if (!never_sent && scoreboard().retransmissions) {
      const packet::Cursor newest = packet::Cursor::from_bits(scoreboard().retransmissions.note().scratch64_b);
      if (first(newest.note()) < first(note)) at = newest;
    }
    for (before = packet::Cursor(); !(at == position); at = at.next()) before = at;
  }
  packets_.insert_after(before, std::move(front));
  const packet::Cursor added = before ? before.next() : packets_.front();
  if (unsent_ == position) unsent_ = added;
  if (scoreboard().retransmit == position) scoreboard().retransmit = added;
  if (scoreboard().loss_edge == position) scoreboard().loss_edge = added;
  return true;
}

/// Removes the first packet, which is acknowledged completely, and takes its RTT sample.
inline void SendQueue::pop_acknowledged(AckEvent& event) {
  const packet::Cursor at = packets_.front();
  const packet::PacketNote& note = at.note();
  if (note.payload_len < small) [[unlikely]]
    ++event.small;
  if (note.flags == 0) [[likely]] {
    in_flight_ -= note.payload_len;
    if (note.transmissions == 1) event.rtt = event.now - note.sent;  // the newest delivery comes last
  } else {
    unmark(at, event);
  }
  if (recovery_state_ != nullptr) [[unlikely]]
    forget_place(at);
  packets_.pop_front().reset();
}

/// Removes a packet's contribution to the scoreboard before the packet leaves the queue.
void SendQueue::unmark(packet::Cursor at, AckEvent& event) {
  const packet::PacketNote& note = at.note();
  Scoreboard& board = scoreboard();
  if ((note.flags & SendMark::sacked) == 0) {
    sample(note, event);
    in_flight_ -= copies_in_flight(note) * note.payload_len;
    if (awaits_retransmission(note)) board.to_retransmit -= note.payload_len;
    if ((note.flags & SendMark::retransmitted) != 0) unlink_retransmission(at);
  } else {
    --board.sacked;
  }
  if (board.retransmit == at) board.retransmit = packet::Cursor();
}

void SendQueue::acknowledge(SeqNum ack, AckEvent& event) {
  while (outstanding() && end(packets_.front().note()) <= ack) pop_acknowledged(event);
  if (outstanding() && first(packets_.front().note()) < ack) trim_front(ack, event);
}

// Removes the acknowledged bytes from the first packet after a partial acknowledgement of it.
void SendQueue::trim_front(SeqNum ack, AckEvent& event) {
  event.misplaced = true;
  packet::BorrowedPacket front(packets_.front());
  packet::PacketNote& note = front->note();
  const auto count = static_cast<std::uint16_t>(ack - first(note));
  if ((note.flags & SendMark::sacked) == 0) {
    in_flight_ -= copies_in_flight(note) * count;
    if (awaits_retransmission(note)) scoreboard().to_retransmit -= count;
  }
  if (note.payload_len >= small && std::uint32_t{note.payload_len} - count < small)
    --event.small;  // it leaves the queue as a small one
  packet::skip_front(*front, count);
}

bool SendQueue::ends_packet(SeqNum ack) const {
  int steps = max_steps;
  for (packet::Cursor at = packets_.front(); at && !(at == unsent_) && end(at.note()) <= ack; at = at.next()) {
    if (end(at.note()) == ack || --steps == 0) return true;
  }
  return !outstanding() || end(last_sent_.note()) < ack;
}

void SendQueue::clear() {
  packets_.clear();
  unsent_ = last_sent_ = packet::Cursor();
  in_flight_ = 0;
  if (recovery_state_ != nullptr) scoreboard() = {};
}

// Takes an RTT sample from a packet that was sent once, because of Karn's rule. The smallest sample, which is that of
// the newest delivery, counts.
void SendQueue::sample(const packet::PacketNote& note, AckEvent& event) const {
  if (note.transmissions != 1) return;
  const Duration rtt = event.now - note.sent;
  if (event.rtt == AckEvent::no_rtt || rtt < event.rtt) event.rtt = rtt;
}

}  // namespace sluice::tcp
