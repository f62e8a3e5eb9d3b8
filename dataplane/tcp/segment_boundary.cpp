// Check of acknowledgements by the boundaries of segments. A peer that acknowledges data before it arrives (optimistic
// ACKs) has to guess where segments end (S. Savage et al., "TCP Congestion Control with a Misbehaving Receiver", 1999,
// section 4). The sender moves a boundary now and then, by an amount that the peer cannot know. No segment is delayed,
// reordered or sent twice for it. An honest receiver acknowledges whole segments, so its acknowledgements end at
// boundaries, and so do its SACK blocks. Each ACK that ends inside a segment is counted. From max_misplaced_acks on
// every boundary is moved, and acknowledgements that end inside a segment are ignored, as all SACK blocks are. Called
// by emit_data.cpp and by whatever processes an ACK.

#include <algorithm>
#include <utility>

#include "dataplane/packet/join.hpp"
#include "dataplane/packet/split.hpp"
#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {
namespace {

/// Smallest number of bytes between two segment boundaries that are moved, that is, placed where the peer cannot
/// predict them. The actual number is chosen at random, up to three times as large.
constexpr std::uint32_t spacing = 1U << 17U;
/// Number of bytes after which the sender tries again to move a segment boundary, if the last try was not possible.
constexpr std::uint32_t retry_after = 1U << 14U;
/// Number of bytes after which plan_boundary() is called again if no secret is configured, so that no boundary is
/// moved. It is below 128 MiB, because boundary_tick() cannot distinguish larger distances.
constexpr std::uint32_t far = 1U << 26U;
/// Number of segments in flight below which segment boundaries are not moved. With so few segments a peer gains nothing
/// by acknowledging data before it arrives.
constexpr std::uint32_t min_segments_in_flight = 2;
/// Smallest piece in bytes that is cut off a segment. Smaller pieces would count as small segments, whose number in
/// flight is limited.
constexpr std::uint32_t min_piece = SendQueue::small;

/// Returns a number below `limit` that depends on the secret and on a sequence number (splitmix64, G. L. Steele et al.,
/// 2014).
std::uint32_t secret_number(std::uint64_t secret, SeqNum seq, std::uint32_t limit) {
  std::uint64_t mixed = secret + (std::uint64_t{seq.raw()} + 1) * 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ mixed >> 30U) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ mixed >> 27U) * 0x94d049bb133111ebU;
  return static_cast<std::uint32_t>((mixed ^ mixed >> 31U) % limit);
}

}  // namespace

/// Chooses where the sender moves a segment boundary next, so that the peer cannot predict where that segment ends. The
/// boundary is the first one after a sequence number that depends on the secret.
void Sender::plan_boundary() {
  const std::uint64_t secret = config().boundary_secret;
  postpone_boundary(secret == 0 ? far : spacing + secret_number(secret, snd_.nxt, 2 * spacing));
}

/// Moves no segment boundary until `bytes` more are sent. The first boundary after them is then moved. If the peer has
/// sent max_misplaced_acks or more ACKs that end inside a segment, `bytes` counts as 0, so that every boundary is
/// moved.
void Sender::postpone_boundary(std::uint32_t bytes) {
  boundary_at_ = boundary_tick(snd_.nxt + (suspects_optimistic_acks() ? 0 : bytes));
}

/// Moves the boundary between the first and the second unsent segment to a later sequence number, which the peer cannot
/// predict. A full segment cannot be extended. So this call then only cuts off its front as a separate segment, and the
/// next call extends the rest.
void Sender::move_boundary(Output& output) {
  const packet::Cursor next = queue().unsent();
  const bool few = queue().in_flight() < min_segments_in_flight * mtu_.mss && !suspects_optimistic_acks();
  if (config().boundary_secret == 0 || few || bits_.small_path || !next.next()) {
    return config().boundary_secret == 0 ? plan_boundary() : postpone_boundary(retry_after);
  }
  const std::uint32_t length = next.note().payload_len;
  const std::uint32_t chosen = secret_number(config().boundary_secret, snd_.nxt, min_piece);
  if (length + min_piece > mtu_.mss) {
    if (!cut_before_boundary(min_piece + chosen, output)) postpone_boundary(retry_after);
    return;
  }
  const std::uint32_t space = mtu_.mss - length;
  if (take_from_next(space / 2 + chosen % (space / 2))) {
    plan_boundary();
  } else {
    postpone_boundary(retry_after);
  }
}

/// Splits the first `count` bytes off the first unsent segment, as a separate segment. Returns false if the rest would
/// be too small, or there is no buffer.
bool Sender::cut_before_boundary(std::uint32_t count, Output& output) {
  if (queue().unsent().note().payload_len < count + min_piece || !output.grant_cut(false)) return false;
  packet::BorrowedPacket whole(queue().unsent());
  packet::Packet front = packet::split_front(*whole, static_cast<std::uint16_t>(count));
  if (!front) return false;
  queue().push_front_of_unsent(std::move(front));
  return true;
}

/// Moves the first bytes of the second unsent segment to the end of the first one. The number of bytes is `count`, or
/// less if the buffer of the first segment has less space. Returns false if that buffer is shared or full. Also returns
/// false if the rest of the second segment would be too small, or a window does not permit the longer segment.
bool Sender::take_from_next(std::uint32_t count) {
  packet::BorrowedPacket first(queue().unsent());
  packet::BorrowedPacket second(queue().unsent().next());
  count = std::min<std::uint32_t>(count, first->tailroom());
  const std::uint32_t length = first->note().payload_len + count;
  if (count == 0 || first->shared() || second->note().payload_len < count + min_piece) return false;
  if (snd_.nxt + length > window_edge() || !fits_cwnd(length)) return false;
  const packet::Packet moved = packet::split_front(*second, static_cast<std::uint16_t>(count));
  if (!moved) return false;
  return packet::join(*first, moved, length);
}

/// Counts an acknowledgement whose end lies inside a segment; `acked` is the distance from SND.UNA to that end. For a
/// SACK block this is the block's right edge. An acknowledgement that ends at the edge of the receiver's window does
/// not count, because a receiver may discard data beyond that edge.
void Sender::record_misplaced_ack(std::uint32_t acked) {
  if (config().boundary_secret == 0 || acked >= snd_.wnd) return;
  count(misplaced_acks_);
  if (!suspects_optimistic_acks()) return;
  leave_fast_path();
  plan_boundary();
}

}  // namespace sluice::tcp
