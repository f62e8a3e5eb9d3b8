#include "dataplane/packet/build_datagram.hpp"

#include <rte_mbuf.h>

#include "dataplane/packet/checksum.hpp"

namespace sluice::packet {
namespace {

/// Prepends space for `l4_length` bytes of transport header, and writes the headers in front of it. Returns the start
/// of the transport header and stores the sum of the addresses in `addresses_sum`.
std::uint8_t* prepend_ip(Packet& packet, const HeaderTemplate& header, const Addresses& addresses,
                         std::size_t l4_length, IpPayload payload, std::uint64_t& addresses_sum) noexcept {
  payload.length = static_cast<std::uint16_t>(packet.size() + l4_length);
  payload.tos = header.tos;
  const std::size_t front = header.outer.length + (header.ip_version == 4 ? ipv4_length : ipv6_length);
  std::uint8_t* const frame = packet.prepend(static_cast<std::uint16_t>(front + l4_length));
  packet.buffer()->ol_flags &= RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_INDIRECT;
  addresses_sum = write_outer_and_ip(frame, header, addresses, payload);
  return frame + front;
}

}  // namespace

void write_udp_headers(Packet& packet, const HeaderTemplate& header, const Addresses& addresses,
                       std::uint16_t ip_id) noexcept {
  std::uint64_t sum = 0;
  const IpPayload payload{.ip_id = ip_id, .protocol = ip_protocol::udp};
  const auto length = static_cast<std::uint16_t>(packet.size() + udp_length);
  std::uint8_t* const udp = prepend_ip(packet, header, addresses, udp_length, payload, sum);
  store_be16(udp, addresses.src_port);
  store_be16(udp + 2, addresses.dst_port);
  store_be16(udp + 4, length);
  store16(udp + 6, 0);
  sum += std::uint64_t{__builtin_bswap16(length)} + (std::uint32_t{ip_protocol::udp} << 8);
  sum += ones_complement_sum({udp, length});
  const auto checksum = static_cast<std::uint16_t>(~fold(sum));
  store16(udp + 6, checksum == 0 ? 0xffff : checksum);  // 0 would mean that there is no checksum (RFC 768)
}

void write_icmp_headers(Packet& packet, const HeaderTemplate& header, const Addresses& addresses,
                        const IcmpHeader& icmp, std::uint16_t ip_id) noexcept {
  std::uint64_t sum = 0;
  const bool v4 = header.ip_version == 4;
  const IpPayload payload{.ip_id = ip_id, .protocol = v4 ? ip_protocol::icmp : ip_protocol::icmp_v6};
  const auto length = static_cast<std::uint16_t>(packet.size() + icmp_length);
  std::uint8_t* const message = prepend_ip(packet, header, addresses, icmp_length, payload, sum);
  message[0] = icmp.type;
  message[1] = icmp.code;
  store16(message + 2, 0);
  store_be32(message + 4, icmp.rest);
  // Only ICMPv6 covers a pseudo-header (RFC 4443 section 2.3; RFC 792).
  sum = v4 ? 0 : sum + __builtin_bswap16(length) + (std::uint32_t{ip_protocol::icmp_v6} << 8);
  store16(message + 2, static_cast<std::uint16_t>(~fold(sum + ones_complement_sum({message, length}))));
}

}  // namespace sluice::packet
