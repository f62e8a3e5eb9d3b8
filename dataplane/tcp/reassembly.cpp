#include "dataplane/tcp/reassembly.hpp"

#include <algorithm>
#include <cassert>

#include "dataplane/packet/checksum.hpp"

namespace sluice::tcp {
namespace {

SeqNum first(packet::Cursor at) {
  return SeqNum(at.note().seq);
}

SeqNum end(packet::Cursor at) {
  return SeqNum(at.note().seq) + at.note().payload_len;
}

/// The last packet of the run that begins with `begin`. A note only points forward within its run, and packets leave a
/// run from its front (or are replaced together with what points to them, see drop_covered).
packet::Cursor run_last(packet::Cursor begin) {
  packet::Cursor last = begin;
  while (true) {
    const packet::Cursor known = packet::Cursor::from_bits(last.note().scratch64_b);
    const packet::Cursor following = known ? known : last.next();
    if (!following || (!known && first(following) != end(last))) break;
    last = following;
  }
  if (!(last == begin)) begin.note().scratch64_b = last.bits();
  return last;
}

}  // namespace

Reassembly::Place Reassembly::find(SeqNum seq) const {
  // The common case: the first segment behind a new hole.
  if (packets_.empty() || end(packets_.back()) < seq) return {packet::Cursor(), packets_.back()};
  Place place;
  for (packet::Cursor at = packets_.front(); at && first(at) <= seq;) {
    place.run = at;
    place.before = run_last(at);
    at = place.before.next();
  }
  return place;
}

void Reassembly::insert(packet::Packet packet) {
  packet::PacketNote& note = packet.note();
  note.scratch64_b = 0;
  const SeqNum seq(note.seq);
  const SeqNum stop = seq + note.payload_len;
  Place place = find(seq);
  if (place.run) {
    const SeqNum held = end(place.before);
    if (seq < held) report_.duplicate({seq, earlier(stop, held)});
    if (stop <= held) {
      report_.add({first(place.run), held});
      return;
    }
    if (seq < held) trim_payload_front(packet, static_cast<std::uint32_t>(held - seq));
    if (held < seq) place.run = packet::Cursor();  // a run of its own
  }
  drop_covered(place.before, stop);
  const packet::Cursor next = place.before ? place.before.next() : packets_.front();
  if (next && first(next) < stop) {
    truncate_payload(packet, static_cast<std::uint32_t>(first(next) - SeqNum(note.seq)));
  }
  packets_.insert_after(place.before, std::move(packet));
  ++count_;
  if (!place.run) place.run = place.before ? place.before.next() : packets_.front();
  report_.add({first(place.run), end(run_last(place.run))});
}

// A segment cut differently than before may cover whole packets. They are the first ones of their run, so no note of a
// packet that stays points to one that goes.
void Reassembly::drop_covered(packet::Cursor before, SeqNum stop) {
  while (true) {
    const packet::Cursor next = before ? before.next() : packets_.front();
    if (!next || end(next) > stop) return;
    packets_.remove_after(before).reset();
    --count_;
  }
}

packet::Packet Reassembly::take(SeqNum rcv_nxt) {
  while (!packets_.empty() && first(packets_.front()) <= rcv_nxt) {
    const bool old = end(packets_.front()) <= rcv_nxt;
    packet::Packet packet = packets_.pop_front();
    --count_;
    if (old) continue;
    const std::int32_t surplus = rcv_nxt - SeqNum(packet.note().seq);
    if (surplus > 0) trim_payload_front(packet, static_cast<std::uint32_t>(surplus));
    return packet;
  }
  return {};
}

std::uint8_t Reassembly::runs(packet::Cursor& from, std::span<SackBlock> out) const {
  packet::Cursor at = from ? from : packets_.front();
  std::uint8_t count = 0;
  for (; at && count < out.size(); ++count) {
    const packet::Cursor last = run_last(at);
    out[count] = {first(at), end(last)};
    at = last.next();
  }
  from = at;
  return count;
}

void Reassembly::clear() {
  packets_.clear();
  report_.clear();
  count_ = 0;
}

void trim_payload_front(packet::Packet& packet, std::uint32_t count) {
  packet::PacketNote& note = packet.note();
  assert(count < note.payload_len && packet.size() == note.payload_len);
  packet.trim_front(static_cast<std::uint16_t>(count));
  note.payload_len = packet.size();
  note.seq += count;
  note.payload_sum = packet::ones_complement_sum(packet.bytes());
}

void truncate_payload(packet::Packet& packet, std::uint32_t length) {
  packet::PacketNote& note = packet.note();
  assert(length > 0 && length <= note.payload_len && packet.size() == note.payload_len);
  packet.truncate(static_cast<std::uint16_t>(length));
  note.payload_len = packet.size();
  note.payload_sum = packet::ones_complement_sum(packet.bytes());
}

}  // namespace sluice::tcp
