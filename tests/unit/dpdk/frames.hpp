#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/units/ip_address.hpp"
#include "tests/support/eal.hpp"

namespace sluice::dpdk::test {

inline constexpr std::array<std::uint8_t, 6> mac_a = {2, 0, 0, 0, 0, 0xa}, mac_b = {2, 0, 0, 0, 0, 0xb};

inline IpAddress ue(unsigned number) {
  return IpAddress::v4(10, 45, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number));
}
inline IpAddress server() {
  return IpAddress::v4(198, 51, 100, 7);
}

/// A UDP frame that carries `text`.
inline packet::Packet datagram(packet::PacketPool& pool, const IpAddress& src, const IpAddress& dst,
                               std::string_view text) {
  packet::Packet packet = pool.allocate();
  text.copy(reinterpret_cast<char*>(packet.append(static_cast<std::uint16_t>(text.size()))), text.size());
  packet::write_udp_headers(packet, packet::make_template(mac_a, mac_b, src.is_v4() ? 4 : 6), {src, dst, 1000, 2000},
                            1);
  return packet;
}
inline packet::Packet datagram(const IpAddress& src, const IpAddress& dst, std::string_view text) {
  return datagram(sluice::test::pool(), src, dst, text);
}

/// Returns the text that datagram() put into a frame; empty when the frame is none of those.
inline std::string_view text_of(const packet::Packet& frame) {
  packet::Parsed parsed;
  if (packet::parse(frame, parsed) != packet::ParseResult::udp) return {};
  const std::size_t begin = parsed.l4_offset + packet::udp_length;
  return {reinterpret_cast<const char*>(frame.data()) + begin, parsed.frame_length() - begin};
}

}  // namespace sluice::dpdk::test
