#include <algorithm>
#include <climits>

#include "dataplane/tcp/fast_path.hpp"

// A path that does not carry segments as large as the handshake agreed on: told by a router (RFC 1191, 8201), or found
// out because large segments never arrive (RFC 4821 section 7.7). What was cut larger by its first sender is cut again.

namespace sluice::tcp {
namespace {

constexpr int most_cuts = INT_MAX;
constexpr std::uint8_t suspicious = 3;  ///< timeouts in a row, with SACK, or while the other direction works
constexpr std::uint8_t hopeless = 6;    ///< or in any case
constexpr std::uint8_t rest = 6;        ///< ticks before larger segments are tried again: 687 s at least
constexpr std::uint8_t tick_mask = 63;
constexpr std::uint8_t last_step = 3;       ///< of a search: all of the way, a half, a quarter, an eighth
constexpr std::uint32_t least_gain = 16;    ///< bytes; for less nothing is tried
constexpr std::uint32_t enough_behind = 4;  ///< segments that follow, so that a loss is noticed without a timeout

}  // namespace

bool Endpoint::path_carries(SeqNum quoted, Bytes payload, Instant now) {
  if (!is_outstanding(quoted)) return false;
  const auto size = static_cast<std::uint32_t>(std::clamp<std::int64_t>(payload.count(), 0, UINT16_MAX));
  if (size < mtu_.mss) {
    shrink_segments(size, now);
    return true;
  }
  if (!bits_.trying_larger || send_.largest_before(snd_.nxt) <= size) return false;
  // The search has its answer.
  AckEvent event;
  scoreboard().mark_lost_above(size, event);
  mtu_.mss = static_cast<std::uint16_t>(size);
  bits_.on_fast_path = false;
  end_search(now);
  return true;
}

/// Larger segments are lost, but for no congestion (RFC 1191 section 6.5): they are sent again under the same window.
void Endpoint::shrink_segments(std::uint32_t payload, Instant now) {
  const std::uint32_t size = std::max(payload, least_payload);
  if (size >= mtu_.mss) return;
  mtu_.mss = static_cast<std::uint16_t>(size);
  bits_.small_path = true;
  bits_.on_fast_path = false;
  end_search(now);
  AckEvent event;
  scoreboard().mark_lost_above(size, event);
}

/// A retransmission timeout. If segments of the peer arrive while the oldest one sent never does, the path has a hole.
/// Where nothing comes from the peer, an outage looks the same (RFC 4821 section 7.7): segments become smaller, too,
/// and a search for the larger size begins with the next data that has enough behind it, so that an outage costs no
/// more than a few round trips with small segments. Without SACK there is no search, so a path that is only congested
/// would keep small segments: six timeouts are waited for.
void Endpoint::suspect_black_hole(Instant now) {
  if (repair_.retries == 1) bits_.heard = false;  // from now on
  const packet::Cursor front = send_.front();
  if (!send_.outstanding() || front.note().payload_len <= least_payload) return;
  const bool suspected = (bits_.heard || bits_.use_sack) && repair_.retries >= suspicious;
  if (!suspected && repair_.retries != hopeless) return;
  shrink_segments(front.note().payload_len / 2U, now);
  if (!bits_.heard) bits_.shrunk_at = (tick::slow(now) - rest) & tick_mask;
}

/// Cuts what can be sent now into segments that fit; what waits longer stays whole, for the path may carry more by
/// then. Without buffers some stay as they are until the next time.
void Endpoint::cut_segments(Instant now, Output& output, Bytes allowance) {
  packet::Cursor at = send_.unsent();
  if (at && may_try_larger(now)) at = try_larger(now);
  std::int64_t room = std::min<std::int64_t>(window_edge() - snd_.nxt, allowance.count());
  if (bits_.window_source == WindowSource::congestion_control) {
    room = std::min(room, std::int64_t{congestion_.cwnd()} - pipe());
  }
  bool least = pipe() == 0;  // one segment may always be in flight
  int cuts = mtu_.mss < SendQueue::small ? most_small - small_out_ : most_cuts;
  for (; at && (least || room >= mtu_.mss); at = at.next(), least = false) {
    while (at.note().payload_len > mtu_.mss && (least || room >= mtu_.mss)) {
      if (--cuts < 0 || !output.grant_cut(least) || !scoreboard().cut(at, mtu_.mss)) return;
      least = false;
      room -= mtu_.mss;
    }
    room -= at.note().payload_len;
  }
}

/// Cuts a payload that is longer than the port carries before it is sent. Returns false if no buffer is left; the
/// payload then stays due.
bool Endpoint::cut_for_port(packet::Cursor position, Output& output) {
  bits_.small_path = true;
  bits_.on_fast_path = false;
  return output.grant_cut(pipe() == 0) && scoreboard().cut(position, mtu_.mss);
}

void Endpoint::port_carries(std::uint16_t peer_mss, std::uint16_t port_mss, Instant now) {
  if (config_ == nullptr) return;
  const std::uint16_t before = mtu_.full_mss;
  mtu_.port = beside_options(port_mss);
  mtu_.full_mss = std::min(payload_within(peer_mss), mtu_.port);
  if (mtu_.full_mss == before) return;
  if (mtu_.mss == before || mtu_.mss > mtu_.full_mss) {
    mtu_.mss = mtu_.full_mss;
    end_search(now);
  }
  bits_.small_path = mtu_.full_mss < before || mtu_.mss < mtu_.full_mss || joins_beyond_segments();
  bits_.on_fast_path = false;
}

/// A larger segment goes out only where its loss would be noticed by those behind it, and tell nothing of congestion
/// (RFC 4821 section 7.4).
bool Endpoint::may_try_larger(Instant now) const {
  if (bits_.trying_larger || bits_.recovery != Recovery::none || send_.to_retransmit() != 0 || !bits_.use_sack)
    return false;
  const auto since = static_cast<std::uint8_t>((tick::slow(now) - bits_.shrunk_at) & tick_mask);
  if (bits_.search_step == 0 && since < rest) return false;
  const std::uint32_t first = std::min<std::uint32_t>(send_.unsent().note().payload_len, mtu_.full_mss);
  if (first <= mtu_.mss + least_gain || snd_.nxt + first > window_edge() || !fits_cwnd(first)) return false;
  const std::uint32_t room = enough_behind * mtu_.mss + mtu_.full_mss;
  const bool steered = bits_.window_source == WindowSource::congestion_control;
  if (snd_.wnd < room || (steered && congestion_.cwnd() < room)) return false;
  std::uint32_t waiting = 0;
  for (packet::Cursor at = send_.unsent(); at && waiting < room; at = at.next()) waiting += at.note().payload_len;
  return waiting >= room;
}

/// Leaves the first unsent packet as large as this step of the search wants it; returns the one behind it.
packet::Cursor Endpoint::try_larger(Instant now) {
  const std::uint32_t gain = static_cast<std::uint32_t>(mtu_.full_mss - mtu_.mss) >> bits_.search_step;
  const std::uint32_t target = mtu_.mss + gain;
  if (gain < least_gain) {
    end_search(now);
    return send_.unsent();
  }
  if (send_.unsent().note().payload_len > target && !scoreboard().cut(send_.unsent(), target)) return send_.unsent();
  bits_.trying_larger = true;
  return send_.unsent().next();
}

/// What is acknowledged was carried.
void Endpoint::judge_larger(SeqNum ack, Instant now) {
  const std::uint32_t carried = send_.largest_before(ack);
  if (carried > mtu_.mss) {
    bits_.trying_larger = false;
    mtu_.mss = static_cast<std::uint16_t>(std::min<std::uint32_t>(carried, mtu_.full_mss));
    if (bits_.search_step == 0 || mtu_.mss == mtu_.full_mss) end_search(now);
    bits_.small_path = mtu_.mss < mtu_.full_mss || joins_beyond_segments();
  } else if (send_.largest_before(snd_.nxt) <= mtu_.mss) {
    bits_.trying_larger = false;  // it was never sent
  }
}

void Endpoint::larger_failed(Instant now) {
  bits_.trying_larger = false;
  if (bits_.search_step == last_step) {
    end_search(now);
  } else {
    ++bits_.search_step;
  }
}

/// Nothing is missing but the segment that was too large: no congestion (RFC 4821 section 7.5).
bool Endpoint::only_larger_lost() const {
  const std::uint32_t length = send_.next_retransmission().note().payload_len;
  return length > mtu_.mss && length == send_.to_retransmit();
}

void Endpoint::end_search(Instant now) {
  bits_.trying_larger = false;
  bits_.search_step = 0;
  bits_.shrunk_at = tick::slow(now) & tick_mask;
}

}  // namespace sluice::tcp
