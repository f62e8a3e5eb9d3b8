#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/seq.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::packet {

/// Reason that an ICMP error states: why a packet was not forwarded or delivered.
enum class IcmpProblem : std::uint8_t {
  too_big,  ///< the packet was too big: fragmentation needed and DF set (RFC 1191), or packet too big (RFC 8201)

  /// The packet was not delivered: unreachable, time exceeded or parameter problem; possibly temporary (RFC 5461).
  undelivered
};

/// ICMP or ICMPv6 error that quotes the beginning of a TCP segment.
struct IcmpError {
  IcmpProblem problem = IcmpProblem::undelivered;
  std::uint32_t mtu = 0;  ///< MTU in bytes that the router states if a packet was too big; 0 if it states none (IPv4)

  // Fields of the quoted segment:
  IpAddress src;
  IpAddress dst;
  std::uint16_t src_port = 0;
  std::uint16_t dst_port = 0;
  std::uint16_t ip_length = 0;  ///< length of the whole quoted IP packet, from its header
  tcp::SeqNum seq;
};

/// Reads an ICMP error from a packet for which parse() returned `icmp`. Never reads outside the packet. Returns nothing
/// in these cases:
/// - The message is no error (echo, redirect, source quench, …).
/// - The message quotes no TCP segment, or less than its ports and sequence number.
/// - The message was not sent to the sender of the quoted segment.
/// - The checksum is wrong.
/// The caller must check whether the quoted segment was ever sent.
[[nodiscard]] std::optional<IcmpError> read_icmp_error(const Packet& packet, const Parsed& parsed) noexcept;

/// Returns the next smaller packet size to try if a router states no MTU and `ip_length` bytes were too large (RFC 1191
/// section 7.1, table); 0 if there is none.
[[nodiscard]] std::uint32_t plateau_below(std::uint32_t ip_length) noexcept;

/// Returns the smallest MTU that an ICMP error can state (RFC 791: 68; RFC 8200: 1280).
[[nodiscard]] constexpr std::uint32_t min_mtu(std::uint8_t ip_version) {
  return ip_version == 4 ? 68 : 1280;
}

}  // namespace sluice::packet
