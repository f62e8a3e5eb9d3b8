#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/packet/encapsulation.hpp"
#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::packet {

/// Source and destination of a packet. Both addresses are of the same family. Ports are in host order.
struct Addresses {
  IpAddress src;
  IpAddress dst;
  std::uint16_t src_port = 0;
  std::uint16_t dst_port = 0;

  [[nodiscard]] constexpr Addresses reversed() const { return {dst, src, dst_port, src_port}; }
  constexpr bool operator==(const Addresses&) const = default;
};

/// View of addresses that are stored elsewhere, from which headers are built. Converts implicitly from Addresses and
/// must not outlive the stored addresses. An address is given by the pointer after its last octet. The octets before it
/// are 4 for IPv4 (possibly the last ones of a mapped address), and 16 for IPv6.
struct AddressesView {
  // NOLINTNEXTLINE(google-explicit-constructor): a view of exactly that
  AddressesView(const Addresses& whole) : AddressesView(whole.src, whole.dst, whole.src_port, whole.dst_port) {}
  AddressesView(const IpAddress& from, const IpAddress& to, std::uint16_t from_port, std::uint16_t to_port)
      : AddressesView(from.octets.data() + from.octets.size(), to.octets.data() + to.octets.size(), from_port,
                      to_port) {}
  AddressesView(const std::uint8_t* from_end, const std::uint8_t* to_end, std::uint16_t from_port,
                std::uint16_t to_port)
      : src_end(from_end), dst_end(to_end), src_port(from_port), dst_port(to_port) {}

  const std::uint8_t* src_end;
  const std::uint8_t* dst_end;
  std::uint16_t src_port;
  std::uint16_t dst_port;
};

[[nodiscard]] inline Addresses addresses_of(const Parsed& parsed) {
  return {parsed.src, parsed.dst, parsed.src_port, parsed.dst_port};
}

/// Header fields that all packets of one direction of a flow have in common, except addresses and TCP fields. They are
/// learned from a packet of that direction. So packets that the proxy builds have the outer headers, DSCP, TTL and DF
/// of the host that the proxy impersonates.
struct HeaderTemplate {
  OuterTemplate outer;           ///< headers in front of the IP header
  std::uint8_t ip_version = 4;   ///< 4 or 6
  std::uint8_t tos = 0;          ///< DSCP and ECN byte to send
  std::uint8_t ttl = 64;         ///< TTL or hop limit
  bool dont_fragment = true;     ///< DF of IPv4
  std::uint32_t flow_label = 0;  ///< IPv6 flow label, 20 bits

  constexpr bool operator==(const HeaderTemplate&) const = default;
};
static_assert(sizeof(HeaderTemplate) <= 18 + max_outer_length, "part of each leg of a connection");

/// True if the frame's outer headers equal those of the template: MAC addresses, and VLAN tags including priorities.
/// Requires a frame that parsed as IP.
[[nodiscard]] inline bool same_link(const HeaderTemplate& known, const Packet& frame) noexcept {
  return same_outer_headers(known.outer, frame.bytes());
}

/// True if DSCP, TTL, DF and flow label of the packet equal those of the template. Compares the adjacent members of
/// both structs as one word.
[[nodiscard]] inline bool same_ip_fields(const HeaderTemplate& known, const Parsed& parsed) noexcept {
  constexpr std::size_t at = offsetof(HeaderTemplate, ip_version), parsed_at = offsetof(Parsed, unknown_options);
  static_assert(offsetof(HeaderTemplate, tos) == at + 1 && offsetof(HeaderTemplate, ttl) == at + 2 &&
                offsetof(HeaderTemplate, dont_fragment) == at + 3);
  static_assert(offsetof(Parsed, tos) == parsed_at + 1 && offsetof(Parsed, ttl) == parsed_at + 2 &&
                offsetof(Parsed, dont_fragment) == parsed_at + 3);
  constexpr std::uint32_t compared = 0xfffffc00U;  // neither the first byte nor the ECN bits
  const std::uint32_t differs = load32(reinterpret_cast<const std::uint8_t*>(&known) + at) ^
                                load32(reinterpret_cast<const std::uint8_t*>(&parsed) + parsed_at);
  return (differs & compared) == 0 && known.flow_label == parsed.flow_label;
}

/// Returns a template learned from a packet that parsed as TCP. The DSCP is kept. The ECN bits are cleared, because the
/// TCP sender decides per segment whether it is ECN-capable (Segment::ecn, RFC 3168).
[[nodiscard]] HeaderTemplate learn(const Packet& packet, const Parsed& parsed) noexcept;

/// Returns a new template for hosts and tests: no VLAN tag, TTL 64, DF.
[[nodiscard]] HeaderTemplate make_template(std::span<const std::uint8_t, 6> source_mac,
                                           std::span<const std::uint8_t, 6> destination_mac, std::uint8_t ip_version);
/// Inserts an outer VLAN tag into the template; `tpid` is 0x8100 or 0x88a8, `tci` contains priority and VLAN id.
/// Requires fewer than two tags.
void add_vlan_tag(HeaderTemplate& header, std::uint16_t tpid, std::uint16_t tci);

/// Returns the bytes of TCP options that write_headers() writes for this segment: 0 to 40, a multiple of 4.
[[nodiscard]] inline std::uint16_t tcp_options_length(const tcp::Segment& segment) noexcept {
  if (segment.flags.syn()) [[unlikely]] {
    const tcp::SynOptions& syn = segment.syn;
    // MSS, then SACK permitted in the padding of timestamps (RFC 7323 appendix A), or padded on its own.
    const unsigned timestamps = syn.timestamps ? 12U : (syn.sack_permitted ? 4U : 0U);
    return static_cast<std::uint16_t>(4U + timestamps + (syn.has_window_scale ? 4U : 0U));
  }
  const unsigned timestamps = segment.has_timestamps ? 12U : 0U;
  if (segment.sack_count == 0) return static_cast<std::uint16_t>(timestamps);
  const unsigned most = segment.has_timestamps ? 3U : 4U;
  const unsigned blocks = segment.sack_count < most ? segment.sack_count : most;
  return static_cast<std::uint16_t>(timestamps + 4U + 8U * blocks);
}

/// Returns the bytes of the IP packet in a frame that was built with these headers.
[[nodiscard]] inline std::uint32_t ip_size(const HeaderTemplate& header, const Packet& frame) noexcept {
  return frame.size() - std::uint32_t{header.outer.length};
}

/// Returns the bytes of IP and TCP headers of a data segment, without outer headers. `timestamps` is true if the
/// segment has the TCP option timestamps, and no other option is counted.
[[nodiscard]] inline std::uint32_t data_header_in_ip(const HeaderTemplate& header, bool timestamps) noexcept {
  // The version is 4 or 6. A product instead of a branch takes half the instructions; each segment needs this length
  // several times.
  static_assert(ipv4_length == 4 * 10 - 20 && ipv6_length == 6 * 10 - 20);
  const std::uint32_t ip = header.ip_version * 10U - 20U;
  return ip + static_cast<std::uint32_t>(tcp_length) + std::uint32_t{timestamps} * 12U;
}

/// Returns the bytes of outer, IP and TCP headers of a data segment. `timestamps` is true if the segment has the TCP
/// option timestamps, and no other option is counted.
[[nodiscard]] inline std::uint16_t data_header_length(const HeaderTemplate& header, bool timestamps) noexcept {
  return static_cast<std::uint16_t>(header.outer.length + data_header_in_ip(header, timestamps));
}

/// Returns the bytes of outer, IP and TCP headers that write_headers() writes in front of the payload.
[[nodiscard]] inline std::uint16_t header_length(const HeaderTemplate& header, const tcp::Segment& segment) noexcept {
  return static_cast<std::uint16_t>(data_header_length(header, false) + tcp_options_length(segment));
}

/// Fields of an IP header that depend on its payload.
struct IpPayload {
  std::uint16_t length = 0;  ///< number of bytes after the IP header
  std::uint16_t ip_id = 0;   ///< IPv4 identification
  std::uint8_t protocol = 0;
  std::uint8_t tos = 0;  ///< DSCP and ECN byte
};

/// Writes outer and IP headers to `frame`. The frame needs space for 8 more bytes, because the space of two VLAN tags
/// is always written. Returns the sum of both addresses, not folded, for a pseudo-header. Used to build TCP, UDP and
/// ICMP packets.
std::uint64_t write_outer_and_ip(std::uint8_t* frame, const HeaderTemplate& header, const AddressesView& addresses,
                                 const IpPayload& payload) noexcept;

/// True if the frame can be forwarded with only the fields of tcp::CutThroughHeader rewritten. The frame must have no
/// padding, and no TCP option except timestamps laid out as in RFC 7323 appendix A. The segment must have no urgent
/// pointer and no ECN codepoint. An IPv4 packet must have DF, so that its identification has no meaning (RFC 6864
/// section 4.1). Requires a frame that parsed as TCP.
[[nodiscard]] bool can_cut_through(const Packet& packet, const Parsed& parsed) noexcept;

/// Rewrites the acknowledgement number, window and TSecr of a frame to those in `passed`, and updates the checksum (RFC
/// 1624). Requires that can_cut_through() is true for the frame. Clears the buffer's offload flags. Requires that the
/// checksum is correct, and that no other thread or device uses the buffer during the call.
void write_cut_through(Packet& packet, const Parsed& parsed, const tcp::CutThroughHeader& passed) noexcept;

/// Prepends outer, IP and TCP headers with all checksums to a packet that contains exactly the payload of `segment`
/// (possibly empty). The payload is not read, because `payload_sum` is its ones' complement sum.
///
/// A segment with SYN gets the TCP options in segment.syn, with timestamp values if segment.syn.timestamps is set.
/// Other segments get timestamps and SACK blocks: at most three blocks beside timestamps, else four. segment.ecn is
/// written to the ECN field. Clears the buffer's offload flags. Returns header_length().
///
/// Requires headroom for all headers (max_header_length is always enough) and payload_len <= 65535 - IP and TCP
/// headers. No other thread or device may use the buffer during the call.
std::uint16_t write_headers(Packet& packet, const HeaderTemplate& header, const AddressesView& addresses,
                            const tcp::Segment& segment, std::uint16_t payload_sum, std::uint16_t ip_id) noexcept;

/// Prepends the headers of a pure ACK with timestamps over IPv4, the most common case; `packet` is empty.
void write_acknowledgement(Packet& packet, const HeaderTemplate& header, const AddressesView& addresses,
                           const tcp::Acknowledgement& ack, std::uint16_t ip_id) noexcept;

}  // namespace sluice::packet
