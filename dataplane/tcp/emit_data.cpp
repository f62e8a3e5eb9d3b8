// Sending of segments with payload: retransmissions first, then new data, then tail loss probes. Called by emit.cpp;
// recovery.cpp has marked the lost packets before. Data is bounded by the peer's window and by cwnd or the caller's
// allowance.

#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"
#include "dataplane/tcp/output.hpp"

namespace sluice::tcp {
namespace {

/// Bytes of a SACK option without its blocks: kind, length, two bytes of padding.
constexpr std::uint32_t sack_option = 4;
constexpr std::uint32_t sack_block = 8;

/// Unit in bytes of the pieces into which a retransmission is cut for the peer's window. Both pieces have at least this
/// size. A peer that changes its window with each ACK therefore gets few pieces, each of which takes a buffer.
constexpr std::uint32_t window_piece = SendQueue::small;

}  // namespace

/// Slow part of can_send_now(). True if lost data may be retransmitted now, or unsent data may be sent now.
bool Sender::can_send_now_slow() const {
  if (state() < State::established) return false;
  if (tests_spurious_timeout() && bits_.spurious_check == SpuriousCheck::retransmission_sent && !bits_.retransmit_first)
    return false;
  if (const packet::Cursor lost = next_retransmission()) return may_retransmit(lost);
  return !new_data_waits() && (may_send_new() || may_split());
}

/// True if new data must wait until lost data was retransmitted. That is the case after a timeout, if the caller's
/// allowance (bytes permitted to send) replaces cwnd and there is no SACK. New data would use up the allowance, and
/// without SACK the peer cannot acknowledge data behind a hole. Only the F-RTO test sends a few new segments.
bool Sender::new_data_waits() const {
  if (bits_.recovery != Recovery::timeout || !retransmits_blindly()) return false;
  return tests_spurious_timeout() ? snd_.nxt > loss_recovery_.point : queue().to_retransmit() != 0;
}

/// True if a retransmission is permitted now: the packet fits cwnd and the peer's current window. Only the oldest
/// segment may extend beyond the peer's window. While that window is zero, only a packet smaller than the unit of the
/// window scale may be sent (RFC 7323 section 2.4). on_refusal() probes a closed window.
bool Sender::may_retransmit(packet::Cursor position) const {
  const packet::PacketNote& note = position.note();
  const bool oldest = position == queue().front();
  if (!oldest && SeqNum(note.seq) + note.payload_len > window_edge()) return false;
  if (snd_.wnd == 0 && !may_fit_rounding(position)) return false;
  return bits_.retransmit_first || fits_cwnd(note.payload_len);
}

/// Returns the number of bytes to which a lost packet should be cut before it is retransmitted; 0 if it should stay
/// whole. A packet is cut if the peer has shrunk its window, so that the packet extends beyond it. A peer without free
/// buffers may discard the whole packet, and would accept the part inside its window. Only the oldest packet may be
/// sent beyond the window, see may_retransmit().
std::uint32_t Sender::piece_inside_window(packet::Cursor position) const {
  const std::uint32_t length = position.note().payload_len;
  if (length <= snd_.wnd || length < 2 * window_piece || position != queue().front()) return 0;
  return std::min(snd_.wnd, length - window_piece) / window_piece * window_piece;
}

/// Passes a packet to the output and subtracts the size of its IP packet from `left`, the bytes that the caller of
/// emit() still permits. Returns false if that size exceeds `left`, or if the output refuses the packet.
inline bool Sender::transmit(Segment& segment, packet::Cursor position, Instant now, Output& output, Bytes& left) {
  segment.payload_len = position.note().payload_len;
  if (left < min_unbounded && Bytes(output.wire_size(segment.payload_len)) > left) return false;
  if (has_sack_blocks()) fill_sacks(segment);
  if (bits_.urgent_out) [[unlikely]]
    mark_urgent(segment);
  packet::BorrowedPacket loan(position);
  const std::uint32_t size = output.transmit(segment, loan.get(), now);
  if (size == 0) return false;
  left -= Bytes(size);
  ack_went_out(segment);
  return true;
}

/// Sends the first unsent packet; the caller has filled the header fields of `segment`. Returns false if the packet was
/// not sent. A later call then sends it. `left` is the number of bytes that the caller of emit() still permits;
/// transmit() reduces it.
inline bool Sender::emit_next(Segment& segment, Instant now, Output& output, Bytes& left) {
  if (boundary_due()) [[unlikely]]
    move_boundary(output);
  if (queue().unsent().note().payload_len > mtu_.port) [[unlikely]] {
    if (!cut_for_port(queue().unsent(), output)) return false;
  }
  const packet::Cursor next = queue().unsent();
  segment.flags.bits = Flags::ack_bit;
  if (next == queue().back()) {
    segment.flags.bits |= Flags::psh_bit;
    if (bits_.fin_requested && snd_.end < window_edge()) segment.flags.bits |= Flags::fin_bit;
  }
  segment.seq = snd_.nxt;
  if (uses_ecn()) [[unlikely]] {
    segment.payload_len = next.note().payload_len;
    mark_ecn(segment);
  }
  if (!transmit(segment, next, now, output, left)) {
    if (uses_ecn()) cwr_stays_due(segment);
    return false;
  }
  if (segment.payload_len < SendQueue::small && small_in_flight_ < UINT8_MAX) [[unlikely]]
    ++small_in_flight_;
  if (!on_fast_path()) [[unlikely]]
    record_sent(next, now);
  snd_.nxt += segment.payload_len;
  snd_.last_sent = tick::ms(now);
  queue().sent(now);
  if (segment.flags.fin()) fin_went_out();
  if (armed() < Timer::reorder) arm_retransmit(now);
  return true;
}

/// Returns the next packet to retransmit. While the F-RTO test decides whether a timeout was spurious, only the oldest
/// segment is retransmitted. LossRecovery::retransmissions limits the retransmissions if the caller's allowance (bytes
/// permitted to send) replaces cwnd and there is no SACK. After a timeout this limit grows as in slow start.
packet::Cursor Sender::next_retransmission() const {
  if (tests_spurious_timeout() && !bits_.retransmit_first) return {};
  const packet::Cursor lost = queue().next_retransmission();
  if (!lost || bits_.recovery == Recovery::none || !retransmits_blindly() || lost == queue().front()) return lost;
  const SeqNum reach = snd_.una + std::uint32_t{loss_recovery_.retransmissions} * mtu_.mss;
  return SeqNum(lost.note().seq) + lost.note().payload_len <= reach ? lost : packet::Cursor();
}

/// Sends retransmissions, new data and a tail loss probe within cwnd, the peer's window and `allowance`, the bytes that
/// the caller permits. The first retransmission of a recovery and the probe need no space in cwnd. Returns the IP bytes
/// sent.
Bytes Sender::emit_data(Instant now, Output& output, Bytes allowance) {
  Bytes left = allowance;
  while (const packet::Cursor lost = next_retransmission()) {
    const std::uint32_t length = lost.note().payload_len;
    if (bits_.small_path && length > mtu_.mss) {
      if (bits_.trying_larger) larger_failed(now);
      if (output.grant_cut(pipe() == 0) && scoreboard().cut(lost, mtu_.mss)) continue;
    }
    if (length > mtu_.port) [[unlikely]] {
      if (cut_for_port(lost, output)) continue;
      return allowance - left;
    }
    if (const std::uint32_t piece = piece_inside_window(lost); piece != 0) [[unlikely]] {
      if (output.grant_cut(pipe() == 0) && scoreboard().cut(lost, piece)) continue;
    }
    if (!may_retransmit(lost) || !retransmit(lost, now, output, left)) return allowance - left;
  }
  if (tests_spurious_timeout() && bits_.spurious_check == SpuriousCheck::retransmission_sent)
    return allowance - left;  // RFC 5682 section 2.1 step 2: wait
  if (new_data_waits()) return allowance - left;
  const SeqNum before = snd_.nxt;
  Bytes withheld;
  if (tests_spurious_timeout() && retransmits_blindly())
    withheld = std::max(left - Bytes(output.wire_size(mtu_.mss)) * frto_segments, Bytes());
  left -= withheld;
  if (queue().unsent()) emit_new(now, output, left);
  left += withheld;
  // New data triggers an ACK as well as a probe does (RFC 8985 section 7.3).
  if (snd_.nxt != before) bits_.tail_probe_due = false;
  if (bits_.tail_probe_due) emit_tail_probe(now, output, left);
  return allowance - left;
}

/// Sends unsent packets while the windows and `left`, the bytes that the caller of emit() still permits, allow it.
void Sender::emit_new(Instant now, Output& output, Bytes& left) {
  if (!queue().outstanding()) restart_after_idle(now);
  bool whole = may_send_new();
  if (whole || may_split()) {
    Segment segment = header(snd_.nxt);
    do {
      if (!whole && (!output.grant_cut(true) || !split_for_window())) break;
      if (!emit_next(segment, now, output, left)) break;
      whole = may_send_new();
    } while (whole || may_split());
  }
  record_use_of_cwnd(pipe());
}

/// Retransmits a packet. `left` is the number of bytes that the caller of emit() still permits; transmit() reduces it.
/// Returns false if the packet was not sent; a later call then tries again.
bool Sender::emit_retransmission(packet::Cursor position, Instant now, Output& output, Bytes& left) {
  Segment segment = header(SeqNum(position.note().seq));
  if (position == queue().back()) {
    segment.flags.bits |= Flags::psh_bit;
    if (fin_outstanding()) segment.flags.bits |= Flags::fin_bit;
  }
  if (!transmit(segment, position, now, output, left)) return false;
  record_sent(position, now);
  scoreboard().resent(position, now);
  ++counters_.retransmitted;
  if (bits_.spurious_check == SpuriousCheck::retransmission_due)
    ensure_recovery_state().retransmission_ts = segment.ts_value;
  if (segment.flags.fin()) fin_went_out();
  return true;
}

/// Retransmits a lost packet and restarts the timer if RFC 6298 requires it. `left` is the number of bytes that the
/// caller of emit() still permits; it is reduced. Returns false if the packet was not sent; a later call then tries
/// again.
bool Sender::retransmit(packet::Cursor position, Instant now, Output& output, Bytes& left) {
  if (!emit_retransmission(position, now, output, left)) return false;
  bits_.retransmit_first = false;
  on_retransmitted();
  if (armed() < Timer::reorder || (position == queue().front() && !keeps_timer())) arm_retransmit(now);
  return true;
}

/// Sends a tail loss probe (RFC 8985 section 7.3). The peer's window limits the probe, but cwnd does not. The probe may
/// wait until its bytes fit `left`, the bytes that the caller of emit() still permits. It is dropped if a SACK or a
/// timeout makes it unnecessary meanwhile.
void Sender::emit_tail_probe(Instant now, Output& output, Bytes& left) {
  const packet::Cursor next = queue().unsent();
  bits_.tail_retransmitted = !next || snd_.nxt + next.note().payload_len > window_edge();
  // A packet larger than the port's MTU is cut only after it counts as lost.
  const bool too_large =
      bits_.tail_retransmitted && queue().outstanding() && queue().last_sent().note().payload_len > mtu_.port;
  if (too_large || !may_probe_tail()) {
    bits_.tail_probe_due = false;
    return;
  }
  if (bits_.tail_retransmitted) {
    if (!emit_retransmission(queue().last_sent(), now, output, left)) return;
    loss_recovery_.retransmissions = 0;  // a D-SACK from now on refers to the probe
  } else {
    Segment segment = header(snd_.nxt);
    if (!emit_next(segment, now, output, left)) return;
  }
  bits_.tail_probe_due = false;
  bits_.tail_probe_outstanding = true;
  loss_recovery_.point = snd_.nxt;
  count(counters_.tail_probes);
}

/// Reduces cwnd after an idle period longer than the RTO (RFC 5681 section 4.1).
void Sender::restart_after_idle(Instant now) {
  if (!on_fast_path() && congestion_.is_model_based()) [[unlikely]] {
    restart_model(now);
    return;
  }
  if (tick::ms_duration(tick::ms(now) - snd_.last_sent) > rto()) congestion_.on_idle(initial_window());
}

/// Adds the SACK blocks that fit beside the payload. If the caller limits the bytes that are sent (by an allowance),
/// data segments carry no SACK blocks, because their bytes count against the allowance.
void Sender::fill_sacks(Segment& segment) const {
  if (!uses_sack()) return;
  const auto blocks = sack_generator().blocks();
  const std::uint32_t spare = mtu_.mss > segment.payload_len ? mtu_.mss - segment.payload_len : 0;
  const bool none = segment.payload_len != 0 && bits_.window_source == WindowSource::allowance;
  const std::size_t room = spare < sack_option || none ? 0 : (spare - sack_option) / sack_block;
  const std::size_t count = std::min(blocks.size(), room);
  std::copy_n(blocks.begin(), count, segment.sack_blocks.begin());
  segment.sack_count = static_cast<std::uint8_t>(count);
}

}  // namespace sluice::tcp
