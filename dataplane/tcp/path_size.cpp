#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"

// A path that does not carry segments as large as the handshake agreed on: told by a router (RFC 1191, 8201), or found
// out because large segments never arrive (RFC 4821 section 7.7). What was cut larger by its first sender is cut again.

namespace sluice::tcp {
namespace {

constexpr std::uint32_t least_payload = 512;  ///< no router may make us send less
constexpr std::uint8_t suspicious = 3;        ///< timeouts in a row while the peer can be heard
constexpr std::uint8_t hopeless = 6;          ///< or whether it can be heard or not

}  // namespace

bool Endpoint::path_carries(SeqNum quoted, Bytes payload) {
  if (state_ < State::established || quoted < snd_una_ || quoted >= snd_nxt_) return false;
  if (payload >= Bytes(mss_)) return false;
  shrink_segments(static_cast<std::uint32_t>(std::max<std::int64_t>(payload.count(), 0)));
  return true;
}

/// Larger segments are lost, but for no congestion (RFC 1191 section 6.5): they are sent again under the same window.
void Endpoint::shrink_segments(std::uint32_t payload) {
  const std::uint32_t size = std::max(payload, least_payload);
  if (size >= mss_) return;
  mss_ = static_cast<std::uint16_t>(size);
  small_path_ = true;
  smooth_ = false;
  AckEvent event;
  send_.mark_lost_above(size, event);
}

/// A retransmission timeout. One that nothing answers looks like an outage; a peer that is heard while the oldest
/// segment never arrives has a hole in its path.
void Endpoint::suspect_black_hole() {
  if (retries_ == 1) heard_ = false;  // from now on
  const packet::Cursor front = send_.front();
  if (!send_.outstanding() || front.note().payload_len <= least_payload) return;
  const bool found = retries_ == hopeless || (heard_ && retries_ >= suspicious);
  if (found) shrink_segments(front.note().payload_len / 2U);
}

/// Cuts what was never sent into segments that fit. Without buffers some stay as they are until the next time.
void Endpoint::cut_segments() {
  for (packet::Cursor at = send_.unsent(); at; at = at.next()) {
    while (at.note().payload_len > mss_) {
      if (!send_.cut(at, mss_)) return;
    }
  }
}

}  // namespace sluice::tcp
