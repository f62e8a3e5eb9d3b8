#pragma once

#include <cstdint>
#include <span>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Turns a packet that holds exactly a UDP payload into a frame: UDP, IP and link headers with checksums.
void write_udp_headers(Packet& packet, const HeaderTemplate& header, const Addresses& addresses,
                       std::uint16_t ip_id) noexcept;

/// Type and code of an ICMP message, and the 32 bits that follow its checksum (identifier and sequence number of an
/// echo, next-hop MTU in the low half of "fragmentation needed", MTU of "packet too big"), in host order.
struct IcmpHeader {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t rest = 0;
};

/// Turns a packet that holds exactly the body of an ICMP (IPv4) or ICMPv6 message into a frame. Ports are not used.
void write_icmp_headers(Packet& packet, const HeaderTemplate& header, const Addresses& addresses,
                        const IcmpHeader& icmp, std::uint16_t ip_id) noexcept;

}  // namespace sluice::packet
