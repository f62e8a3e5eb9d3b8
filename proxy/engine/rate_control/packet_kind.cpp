#include "proxy/engine/rate_control/packet_kind.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::proxy {
namespace {

/// True if a UDP payload begins with the long header of QUIC (RFC 8999 section 5.1), which handshakes use. The version
/// must be 1, 2 (RFC 9369) or that of a version negotiation. RTP packets also set the first bit of the header, but have
/// no such version.
bool is_quic_handshake(std::span<const std::uint8_t> payload) {
  constexpr std::uint8_t long_header = 0xc0;
  constexpr std::array<std::uint32_t, 3> versions = {0, 1, 0x6b3343cf};
  if (payload.size() < 5 || (payload[0] & long_header) != long_header) return false;
  const std::uint32_t version = std::uint32_t{payload[1]} << 24U | std::uint32_t{payload[2]} << 16U |
                                std::uint32_t{payload[3]} << 8U | payload[4];
  return std::find(versions.begin(), versions.end(), version) != versions.end();
}

}  // namespace

bool is_handshake(const RxPacket& rx) {
  constexpr std::size_t udp_header = 8;
  if (rx.is_tcp()) return rx.segment().flags.syn() || rx.segment().flags.fin() || rx.segment().flags.rst();
  if (rx.result != packet::ParseResult::udp) return false;
  const std::size_t at = rx.parsed.l4_offset + udp_header;
  const std::span<const std::uint8_t> frame = rx.packet.bytes();
  return frame.size() > at && is_quic_handshake(frame.subspan(at));
}

}  // namespace sluice::proxy
