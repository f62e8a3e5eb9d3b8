#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"

// Segments with payload: lost ones first, then new ones.

namespace sluice::tcp {
namespace {

/// An allowance beyond this is none.
constexpr Bytes bounded = Bytes(Bytes::max().count() / 2);

constexpr std::uint32_t sack_option = 4;  ///< kind, length, two paddings
constexpr std::uint32_t sack_block = 8;

}  // namespace

bool Endpoint::can_send_now() const {
  if (state_ < State::established) return false;
  if (timeout_in_doubt() && doubt_ == Doubt::copy_sent && !retransmit_first_) return false;
  if (const packet::Cursor lost = next_repair()) return may_retransmit(lost);
  return may_send_new() || may_split();
}

/// A repetition needs the window the peer offers now, except for the oldest segment, of which a part fits, and of which
/// all may fit where the scale has rounded the window down (RFC 7323 section 2.4). Nothing is repeated into a window
/// that is closed; on_refusal() probes it.
bool Endpoint::may_retransmit(packet::Cursor position) const {
  const packet::PacketNote& note = position.note();
  const bool oldest = position == send_.front();
  if (!oldest && SeqNum(note.seq) + note.payload_len > window_edge()) return false;
  if (snd_wnd_ == 0 && !may_fit_rounding(position)) return false;
  return retransmit_first_ || fits_cwnd(note.payload_len);
}

/// Hands a packet to the output and takes what it weighs off `left`.
inline bool Endpoint::transmit(Segment& segment, packet::Cursor position, Instant now, Output& output, Bytes& left) {
  segment.payload_len = position.note().payload_len;
  if (left < bounded && Bytes(output.wire_size(segment.payload_len)) > left) return false;
  if (!reassembly_.report().empty()) fill_sacks(segment);
  if (urgent_out_) [[unlikely]]
    mark_urgent(segment);
  packet::Loan loan(position);
  const std::uint32_t size = output.transmit(segment, loan.get(), now);
  if (size == 0) return false;
  left -= Bytes(size);
  ack_went_out(segment);
  return true;
}

/// Sends the first unsent packet; `segment` has its header filled. False when it stays due.
inline bool Endpoint::emit_next(Segment& segment, Instant now, Output& output, Bytes& left) {
  const packet::Cursor next = send_.unsent();
  segment.flags.bits = Flags::ack_bit;
  if (next == send_.back()) {
    segment.flags.bits |= Flags::psh_bit;
    if (fin_wanted_ && snd_end_ < window_edge()) segment.flags.bits |= Flags::fin_bit;
  }
  segment.seq = snd_nxt_;
  if (use_ecn_) [[unlikely]] {
    segment.payload_len = next.note().payload_len;
    mark_ecn(segment);
  }
  if (!transmit(segment, next, now, output, left)) return false;
  if (segment.flags.cwr()) [[unlikely]]
    cwr_due_ = false;
  if (segment.payload_len < SendQueue::small && small_out_ < UINT8_MAX) [[unlikely]]
    ++small_out_;
  if (!on_fast_path_) [[unlikely]]
    note_sent(next, now);
  snd_nxt_ += segment.payload_len;
  last_sent_ = tick::fine(now);
  send_.sent(now);
  if (segment.flags.fin()) fin_went_out();
  if (timer_ < Timer::reorder) arm_retransmit(now);
  return true;
}

/// What is to be sent again next. While a timeout is in doubt that is the oldest segment and no other.
packet::Cursor Endpoint::next_repair() const {
  return !timeout_in_doubt() || retransmit_first_ ? send_.next_retransmission() : packet::Cursor();
}

Bytes Endpoint::emit_data(Instant now, Output& output, Bytes allowance) {
  Bytes left = allowance;
  while (const packet::Cursor lost = next_repair()) {
    if (small_path_ && lost.note().payload_len > mss_) {
      if (trying_larger_) larger_failed(now);
      if (output.grant_cut(pipe() == 0) && send_.cut(lost, mss_)) continue;
    }
    if (!may_retransmit(lost) || !emit_again(lost, now, output, left)) return allowance - left;
  }
  if (timeout_in_doubt() && doubt_ == Doubt::copy_sent) return allowance - left;  // RFC 5682 section 2.1 step 2: wait
  if (send_.unsent()) emit_new(now, output, left);
  if (tail_due_) emit_tail_probe(now, output, left);
  return allowance - left;
}

void Endpoint::emit_new(Instant now, Output& output, Bytes& left) {
  if (!send_.outstanding()) restart_after_idle(now);
  bool whole = may_send_new();
  if (whole || may_split()) {
    Segment segment = header(snd_nxt_);
    do {
      if (!whole && (!output.grant_cut(true) || !split_for_window())) break;
      if (!emit_next(segment, now, output, left)) break;
      whole = may_send_new();
    } while (whole || may_split());
  }
  const std::uint32_t in_flight = pipe();
  cwnd_limited_ = in_flight + mss_ > congestion_.cwnd() ||
                  (congestion_.cwnd() < congestion_.ssthresh() && in_flight >= congestion_.cwnd() / 2);
}

/// Sends a packet that was sent before. False when it stays due.
bool Endpoint::repeat(packet::Cursor position, Instant now, Output& output, Bytes& left) {
  Segment segment = header(SeqNum(position.note().seq));
  if (position == send_.back()) {
    segment.flags.bits |= Flags::psh_bit;
    if (fin_outstanding()) segment.flags.bits |= Flags::fin_bit;
  }
  if (!transmit(segment, position, now, output, left)) return false;
  note_sent(position, now);
  send_.resent(position, now);
  ++counters_.retransmitted;
  if (doubt_ == Doubt::copy_due) copy_ts_ = segment.ts_value;
  if (segment.flags.fin()) fin_went_out();
  return true;
}

/// The same, to repair a loss.
bool Endpoint::emit_again(packet::Cursor position, Instant now, Output& output, Bytes& left) {
  if (!repeat(position, now, output, left)) return false;
  retransmit_first_ = false;
  copy_went_out();
  if (timer_ < Timer::reorder || (position == send_.front() && !keeps_timer())) arm_retransmit(now);
  return true;
}

/// RFC 8985 section 7.3: the congestion window does not hold the probe back, the peer's window does.
void Endpoint::emit_tail_probe(Instant now, Output& output, Bytes& left) {
  const packet::Cursor next = send_.unsent();
  tail_repeated_ = !next || snd_nxt_ + next.note().payload_len > window_edge();
  if (!send_.outstanding() || window_closed()) {
    tail_due_ = false;
    return;
  }
  if (tail_repeated_) {
    if (!repeat(send_.last_sent(), now, output, left)) return;
    copies_ = 0;  // a duplicate reported from now on is the probe's
  } else {
    Segment segment = header(snd_nxt_);
    if (!emit_next(segment, now, output, left)) return;
  }
  tail_due_ = false;
  tail_out_ = true;
  recovery_point_ = snd_nxt_;
  count(counters_.tail_probes);
}

/// RFC 5681 section 4.1.
void Endpoint::restart_after_idle(Instant now) {
  if (!on_fast_path_ && congestion_.modelled()) [[unlikely]] {
    restart_model(now);
    return;
  }
  if (tick::duration(tick::fine(now) - last_sent_) > rto()) congestion_.on_idle(initial_window());
}

/// As many blocks as fit beside the payload. None with data under an allowance, which counts every byte.
void Endpoint::fill_sacks(Segment& segment) const {
  if (!use_sack_) return;
  const auto blocks = reassembly_.report().blocks();
  std::size_t room = blocks.size();
  if (segment.payload_len != 0) {
    const std::uint32_t spare = mss_ > segment.payload_len ? mss_ - segment.payload_len : 0;
    room = spare < sack_option || window_source_ == WindowSource::allowance ? 0 : (spare - sack_option) / sack_block;
  }
  const std::size_t count = std::min(blocks.size(), room);
  std::copy_n(blocks.begin(), count, segment.sack_blocks.begin());
  segment.sack_count = static_cast<std::uint8_t>(count);
}

}  // namespace sluice::tcp
