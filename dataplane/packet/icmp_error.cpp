// Reader of ICMP and ICMPv6 errors about TCP segments (RFC 792, RFC 4443). Called by proxy/engine/split for packets
// that parsed as ICMP. The quoted headers are hostile input, so every length is checked before use. The caller compares
// the quote with its connections.

#include "dataplane/packet/icmp_error.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/headers.hpp"

namespace sluice::packet {
namespace {

/// Bytes of the TCP header that a quote must contain at least: ports and sequence number (RFC 792).
constexpr std::size_t quoted_tcp = 8;

/// True if the checksum of the ICMP message is correct.
bool checksum_good(const Packet& packet, const Parsed& parsed, std::span<const std::uint8_t> message) {
  std::uint64_t sum = ones_complement_sum(message);
  if (parsed.ip_version == 6) {
    const auto length = static_cast<std::uint16_t>(message.size());
    sum = add_wide(pseudo_header_v6(packet.data() + parsed.ip_offset + 8, ip_protocol::icmp_v6, length), sum);
  }
  return fold(sum) == 0xffff;
}

/// Returns the problem that type and code of an ICMP message state; nothing if it is no error.
std::optional<IcmpProblem> problem_v4(std::uint8_t type, std::uint8_t code) {
  constexpr std::uint8_t unreachable = 3, time_exceeded = 11, parameter_problem = 12, fragmentation_needed = 4;
  if (type == unreachable && code == fragmentation_needed) return IcmpProblem::too_big;
  const bool error = type == unreachable || type == time_exceeded || type == parameter_problem;
  return error ? std::optional(IcmpProblem::undelivered) : std::nullopt;
}

/// Returns the problem that the type of an ICMPv6 message states; nothing if it is no error.
std::optional<IcmpProblem> problem_v6(std::uint8_t type) {
  constexpr std::uint8_t unreachable = 1, too_big = 2, time_exceeded = 3, parameter_problem = 4;
  if (type == too_big) return IcmpProblem::too_big;
  const bool error = type == unreachable || type == time_exceeded || type == parameter_problem;
  return error ? std::optional(IcmpProblem::undelivered) : std::nullopt;
}

/// Reads a quoted IPv4 header. Returns the offset of TCP in the quote; nothing if the quote does not contain the start
/// of a TCP header.
std::optional<std::size_t> quoted_v4(std::span<const std::uint8_t> quote, IcmpError& out) {
  if (quote.size() < ipv4_length || quote[0] >> 4 != 4) return std::nullopt;
  const std::size_t header = (quote[0] & 15U) * 4U;
  const bool later_fragment = (load_be16(quote.data() + 6) & 0x1fffU) != 0;
  if (header < ipv4_length || later_fragment || quote[9] != ip_protocol::tcp) return std::nullopt;
  out.ip_length = load_be16(quote.data() + 2);
  out.src = IpAddress::v4(quote[12], quote[13], quote[14], quote[15]);
  out.dst = IpAddress::v4(quote[16], quote[17], quote[18], quote[19]);
  return header;
}

/// Reads a quoted IPv6 header. Returns the offset of TCP in the quote; nothing if the TCP header does not follow
/// directly.
std::optional<std::size_t> quoted_v6(std::span<const std::uint8_t> quote, IcmpError& out) {
  if (quote.size() < ipv6_length || quote[0] >> 4 != 6 || quote[6] != ip_protocol::tcp) return std::nullopt;
  const std::size_t length = std::size_t{load_be16(quote.data() + 4)} + ipv6_length;
  out.ip_length = static_cast<std::uint16_t>(std::min<std::size_t>(length, UINT16_MAX));
  std::copy_n(quote.begin() + 8, 16, out.src.octets.begin());
  std::copy_n(quote.begin() + 24, 16, out.dst.octets.begin());
  return ipv6_length;
}

}  // namespace

std::optional<IcmpError> read_icmp_error(const Packet& packet, const Parsed& parsed) noexcept {
  const bool v4 = parsed.ip_version == 4;
  if (parsed.l4_offset == 0 || parsed.protocol != (v4 ? ip_protocol::icmp : ip_protocol::icmp_v6)) return std::nullopt;
  const std::span<const std::uint8_t> message = packet.bytes().first(parsed.frame_length()).subspan(parsed.l4_offset);
  if (message.size() < icmp_length) return std::nullopt;
  const auto problem = v4 ? problem_v4(message[0], message[1]) : problem_v6(message[0]);
  if (!problem) return std::nullopt;
  IcmpError error;
  error.problem = *problem;
  const std::uint32_t rest = load_be32(message.data() + 4);
  if (*problem == IcmpProblem::too_big) error.mtu = v4 ? rest & 0xffffU : rest;
  const std::span<const std::uint8_t> quote = message.subspan(icmp_length);
  const auto tcp = v4 ? quoted_v4(quote, error) : quoted_v6(quote, error);
  if (!tcp || quote.size() < *tcp + quoted_tcp) return std::nullopt;
  error.src_port = load_be16(quote.data() + *tcp);
  error.dst_port = load_be16(quote.data() + *tcp + 2);
  error.seq = tcp::SeqNum(load_be32(quote.data() + *tcp + 4));
  if (error.src != parsed.dst || !checksum_good(packet, parsed, message)) return std::nullopt;
  return error;
}

std::uint32_t plateau_below(std::uint32_t ip_length) noexcept {
  constexpr std::array<std::uint32_t, 11> plateaus = {65535, 32000, 17914, 8166, 4352, 2002, 1492, 1006, 508, 296, 68};
  const auto* const found =
      std::find_if(plateaus.begin(), plateaus.end(), [&](std::uint32_t size) { return size < ip_length; });
  return found == plateaus.end() ? 0 : *found;
}

}  // namespace sluice::packet
