#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "dataplane/packet/packet.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::packet {

/// What is to become of a packet, as far as its headers tell.
enum class Disposition : std::uint8_t {
  optimise,  ///< a TCP segment that the proxy may take part in
  forward,   ///< sound, but not for us: passes untouched
  drop       ///< damaged: no receiver would take it
};

/// Every outcome of parse(): X(name, disposition, text). Counters and their names come from this table.
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

/// The outcome's identifier ("ip_fragment"), for counters.
[[nodiscard]] std::string_view to_string(ParseResult result) noexcept;
/// The outcome in words.
[[nodiscard]] std::string_view describe(ParseResult result) noexcept;
[[nodiscard]] Disposition disposition(ParseResult result) noexcept;

/// TCP options found in a segment that we do not act on; bits, so that several fit.
struct UnknownOptions {
  static constexpr std::uint8_t multipath = 0x01,  ///< RFC 8684
      authentication = 0x02,                       ///< TCP-AO, RFC 5925
      md5 = 0x04,                                  ///< RFC 2385
      fast_open = 0x08,                            ///< RFC 7413, also by its experimental number
      other = 0x10,
                                malformed = 0x80;  ///< a length that cannot be; the options behind it were not read
  std::uint8_t bits = 0;

  [[nodiscard]] constexpr bool any() const { return bits != 0; }
  constexpr bool operator==(const UnknownOptions&) const = default;
};

/// A VLAN tag as part of a flow's identity: the VLAN id with marks for "there is a tag" and its type; 0 without a tag.
/// Priority bits are not part of it, and a tag with VLAN id 0 is none: it carries a priority and names no VLAN (IEEE
/// 802.1Q).
struct VlanTag {
  static constexpr std::uint16_t present = 0x1000, service = 0x2000, old_service = 0x4000;
  std::uint16_t bits = 0;
  [[nodiscard]] constexpr std::uint16_t id() const { return bits & 0x0fffU; }
  [[nodiscard]] constexpr bool exists() const { return (bits & present) != 0; }
  constexpr bool operator==(const VlanTag&) const = default;
};

/// What parse() read. Offsets count from the first byte of the frame. The first 40 bytes are the flow's identity in the
/// order of flow::FlowKey. Of a packet that is not `tcp` (or `tcp_options_unknown`) only the link fields are valid, and
/// when ip_version is not 0 the IP fields; ports also for `udp`.
struct Parsed {
  IpAddress src;
  IpAddress dst;
  std::uint16_t src_port = 0;
  std::uint16_t dst_port = 0;
  std::array<VlanTag, 2> vlan{};  ///< outer, inner; of the tags that name a VLAN
  std::uint32_t flow_label = 0;   ///< IPv6, 20 bits
  std::uint16_t l4_offset = 0;    ///< 0 when there is no transport header to point to
  std::uint16_t payload_offset = 0;
  std::uint16_t ip_length = 0;  ///< IP header to the last byte of the IP packet; what follows in the frame is padding
  std::uint16_t ip_id = 0;      ///< IPv4
  std::uint8_t l2_len = 0;      ///< 14, 18 or 22; where the IP header begins
  std::uint8_t ip_version = 0;  ///< 4 or 6; 0 when the packet is not IP or its IP header is damaged
  std::uint8_t protocol = 0;    ///< IPv4 protocol or first IPv6 next header
  UnknownOptions unknown_options;
  std::uint8_t tos = 0;        ///< DSCP and ECN: type of service (IPv4), traffic class (IPv6)
  std::uint8_t ttl = 0;        ///< hop limit
  bool dont_fragment = false;  ///< IPv4; true for IPv6
  bool usual = false;          ///< parse_usual() has read it, so that all headers are where usual_frame says
  tcp::Segment segment;

  /// Bytes from the frame's start to the end of the IP packet: the frame without link padding.
  [[nodiscard]] std::uint16_t frame_length() const { return static_cast<std::uint16_t>(l2_len + ip_length); }
};
static_assert(sizeof(Parsed) <= 128, "two cache lines");

/// Reads the headers of a frame. Never reads outside it, whatever it holds; never writes to it. On `tcp` and
/// `tcp_options_unknown` everything in `out` is valid. Unknown or malformed options in a segment without SYN do not
/// change the outcome, but are reported in `out.unknown_options`. Does not look at the TCP checksum.
[[nodiscard]] ParseResult parse(const Packet& packet, Parsed& out) noexcept;

/// The short way of parse() for what nearly every packet looks like: no VLAN tag, IPv4 without options, whole and not
/// to be fragmented, TCP without SYN and AE and with nothing but timestamps, laid out as RFC 7323 appendix A
/// recommends. False, with nothing promised of `out`, when the frame is anything else, damaged ones included; when
/// true, what parse_any() gives, which is `tcp`, and the same in `out`.
[[nodiscard]] bool parse_usual(std::span<const std::uint8_t> frame, Parsed& out) noexcept;
/// Where things stand in such a frame. The ports follow the addresses.
namespace usual_frame {
inline constexpr std::size_t addresses_at = 26, tcp_at = 34, tcp_header = 32, payload_at = tcp_at + tcp_header;
}

/// The same for a SYN or SYN-ACK that says nothing of ECN, with the options that nearly all kernels write, as they
/// write them.
[[nodiscard]] bool parse_usual_syn(std::span<const std::uint8_t> frame, Parsed& out) noexcept;

/// What parse() does with all others, and could with all.
[[nodiscard]] ParseResult parse_any(std::span<const std::uint8_t> frame, Parsed& out) noexcept;

/// What a transport checksum turned out to be.
enum class ChecksumState : std::uint8_t {
  good,
  /// The field holds the sum of the pseudo-header alone. A kernel leaves it so for a device that does not exist (veth,
  /// TAP), and one in 65536 damaged segments has that value by chance: who sends so must be known.
  partial,
  vouched,  ///< the field is unfinished and the device reports that the data is right (virtio between guests)
  bad
};

/// Checks the TCP checksum of a segment that parsed as TCP, and notes payload_sum and payload_len, which then serve to
/// build outgoing headers without touching the payload again. Valid for all but `bad`. When the device says the
/// checksum is good, the payload is not read at all: its sum follows from the header's.
[[nodiscard]] ChecksumState verify_tcp_checksum(const Packet& packet, const Parsed& parsed) noexcept;

/// For packets forwarded untouched out of a veth or TAP interface: when the TCP or UDP checksum is `partial`, writes
/// the full one in its place, as the device would have. Returns whether it did. `parsed` is what parse() gave; packets
/// that are neither TCP nor UDP, fragments, and those with IPv6 extension headers are left alone.
bool complete_partial_checksum(Packet& packet, const Parsed& parsed, ParseResult result) noexcept;

/// Whether two segments of one direction of a connection have as much payload and say the same, but for where they
/// stand in it, for their timestamps and for PSH. Link headers are not looked at, nor is what lies behind an IP packet.
[[nodiscard]] bool are_alike(const Parsed& first, const Parsed& second) noexcept;

/// Whether the second of two segments of one direction of a connection goes on where the first ends and says nothing
/// else that is new, but perhaps a later timestamp: they are of one train. Both bring data. Link headers are not looked
/// at.
[[nodiscard]] bool follows(const Parsed& first, const Parsed& second) noexcept;

/// Cuts the packet down to its TCP payload: headers off the front, link padding off the end.
inline void strip_to_payload(Packet& packet, const Parsed& parsed) noexcept {
  packet.truncate(static_cast<std::uint16_t>(parsed.payload_offset + parsed.segment.payload_len));
  packet.trim_front(parsed.payload_offset);
}

}  // namespace sluice::packet
