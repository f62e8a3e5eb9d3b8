// Path MTU discovery of a sender whose data was segmented by another host. A smaller MTU is reported by a router (RFC
// 1191, RFC 8201) or suspected because large segments never arrive (RFC 4821 section 7.7). Queued packets that are too
// large are then cut. Later a search tries larger segments one at a time (RFC 8899). Called by the owner for ICMP
// errors, by recovery.cpp after timeouts and by emit.cpp before data is sent.

#include <algorithm>
#include <climits>

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {
namespace {

constexpr int max_cuts = INT_MAX;
/// Number of consecutive timeouts after which the path counts as dropping large segments, if SACK is used or segments
/// of the peer arrive.
constexpr std::uint8_t suspicious = 3;
/// Number of consecutive timeouts after which the path counts as dropping large segments, if SACK is not used and no
/// segment of the peer arrives.
constexpr std::uint8_t suspicious_without_sack = 4;
/// Time before larger segments are tried again, in ticks of 137 s. The first tick is partly over when the wait begins,
/// so the time is at least 687 s.
constexpr std::uint8_t rest = 6;
constexpr std::uint8_t tick_mask = 63;
/// Last step of the search for a larger segment size. The steps try the whole distance to the full size, a half, a
/// quarter and an eighth of it.
constexpr std::uint8_t last_step = 3;
constexpr std::uint32_t min_gain = 16;  ///< bytes by which a tried segment size must exceed the current one
/// Number of segments that must follow a probe (a larger segment) so that its loss is detected.
constexpr std::uint32_t enough_behind = 4;

}  // namespace

bool Sender::path_carries(SeqNum quoted, Bytes payload, Instant now) {
  if (!is_outstanding(quoted)) return false;
  const auto size = static_cast<std::uint32_t>(std::clamp<std::int64_t>(payload.count(), 0, UINT16_MAX));
  if (size < mtu_.mss) {
    shrink_segments(size, now);
    return true;
  }
  if (!bits_.trying_larger || queue().largest_before(snd_.nxt) <= size) return false;
  // The report answers the search for a larger size.
  AckEvent event;
  scoreboard().mark_lost_above(size, event);
  mtu_.mss = static_cast<std::uint16_t>(size);
  leave_fast_path();
  end_search(now);
  return true;
}

/// Reduces the segment size. Larger segments are marked lost and retransmitted. cwnd is not reduced, because their loss
/// was no congestion (RFC 1191 section 6.5).
void Sender::shrink_segments(std::uint32_t payload, Instant now) {
  const std::uint32_t size = std::max(payload, min_payload);
  if (size >= mtu_.mss) return;
  mtu_.mss = static_cast<std::uint16_t>(size);
  bits_.small_path = true;
  leave_fast_path();
  end_search(now);
  AckEvent event;
  scoreboard().mark_lost_above(size, event);
}

/// Handles a retransmission timeout that may mean that the path drops large segments (black hole). It is a black hole
/// if segments of the peer arrive, but the oldest segment is never acknowledged. If nothing arrives, the cause may be
/// an outage (RFC 4821 section 7.7). The segment size is then also reduced, but the search for a larger size starts
/// with the next data. So after an outage small segments are used for a few round trips only. Without SACK more
/// timeouts are required, because a retransmission that is lost can only be detected by a timeout.
void Sender::suspect_black_hole(Instant now) {
  if (loss_recovery_.retries == 1) bits_.peer_responded = false;  // counts from the first timeout on
  const packet::Cursor front = queue().front();
  if (!queue().outstanding() || front.note().payload_len <= min_payload) return;
  if (loss_recovery_.retries < (bits_.peer_responded || uses_sack() ? suspicious : suspicious_without_sack)) return;
  shrink_segments(front.note().payload_len / 2U, now);
  if (!bits_.peer_responded) bits_.shrunk_at = (tick::s137(now) - rest) & tick_mask;
}

/// Cuts the packets that can be sent now into segments that fit the path. Later packets stay whole, because the path
/// may carry larger segments by then. If no buffer is free, packets that are not cut yet wait for the next call.
void Sender::cut_segments(Instant now, Output& output, Bytes allowance) {
  packet::Cursor at = queue().unsent();
  if (at && may_try_larger(now)) at = try_larger(now);
  std::int64_t room = std::min<std::int64_t>(window_edge() - snd_.nxt, allowance.count());
  if (bits_.window_source == WindowSource::congestion_control) {
    room = std::min(room, std::int64_t{congestion_.cwnd()} - pipe());
  }
  bool least = pipe() == 0;  // one segment may always be in flight
  int cuts = mtu_.mss < SendQueue::small ? max_small - small_in_flight_ : max_cuts;
  for (; at && (least || room >= mtu_.mss); at = at.next(), least = false) {
    while (at.note().payload_len > mtu_.mss && (least || room >= mtu_.mss)) {
      if (--cuts < 0 || !output.grant_cut(least) || !scoreboard().cut(at, mtu_.mss)) return;
      least = false;
      room -= mtu_.mss;
    }
    room -= at.note().payload_len;
  }
}

/// Cuts a packet that is larger than the port's MTU. Returns false if there is no buffer; the packet is then sent by a
/// later call.
bool Sender::cut_for_port(packet::Cursor position, Output& output) {
  bits_.small_path = true;
  leave_fast_path();
  return output.grant_cut(pipe() == 0) && scoreboard().cut(position, mtu_.mss);
}

void Sender::port_carries(std::uint16_t peer_mss, std::uint16_t port_mss, Instant now) {
  if (!is_configured()) return;
  const std::uint16_t before = mtu_.full_mss;
  mtu_.port = beside_options(port_mss);
  mtu_.full_mss = std::min(payload_within(peer_mss), mtu_.port);
  if (mtu_.full_mss == before) return;
  if (mtu_.mss == before || mtu_.mss > mtu_.full_mss) {
    mtu_.mss = mtu_.full_mss;
    end_search(now);
  }
  bits_.small_path = mtu_.full_mss < before || mtu_.mss < mtu_.full_mss || joins_beyond_segments();
  leave_fast_path();
}

/// True if a segment larger than the current size may be sent as a probe now. At least `enough_behind` segments must
/// follow the probe, so that its loss is detected. No loss recovery may be in progress, because the loss of the probe
/// must be distinguishable from congestion (RFC 4821 section 7.4).
bool Sender::may_try_larger(Instant now) const {
  if (bits_.trying_larger || bits_.recovery != Recovery::none || queue().to_retransmit() != 0) return false;
  if (!uses_sack() && snd_.nxt <= loss_recovery_.point) return false;  // duplicate ACKs would not show the loss
  const auto since = static_cast<std::uint8_t>((tick::s137(now) - bits_.shrunk_at) & tick_mask);
  if (bits_.search_step == 0 && since < rest) return false;
  const std::uint32_t first = std::min<std::uint32_t>(queue().unsent().note().payload_len, mtu_.full_mss);
  if (first <= mtu_.mss + min_gain || snd_.nxt + first > window_edge() || !fits_cwnd(first)) return false;
  const std::uint32_t room = enough_behind * mtu_.mss + mtu_.full_mss;
  const bool uses_cwnd = bits_.window_source == WindowSource::congestion_control;
  if (snd_.wnd < room || (uses_cwnd && congestion_.cwnd() < room)) return false;
  std::uint32_t waiting = 0;
  for (packet::Cursor at = queue().unsent(); at && waiting < room; at = at.next()) waiting += at.note().payload_len;
  return waiting >= room;
}

/// Prepares a segment larger than the present size, as one step of the search for a larger size. The first unsent
/// packet becomes that segment, cut to the size of the step if it is longer. Ends the search if the step would gain
/// less than min_gain bytes. Returns the packet from which on cut_segments() must cut packets to the present size.
packet::Cursor Sender::try_larger(Instant now) {
  const std::uint32_t gain = static_cast<std::uint32_t>(mtu_.full_mss - mtu_.mss) >> bits_.search_step;
  const std::uint32_t target = mtu_.mss + gain;
  if (gain < min_gain) {
    end_search(now);
    return queue().unsent();
  }
  if (queue().unsent().note().payload_len > target && !scoreboard().cut(queue().unsent(), target))
    return queue().unsent();
  bits_.trying_larger = true;
  return queue().unsent().next();
}

/// Evaluates an ACK during the search for a larger segment size: the path carries the size of every packet that is
/// acknowledged.
void Sender::judge_larger(SeqNum ack, Instant now) {
  const std::uint32_t carried = queue().largest_before(ack);
  if (carried > mtu_.mss) {
    bits_.trying_larger = false;
    mtu_.mss = static_cast<std::uint16_t>(std::min<std::uint32_t>(carried, mtu_.full_mss));
    if (mtu_.mss == mtu_.full_mss) end_search(now);
    bits_.small_path = mtu_.mss < mtu_.full_mss || joins_beyond_segments();
  } else if (queue().largest_before(snd_.nxt) <= mtu_.mss) {
    bits_.trying_larger = false;  // the larger packet was never sent
  }
}

/// Handles the loss of a larger segment that was sent as a probe: continues with the next step of the search, or ends
/// it.
void Sender::larger_failed(Instant now) {
  bits_.trying_larger = false;
  if (bits_.search_step == last_step) {
    end_search(now);
  } else {
    ++bits_.search_step;
  }
}

/// True if only the larger segment that was sent as a probe is missing, which is no sign of congestion (RFC 4821
/// section 7.5).
bool Sender::only_larger_lost() const {
  const std::uint32_t length = queue().next_retransmission().note().payload_len;
  return length > mtu_.mss && length == queue().to_retransmit();
}

/// Ends the search for a larger size. The next search may begin after `rest` ticks of 137 s, the first of which is
/// partly over: 687 to 824 s.
void Sender::end_search(Instant now) {
  bits_.trying_larger = false;
  bits_.search_step = 0;
  bits_.shrunk_at = tick::s137(now) & tick_mask;
}

}  // namespace sluice::tcp
