#pragma once

#include <cstdint>
#include <span>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Prepends UDP, IP and link headers with checksums to a packet that holds exactly a UDP payload.
void write_udp_headers(Packet& packet, const HeaderTemplate& header, const Addresses& addresses,
                       std::uint16_t ip_id) noexcept;

/// Type and code of an ICMP message, and the 32 bits after its checksum in host order. In an echo these bits are
/// identifier and sequence number. In "packet too big" they are the MTU. In "fragmentation needed" the low half is the
/// next-hop MTU.
struct IcmpHeader {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t rest = 0;
};

/// Prepends headers to a packet that holds exactly the body of an ICMP (IPv4) or ICMPv6 message. Ports are not used.
void write_icmp_headers(Packet& packet, const HeaderTemplate& header, const Addresses& addresses,
                        const IcmpHeader& icmp, std::uint16_t ip_id) noexcept;

}  // namespace sluice::packet
