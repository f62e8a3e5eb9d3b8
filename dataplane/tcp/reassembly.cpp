// Reassembly queue of one connection: inserts out-of-order packets into runs, merges runs when a hole is filled, and
// releases the run that RCV.NXT reaches. Called by receive_data.cpp for segments that passed the sequence check. Runs
// never touch or overlap, and each packet is paid for by one segment, so no peer can cause more work than it sends
// segments.

#include "dataplane/tcp/reassembly.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/join.hpp"
#include "dataplane/tcp/stream_range.hpp"

namespace sluice::tcp {
namespace {

using packet::Cursor;

/// Returns the last packet of a run (contiguous out-of-order bytes), which is identified by its first packet.
Cursor last(Cursor run) {
  return Cursor::from_bits(run.note().scratch64_c);
}

/// Stores `packet` as the last packet of a run (contiguous out-of-order bytes) in the metadata of the run's first
/// packet.
void set_last(Cursor run, Cursor packet) {
  run.note().scratch64_c = packet.bits();
}

/// Returns the sequence numbers that a run (contiguous out-of-order bytes) covers.
SackBlock block(Cursor run) {
  return {first(run), end(last(run))};
}

/// Returns the length in bytes of a run, that is, of contiguous out-of-order bytes.
std::uint32_t length(Cursor run) {
  return static_cast<std::uint32_t>(end(last(run)) - first(run));
}

}  // namespace

bool Reassembly::insert(packet::Packet packet, const Limits& limits) {
  const packet::PacketNote& note = packet.note();
  const SeqNum stop = SeqNum(note.seq) + note.payload_len;
  Cursor run = runs_.neighbours_of(SeqNum(note.seq)).before;
  if (run) {
    const SackBlock held = block(run);
    if (SeqNum(note.seq) < held.right) sack_generator_.duplicate({SeqNum(note.seq), earlier(stop, held.right)});
    if (stop <= held.right) {
      sack_generator_.add(held);
      return true;
    }
    if (SeqNum(note.seq) < held.right) {
      trim_payload_front(packet, static_cast<std::uint32_t>(held.right - SeqNum(note.seq)));
    }
    if (held.right < SeqNum(note.seq)) run = Cursor();  // a hole lies between
  }
  const SeqNum seq(note.seq);
  const bool freed = drop_covered(seq, stop);
  Cursor following = runs_.neighbours_of(seq).after;
  if (following && first(following) < stop) {
    truncate_payload(packet, static_cast<std::uint32_t>(first(following) - seq));
  }
  if (following && seq + note.payload_len != first(following)) following = Cursor();
  if (!join(run, following, packet, limits.joined)) {
    // The dropped runs freed memory for this packet, which covers all their bytes.
    if (!freed && !has_space(note.payload_len, !run && !following, limits)) return false;
    chain(run, following, std::move(packet));
  }
  if (run && following) unite(run, following, limits.joined);
  sack_generator_.add(block(runs_.neighbours_of(seq).before));
  return true;
}

/// True if another packet of `length` bytes may be stored. `of_its_own` is true if the packet starts a run (contiguous
/// bytes). The number of short runs is limited, because each short run uses a whole buffer for few bytes.
bool Reassembly::has_space(std::uint32_t length, bool of_its_own, const Limits& limits) const {
  if (of_its_own && length < thin && thin_ >= max_thin) return false;
  return count_ < std::min(limits.packets, capacity);
}

/// Copies the packet's bytes into the buffer of an adjoining packet if they fit: the last packet of `run`, which ends
/// where the bytes begin, or the first of `following`, which begins where they end. Either may be empty. A buffer holds
/// at most `joined` bytes of joined payload. Returns false if the bytes fit in neither.
bool Reassembly::join(Cursor run, Cursor following, const packet::Packet& packet, std::uint32_t joined) {
  if (run) {
    const std::uint32_t before = length(run);
    if (packet::join(*packet::BorrowedPacket(last(run)), packet, joined)) {
      recount(before, length(run));
      return true;
    }
  }
  if (!following) return false;
  const std::uint32_t before = length(following);
  if (!packet::join_front(packet, *packet::BorrowedPacket(following), joined)) return false;
  recount(before, length(following));
  return true;
}

/// Links the packet without copying it: to the end of `run` (contiguous bytes before it), else in front of `following`
/// (contiguous bytes after it). If both are empty, the packet starts a new run.
void Reassembly::chain(Cursor run, Cursor following, packet::Packet packet) {
  const Cursor added(packet.release());
  added.note().next = nullptr;
  ++count_;
  if (run) {
    const std::uint32_t before = length(run);
    last(run).note().next = added.buffer();
    set_last(run, added);
    recount(before, length(run));
  } else if (following) {
    const std::uint32_t before = length(following);
    added.note().next = following.buffer();
    set_last(added, last(following));
    runs_.replace(following, added);
    recount(before, length(added));
  } else {
    set_last(added, added);
    runs_.insert(added);
    recount(thin, length(added));
  }
}

/// Merges two runs of contiguous bytes, `run` and `following`, after the hole between them was filled. Joins their
/// adjoining packets in one buffer if both have at most `joined` bytes.
void Reassembly::unite(Cursor run, Cursor following, std::uint32_t joined) {
  const std::uint32_t before = length(run);
  take_out(following);
  const Cursor final_packet = last(following);
  packet::Packet head(following.buffer());
  Cursor rest = following;
  packet::BorrowedPacket back(last(run));
  if (packet::join(*back, head, joined)) {
    rest = following.next();
    --count_;
  } else {
    static_cast<void>(head.release());
  }
  if (rest) {
    last(run).note().next = rest.buffer();
    set_last(run, final_packet);
  }
  recount(before, length(run));
}

/// Drops the runs (contiguous out-of-order bytes) that lie inside [from, stop); returns true if there were any. The
/// work is bounded by the number of received segments, because each dropped packet arrived in one.
bool Reassembly::drop_covered(SeqNum from, SeqNum stop) {
  bool any = false;
  while (true) {
    const Cursor run = runs_.neighbours_of(from).after;
    if (!run || end(last(run)) > stop) return any;
    take_out(run);
    drop(run);
    any = true;
  }
}

/// Removes a run (contiguous out-of-order bytes) from the tree of runs; its packets stay linked.
void Reassembly::take_out(Cursor run) {
  runs_.erase(run);
  recount(length(run), thin);
}

/// Frees the packets of a run (contiguous out-of-order bytes) that was removed from the tree.
void Reassembly::drop(Cursor run) {
  while (run) {
    packet::Packet packet(run.buffer());
    run = run.next();
    --count_;
  }
}

/// Updates the number of short runs (contiguous bytes, fewer than `thin`) when a run changes from `before` to `after`
/// bytes. For a new run `before` is `thin`, for a removed one `after` is, because a run of that length is not short.
void Reassembly::recount(std::uint32_t before, std::uint32_t after) {
  if (before < thin) --thin_;
  if (after < thin) ++thin_;
}

void Reassembly::take(SeqNum rcv_nxt, packet::Queue& out) {
  for (Cursor run = runs_.first(); run && first(run) <= rcv_nxt; run = runs_.first()) {
    take_out(run);
    const Cursor final_packet = last(run);
    while (run && end(run) <= rcv_nxt) {
      packet::Packet old(run.buffer());
      run = run.next();
      --count_;
    }
    if (!run) continue;
    if (const std::int32_t surplus = rcv_nxt - first(run); surplus > 0) {
      trim_payload_front(*packet::BorrowedPacket(run), static_cast<std::uint32_t>(surplus));
    }
    for (Cursor at = run; at; at = at.next()) --count_;
    out.push_back_chain(run, final_packet);
    return;
  }
}

std::uint8_t Reassembly::runs(Cursor& from, std::span<SackBlock> out) const {
  Cursor at = from ? from : runs_.first();
  std::uint8_t count = 0;
  for (; at && count < out.size(); ++count) {
    out[count] = block(at);
    at = runs_.neighbours_of(first(at)).after;
  }
  from = at;
  return count;
}

void Reassembly::clear() {
  while (!runs_.empty()) {
    const Cursor run = runs_.any();
    runs_.erase(run);
    drop(run);
  }
  sack_generator_.clear();
  count_ = 0;
  thin_ = 0;
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
