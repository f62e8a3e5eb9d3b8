#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "dataplane/packet/outer_headers.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::packet {

/// Selects how the proxy processes a packet, as far as the packet's headers determine it.
enum class Disposition : std::uint8_t {
  optimise,  ///< a TCP segment that the proxy may process
  forward,   ///< a valid packet that is not to be processed: forwarded unchanged
  drop       ///< a damaged packet that no receiver would accept
};

/// Outcomes of parse(): X(name, disposition, text). Counters and their names are generated from this table.
#define SLUICE_PARSE_RESULTS(X)                                                                      \
  X(tcp, optimise, "TCP segment")                                                                    \
  X(arp, forward, "ARP")                                                                             \
  X(not_ip, forward, "neither IPv4 nor IPv6")                                                        \
  X(vlan_depth, forward, "more than two VLAN tags")                                                  \
  X(mpls, forward, "MPLS label")                                                                     \
  X(udp, forward, "UDP")                                                                             \
  X(icmp, forward, "ICMP or ICMPv6")                                                                 \
  X(not_tcp, forward, "another protocol over IP")                                                    \
  X(ip_fragment, forward, "IP fragment")                                                             \
  X(ip_options, forward, "IPv4 options")                                                             \
  X(ipv6_extension, forward, "IPv6 extension header")                                                \
  X(ipv6_mapped, forward, "IPv4-mapped address in an IPv6 header")                                   \
  X(tcp_options_unknown, forward, "SYN with a TCP option that is not understood or is malformed")    \
  X(runt, drop, "frame shorter than its link header")                                                \
  X(truncated, drop, "IP packet longer than its frame (truncated on reception, or never segmented)") \
  X(bad_ip_header, drop, "malformed IP header")                                                      \
  X(bad_ip_checksum, drop, "wrong IPv4 header checksum")                                             \
  X(bad_tcp_header, drop, "malformed TCP header")

enum class ParseResult : std::uint8_t {
#define X(name, disposition, text) name,
  SLUICE_PARSE_RESULTS(X)
#undef X
};
#define X(name, disposition, text) +1
inline constexpr std::size_t parse_result_count = 0 SLUICE_PARSE_RESULTS(X);
#undef X

/// Returns the outcome's identifier, such as "ip_fragment", for counters.
[[nodiscard]] std::string_view to_string(ParseResult result) noexcept;
/// Returns a description of the outcome, such as "TCP segment".
[[nodiscard]] std::string_view describe(ParseResult result) noexcept;
[[nodiscard]] Disposition disposition(ParseResult result) noexcept;

/// Bit set of TCP options in a segment that the proxy does not support.
struct UnknownOptions {
  static constexpr std::uint8_t multipath = 0x01,  ///< Multipath TCP (RFC 8684)
      authentication = 0x02,                       ///< TCP-AO (RFC 5925)
      md5 = 0x04,                                  ///< set for the option TCP MD5 signature (RFC 2385)
      fast_open = 0x08,  ///< set for the option TCP Fast Open (RFC 7413), also with its experimental kind
      other = 0x10,
                                /// Set if an option has an invalid length; in that case the options after it were not
                                /// read.
      malformed = 0x80;
  std::uint8_t bits = 0;

  [[nodiscard]] constexpr bool any() const { return bits != 0; }
  constexpr bool operator==(const UnknownOptions&) const = default;
};

/// Header fields that parse() reads. Offsets count from the first byte of the frame. The first 40 bytes are the flow
/// key in the order of flow::FlowKey. All fields are valid for the outcomes `tcp` and `tcp_options_unknown`. For other
/// outcomes the link fields are valid, and the IP fields if ip_version is not 0. Ports are also valid for `udp`.
struct Parsed {
  IpAddress src;
  IpAddress dst;
  std::uint16_t src_port = 0;
  std::uint16_t dst_port = 0;
  Networks networks{};           ///< networks that the outer headers name, part of the flow key
  std::uint32_t flow_label = 0;  ///< IPv6 flow label, 20 bits; 0 for IPv4
  std::uint16_t l4_offset = 0;   ///< offset of the transport header; 0 if there is none
  std::uint16_t payload_offset = 0;
  std::uint16_t ip_length = 0;  ///< bytes of the IP packet; the rest of the frame is padding
  std::uint16_t ip_id = 0;      ///< IPv4 identification
  std::uint8_t ip_offset = 0;   ///< offset of the IP header: the length of the outer headers
  std::uint8_t ip_version = 0;  ///< 4 or 6; 0 if the packet is not IP or its IP header is damaged
  std::uint8_t protocol = 0;    ///< IPv4 protocol or first IPv6 next header
  UnknownOptions unknown_options;
  std::uint8_t tos = 0;        ///< type of service (IPv4) or traffic class (IPv6): DSCP and ECN
  std::uint8_t ttl = 0;        ///< TTL (IPv4) or hop limit (IPv6)
  bool dont_fragment = false;  ///< DF bit of IPv4; true for IPv6
  /// True if parse_fast() has parsed the frame, so that all headers have the offsets in common_frame.
  bool common = false;
  tcp::Segment segment;

  /// Returns the length of the frame without link padding: from its start to the end of the IP packet.
  [[nodiscard]] std::uint16_t frame_length() const { return static_cast<std::uint16_t>(ip_offset + ip_length); }
};
static_assert(sizeof(Parsed) <= 128, "two cache lines");

/// Reads the headers of a frame, and returns the outcome. Never reads outside the frame, whatever it contains, and
/// never writes to it. For the results `tcp` and `tcp_options_unknown` all of `out` is valid. In a segment without SYN,
/// unknown or malformed options only set `out.unknown_options`. The TCP checksum is not checked.
[[nodiscard]] ParseResult parse(const Packet& packet, Parsed& out) noexcept;

/// Fast path of parse() for the most common frame. Such a frame has no VLAN tag, IPv4 without options and with DF, and
/// TCP. Its only TCP option is timestamps, laid out as in RFC 7323 appendix A. SYN and AE are not set. Returns false,
/// with `out` undefined, for every other frame, including damaged ones. Otherwise `out` equals the result of
/// parse_any(), whose outcome is then `tcp`.
[[nodiscard]] bool parse_fast(std::span<const std::uint8_t> frame, Parsed& out) noexcept;
/// Offsets in a frame that parse_fast() accepts. The ports follow the addresses.
namespace common_frame {
inline constexpr std::size_t addresses_at = 26, tcp_at = 34, tcp_header = 32, payload_at = tcp_at + tcp_header;
}

/// Fast path of parse() for a SYN or SYN-ACK without ECN flags, with the options that nearly all kernels write and in
/// their order. Returns false for every other frame.
[[nodiscard]] bool parse_fast_syn(std::span<const std::uint8_t> frame, Parsed& out) noexcept;

/// General path of parse(), which accepts every frame.
[[nodiscard]] ParseResult parse_any(std::span<const std::uint8_t> frame, Parsed& out) noexcept;

/// Result of a transport checksum test.
enum class ChecksumState : std::uint8_t {
  good,
  /// The checksum field contains only the sum of the pseudo-header. A kernel leaves this value for a virtual device
  /// (veth, TAP). One in 65536 damaged segments has this value by chance. So it is accepted only from ports on which
  /// kernels leave it.
  partial,
  partial_verified,  ///< the checksum field is incomplete, but the device reports correct data (virtio between guests)
  bad
};

/// Tests the TCP checksum of a segment that parsed as TCP, and stores payload_sum and payload_len in the packet's
/// metadata (PacketNote). With both, headers can be written later without reading the payload again. Both are valid
/// unless the result is `bad`. If the device reports a good checksum, the payload is not read, because its sum follows
/// from the header.
[[nodiscard]] ChecksumState verify_tcp_checksum(const Packet& packet, const Parsed& parsed) noexcept;

/// Completes the TCP or UDP checksum of a forwarded packet if it is `partial`, because a virtual device (veth, TAP) has
/// not done so. Returns true if it wrote the checksum. `parsed` and `result` are what parse() has stored and returned.
/// Other protocols, fragments and packets with IPv6 extension headers are not changed.
bool complete_partial_checksum(Packet& packet, const Parsed& parsed, ParseResult result) noexcept;

/// True if two segments of one direction of a connection have the same headers and payload length. Ports, sequence
/// number, timestamps, PSH, link headers and padding are not compared.
[[nodiscard]] bool have_same_headers(const Parsed& first, const Parsed& second) noexcept;

/// True if `second` continues `first` (a GRO run). Both are data segments of one direction, and `second` begins where
/// `first` ends. Their acknowledgement number, window, TOS and TTL are equal, and the TSval of `second` is not older.
/// PSH, TSecr, payload length and link headers may differ.
[[nodiscard]] bool is_contiguous(const Parsed& first, const Parsed& second) noexcept;

/// Reduces the packet to its TCP payload: removes the headers in front and the link padding at the end.
inline void strip_to_payload(Packet& packet, const Parsed& parsed) noexcept {
  packet.truncate(static_cast<std::uint16_t>(parsed.payload_offset + parsed.segment.payload_len));
  packet.trim_front(parsed.payload_offset);
}

}  // namespace sluice::packet
