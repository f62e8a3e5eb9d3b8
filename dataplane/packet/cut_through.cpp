#include <rte_mbuf.h>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/parse.hpp"

// Forwarding of segments in the frame in which they arrived, with only some header fields rewritten (RFC 1624).

namespace sluice::packet {
namespace {

/// Replaces the 32-bit number at `at` in a frame by `host`, a number in host order. Returns the change of the ones'
/// complement sum.
inline std::uint64_t change(std::uint8_t* at, std::uint32_t host) noexcept {
  const std::uint32_t wire = __builtin_bswap32(host);
  const std::uint32_t before = load32(at);
  store32(at, wire);
  return std::uint64_t{wire} + ~before;
}

/// True if the segment has no TCP option except timestamps laid out as in RFC 7323 appendix A.
bool has_common_options(const Packet& packet, const Parsed& parsed) noexcept {
  const auto header = static_cast<std::size_t>(parsed.payload_offset - parsed.l4_offset);
  if (!parsed.segment.has_timestamps) return header == tcp_length;
  return header == tcp_length + 12 && load32(packet.data() + parsed.l4_offset + tcp_length) == only_timestamps;
}

/// Rewrites the TCP header at `tcp`, which has `header` bytes: acknowledgement number, window and TSecr become those of
/// `passed`, and the flags become `flags`. Updates the checksum. TSecr is rewritten only if `timestamps` is true, that
/// is, if the header has timestamps.
[[gnu::always_inline]] inline void write(std::uint8_t* tcp, std::uint32_t header, bool timestamps, tcp::Flags flags,
                                         const tcp::CutThroughHeader& passed) noexcept {
  std::uint64_t sum = static_cast<std::uint16_t>(~load16(tcp + 16));
  sum += change(tcp + 8, passed.ack.raw());
  sum += change(tcp + 12, header / 4 << 28 | std::uint32_t{flags.bits} << 16 | passed.window);
  if (timestamps) sum += change(tcp + tcp_length + 8, passed.ts_echo);
  store16(tcp + 16, static_cast<std::uint16_t>(~fold(sum)));
}

}  // namespace

bool can_cut_through(const Packet& packet, const Parsed& parsed) noexcept {
  const tcp::Segment& segment = parsed.segment;
  if ((segment.urgent | segment.ecn) != 0 || packet.size() != parsed.frame_length()) return false;
  return parsed.common || (has_common_options(packet, parsed) && parsed.dont_fragment);
}

void write_cut_through(Packet& packet, const Parsed& parsed, const tcp::CutThroughHeader& passed) noexcept {
  const tcp::Segment& segment = parsed.segment;
  if (parsed.common) [[likely]] {
    write(packet.data() + common_frame::tcp_at, common_frame::tcp_header, true, segment.flags, passed);
  } else {
    const auto header = static_cast<std::uint32_t>(parsed.payload_offset - parsed.l4_offset);
    write(packet.data() + parsed.l4_offset, header, segment.has_timestamps, segment.flags, passed);
  }
  packet.buffer()->ol_flags &= RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_INDIRECT;
}

}  // namespace sluice::packet
