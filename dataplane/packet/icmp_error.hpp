#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/tcp/seq.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::packet {

/// What a router or a host says of a packet that it could not carry or take.
enum class IcmpProblem : std::uint8_t {
  too_big,     ///< fragmentation needed and DF set (RFC 1191), packet too big (RFC 8201)
  undelivered  ///< unreachable, time exceeded, parameter problem: on an open connection it may pass (RFC 5461)
};

/// An ICMP or ICMPv6 error that quotes the beginning of a TCP segment.
struct IcmpError {
  IcmpProblem problem = IcmpProblem::undelivered;
  std::uint32_t mtu = 0;  ///< of `too_big`, bytes of IP packet; 0 where the router does not say (IPv4)
  // Of the segment it quotes:
  IpAddress src;
  IpAddress dst;
  std::uint16_t src_port = 0;
  std::uint16_t dst_port = 0;
  std::uint16_t ip_length = 0;  ///< its whole IP packet, as the quote says
  tcp::SeqNum seq;
};

/// Reads an error out of a packet that parsed as `icmp`. Nothing where it is no error (echo, redirect, source quench,
/// …), quotes no TCP segment or too little of it, was sent to somebody else than the quoted sender, or has a wrong
/// checksum. Never reads outside the packet. Whether the quote is of a segment that was ever sent is the caller's
/// question.
[[nodiscard]] std::optional<IcmpError> read_icmp_error(const Packet& packet, const Parsed& parsed) noexcept;

/// The next smaller size worth trying, for a router that says only that `ip_length` bytes were too many (RFC 1191
/// section 7.1, table); 0 when there is none.
[[nodiscard]] std::uint32_t plateau_below(std::uint32_t ip_length) noexcept;

/// No smaller MTU is to be believed (RFC 791: 68; RFC 8200: 1280).
[[nodiscard]] constexpr std::uint32_t least_mtu(std::uint8_t ip_version) {
  return ip_version == 4 ? 68 : 1280;
}

}  // namespace sluice::packet
