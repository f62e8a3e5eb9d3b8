// Rewriting of the MSS option of a SYN (RFC 9293 section 3.7.1). Called by the proxy for hosts that announce a larger
// MSS than its ports carry. Only the option and the TCP checksum change, so the segment keeps its length.

#include "dataplane/packet/mss_option.hpp"

#include <algorithm>
#include <cstddef>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/parse_options.hpp"

namespace sluice::packet {
namespace {

constexpr std::size_t mss_length = 4;    ///< length of the MSS option: kind, length, and two bytes of value
constexpr std::size_t checksum_at = 16;  ///< offset of the checksum in the TCP header

/// Returns the checksum of a TCP segment after the 16-bit value at `offset` in that segment changes. The values and the
/// checksum are in memory order. A value at an odd offset lies in two words of the sum, with its bytes exchanged.
std::uint16_t updated(std::uint16_t checksum, std::size_t offset, std::uint16_t before, std::uint16_t after) {
  if (offset % 2 == 0) return update_checksum(checksum, before, after);
  return update_checksum(checksum, swap_sum(before), swap_sum(after));
}

}  // namespace

bool lower_mss(Packet& packet, Parsed& parsed, std::uint16_t most) noexcept {
  const ChecksumState state = verify_tcp_checksum(packet, parsed);
  if (state == ChecksumState::bad) return false;
  std::uint8_t* const tcp = packet.data() + parsed.l4_offset;
  const std::size_t length = std::size_t{parsed.payload_offset} - parsed.l4_offset - tcp_length;
  bool lowered = false;
  for_each_option({tcp + tcp_length, length}, [&](std::size_t option, std::size_t option_length) {
    const std::size_t at = tcp_length + option + 2;
    if (tcp[at - 2] != tcp_option::mss || option_length != mss_length || load_be16(tcp + at) <= most) return;
    const std::uint16_t before = load16(tcp + at);
    store_be16(tcp + at, most);
    if (state == ChecksumState::good)
      store16(tcp + checksum_at, updated(load16(tcp + checksum_at), at, before, load16(tcp + at)));
    lowered = true;
  });
  if (lowered) parsed.segment.syn.mss = std::min(parsed.segment.syn.mss, most);
  return lowered;
}

}  // namespace sluice::packet
