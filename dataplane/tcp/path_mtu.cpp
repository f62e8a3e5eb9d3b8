#include <algorithm>
#include <climits>

#include "dataplane/tcp/fast_path.hpp"

// A path that does not carry segments as large as the handshake agreed on: told by a router (RFC 1191, 8201), or found
// out because large segments never arrive (RFC 4821 section 7.7). What was cut larger by its first sender is cut again.

namespace sluice::tcp {
namespace {

constexpr int most_cuts = INT_MAX;
constexpr std::uint8_t suspicious = 3;  ///< timeouts in a row while the peer can be heard
constexpr std::uint8_t hopeless = 6;    ///< or whether it can be heard or not
constexpr std::uint8_t rest = 6;        ///< ticks before larger segments are tried again: 687 s at least
constexpr std::uint8_t tick_mask = 63;
constexpr std::uint8_t last_step = 3;       ///< of a search: all of the way, a half, a quarter, an eighth
constexpr std::uint32_t least_gain = 16;    ///< bytes; for less nothing is tried
constexpr std::uint32_t enough_behind = 4;  ///< segments that follow, so that a loss is noticed without a timeout

}  // namespace

bool Endpoint::path_carries(SeqNum quoted, Bytes payload, Instant now) {
  if (!is_outstanding(quoted)) return false;
  const auto size = static_cast<std::uint32_t>(std::clamp<std::int64_t>(payload.count(), 0, UINT16_MAX));
  if (size < mss_) {
    shrink_segments(size, now);
    return true;
  }
  if (!trying_larger_ || send_.largest_before(snd_nxt_) <= size) return false;
  // The search has its answer.
  AckEvent event;
  send_.mark_lost_above(size, event);
  mss_ = static_cast<std::uint16_t>(size);
  on_fast_path_ = false;
  end_search(now);
  return true;
}

/// Larger segments are lost, but for no congestion (RFC 1191 section 6.5): they are sent again under the same window.
void Endpoint::shrink_segments(std::uint32_t payload, Instant now) {
  const std::uint32_t size = std::max(payload, least_payload);
  if (size >= mss_) return;
  mss_ = static_cast<std::uint16_t>(size);
  small_path_ = true;
  on_fast_path_ = false;
  end_search(now);
  AckEvent event;
  send_.mark_lost_above(size, event);
}

/// A retransmission timeout. One that nothing answers looks like an outage; a peer that is heard while the oldest
/// segment never arrives has a hole in its path.
void Endpoint::suspect_black_hole(Instant now) {
  if (retries_ == 1) heard_ = false;  // from now on
  const packet::Cursor front = send_.front();
  if (!send_.outstanding() || front.note().payload_len <= least_payload) return;
  const bool found = retries_ == hopeless || (heard_ && retries_ >= suspicious);
  if (found) shrink_segments(front.note().payload_len / 2U, now);
}

/// Cuts what can be sent now into segments that fit; what waits longer stays whole, for the path may carry more by
/// then. Without buffers some stay as they are until the next time.
void Endpoint::cut_segments(Instant now, Output& output, Bytes allowance) {
  packet::Cursor at = send_.unsent();
  if (at && may_try_larger(now)) at = try_larger(now);
  std::int64_t room = std::min<std::int64_t>(window_edge() - snd_nxt_, allowance.count());
  if (window_source_ == WindowSource::congestion_control) {
    room = std::min(room, std::int64_t{congestion_.cwnd()} - pipe());
  }
  bool least = pipe() == 0;  // one segment may always be in flight
  int cuts = mss_ < SendQueue::small ? most_small - small_out_ : most_cuts;
  for (; at && (least || room >= mss_); at = at.next(), least = false) {
    while (at.note().payload_len > mss_ && (least || room >= mss_)) {
      if (--cuts < 0 || !output.grant_cut(least) || !send_.cut(at, mss_)) return;
      least = false;
      room -= mss_;
    }
    room -= at.note().payload_len;
  }
}

/// A larger segment goes out only where its loss would be noticed by those behind it, and tell nothing of congestion
/// (RFC 4821 section 7.4).
bool Endpoint::may_try_larger(Instant now) const {
  if (trying_larger_ || recovery_ != Recovery::none || send_.to_retransmit() != 0 || !use_sack_) return false;
  const auto since = static_cast<std::uint8_t>((tick::slow(now) - shrunk_at_) & tick_mask);
  if (search_step_ == 0 && since < rest) return false;
  const std::uint32_t first = std::min<std::uint32_t>(send_.unsent().note().payload_len, full_mss_);
  if (first <= mss_ + least_gain || snd_nxt_ + first > window_edge() || !fits_cwnd(first)) return false;
  const std::uint32_t room = enough_behind * mss_ + full_mss_;
  const bool steered = window_source_ == WindowSource::congestion_control;
  if (snd_wnd_ < room || (steered && congestion_.cwnd() < room)) return false;
  std::uint32_t waiting = 0;
  for (packet::Cursor at = send_.unsent(); at && waiting < room; at = at.next()) waiting += at.note().payload_len;
  return waiting >= room;
}

/// Leaves the first unsent packet as large as this step of the search wants it; returns the one behind it.
packet::Cursor Endpoint::try_larger(Instant now) {
  const std::uint32_t gain = static_cast<std::uint32_t>(full_mss_ - mss_) >> search_step_;
  const std::uint32_t target = mss_ + gain;
  if (gain < least_gain) {
    end_search(now);
    return send_.unsent();
  }
  if (send_.unsent().note().payload_len > target && !send_.cut(send_.unsent(), target)) return send_.unsent();
  trying_larger_ = true;
  return send_.unsent().next();
}

/// What is acknowledged was carried.
void Endpoint::judge_larger(SeqNum ack, Instant now) {
  const std::uint32_t carried = send_.largest_before(ack);
  if (carried > mss_) {
    trying_larger_ = false;
    mss_ = static_cast<std::uint16_t>(std::min<std::uint32_t>(carried, full_mss_));
    if (search_step_ == 0 || mss_ == full_mss_) end_search(now);
    small_path_ = mss_ < full_mss_;
  } else if (send_.largest_before(snd_nxt_) <= mss_) {
    trying_larger_ = false;  // it was never sent
  }
}

void Endpoint::larger_failed(Instant now) {
  trying_larger_ = false;
  if (search_step_ == last_step) {
    end_search(now);
  } else {
    ++search_step_;
  }
}

/// Nothing is missing but the segment that was too large: no congestion (RFC 4821 section 7.5).
bool Endpoint::only_larger_lost() const {
  const std::uint32_t length = send_.next_retransmission().note().payload_len;
  return length > mss_ && length == send_.to_retransmit();
}

void Endpoint::end_search(Instant now) {
  trying_larger_ = false;
  search_step_ = 0;
  shrunk_at_ = tick::slow(now) & tick_mask;
}

}  // namespace sluice::tcp
