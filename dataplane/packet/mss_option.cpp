// Rewriting of the MSS option of a SYN (RFC 9293 section 3.7.1). Called by the proxy for hosts that announce a larger
// MSS than its ports carry. Only the option and the TCP checksum change, so the segment keeps its length.

#include "dataplane/packet/mss_option.hpp"

#include <algorithm>
#include <cstddef>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/headers.hpp"

namespace sluice::packet {
namespace {

constexpr std::size_t mss_length = 4;    ///< length of the MSS option: kind, length, and two bytes of value
constexpr std::size_t checksum_at = 16;  ///< offset of the checksum in the TCP header

/// Calls visit(offset) with the offset in `frame` of each MSS value among the TCP options between `at` and `end`. Stops
/// at an option with an invalid length, as the reader of options does.
template <typename Visit>
void for_each_mss(const std::uint8_t* frame, std::size_t at, std::size_t end, Visit&& visit) {
  while (at < end && frame[at] != tcp_option::end) {
    if (frame[at] == tcp_option::nop) {
      ++at;
      continue;
    }
    if (at + 1 >= end) return;
    const std::size_t length = frame[at + 1];
    if (length < 2 || at + length > end) return;
    if (frame[at] == tcp_option::mss && length == mss_length) visit(at + 2);
    at += length;
  }
}

/// Returns the checksum of a TCP segment after the 16-bit value at `offset` in that segment changes. The values and the
/// checksum are in memory order. A value at an odd offset lies in two words of the sum, with its bytes exchanged.
std::uint16_t updated(std::uint16_t checksum, std::size_t offset, std::uint16_t before, std::uint16_t after) {
  if (offset % 2 == 0) return update_checksum(checksum, before, after);
  return update_checksum(checksum, swap_sum(before), swap_sum(after));
}

}  // namespace

bool lower_mss(Packet& packet, Parsed& parsed, std::uint16_t most) noexcept {
  const std::size_t tcp = parsed.l4_offset;
  const std::size_t options = tcp + tcp_length;
  bool exceeds = false;
  for_each_mss(packet.data(), options, parsed.payload_offset,
               [&](std::size_t at) { exceeds = exceeds || load_be16(packet.data() + at) > most; });
  if (!exceeds) return false;
  const ChecksumState state = verify_tcp_checksum(packet, parsed);
  if (state == ChecksumState::bad) return false;
  std::uint8_t* const frame = packet.data();
  std::uint8_t* const checksum = frame + tcp + checksum_at;
  for_each_mss(frame, options, parsed.payload_offset, [&](std::size_t at) {
    const std::uint16_t before = load16(frame + at);
    if (load_be16(frame + at) <= most) return;
    store_be16(frame + at, most);
    if (state == ChecksumState::good)
      store16(checksum, updated(load16(checksum), at - tcp, before, load16(frame + at)));
  });
  parsed.segment.syn.mss = std::min(parsed.segment.syn.mss, most);
  return true;
}

}  // namespace sluice::packet
