#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::packet {

/// Who a packet is from and to. Both addresses are of the same family. Ports in host order.
struct Addresses {
  IpAddress src;
  IpAddress dst;
  std::uint16_t src_port = 0;
  std::uint16_t dst_port = 0;

  [[nodiscard]] constexpr Addresses reversed() const { return {dst, src, dst_port, src_port}; }
  constexpr bool operator==(const Addresses&) const = default;
};

/// The same, where the addresses lie elsewhere: for builders. Implicitly made of Addresses; outlives none of them. An
/// address is given by where it ends: before that are 4 octets for IPv4, which may be the last of a mapped one, and 16
/// for IPv6.
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

/// What the headers of one direction of a flow have in common beside addresses and TCP: learned from a packet that
/// travelled in that direction, so that MAC addresses, VLAN tags, DSCP, TTL and DF are the endpoint's own.
struct HeaderTemplate {
  std::array<std::uint8_t, 22> l2{};  ///< Ethernet header with up to two VLAN tags; l2_len bytes are in use
  std::uint8_t l2_len = 0;            ///< 14, 18 or 22
  std::uint8_t ip_version = 4;        ///< 4 or 6
  std::uint8_t tos = 0;               ///< DSCP and ECN byte as it is to be sent
  std::uint8_t ttl = 64;              ///< hop limit
  bool dont_fragment = true;          ///< IPv4
  std::uint32_t flow_label = 0;       ///< IPv6, 20 bits

  constexpr bool operator==(const HeaderTemplate&) const = default;
};
static_assert(sizeof(HeaderTemplate) <= 40);

/// The tags of a template and of a frame whose EtherTypes are those of a VLAN tag.
[[nodiscard, gnu::cold]] bool same_tags(const HeaderTemplate& known, const Packet& frame) noexcept;

/// Returns whether the frame, which parsed as IP, has the link header of the template: MAC addresses and VLAN tags,
/// with their priorities.
[[nodiscard]] inline bool same_link(const HeaderTemplate& known, const Packet& frame) noexcept {
  const std::uint8_t* const here = frame.data();
  // The addresses and the first EtherType.
  if (((load64(known.l2.data()) ^ load64(here)) | (load64(known.l2.data() + 6) ^ load64(here + 6))) != 0) return false;
  return known.l2_len == ethernet_length || same_tags(known, frame);
}

/// Takes a template from a packet that parsed as TCP. The DSCP is kept, the ECN bits are cleared: whether a segment is
/// ECN-capable is the sender's to say (RFC 3168), for each segment: Segment::ecn.
[[nodiscard]] HeaderTemplate learn(const Packet& packet, const Parsed& parsed) noexcept;

/// A template from scratch, for hosts and tests: no VLAN tag, TTL 64, DF.
[[nodiscard]] HeaderTemplate make_template(std::span<const std::uint8_t, 6> source_mac,
                                           std::span<const std::uint8_t, 6> destination_mac, std::uint8_t ip_version);
/// Puts one more VLAN tag in front of what the template has; `tpid` is 0x8100 or 0x88a8, `tci` priority and VLAN id.
/// Requires fewer than two tags.
void add_vlan_tag(HeaderTemplate& header, std::uint16_t tpid, std::uint16_t tci);

/// Bytes of TCP options that write_headers() puts into this segment: 0 … 40, a multiple of 4.
[[nodiscard]] inline std::uint16_t tcp_options_length(const tcp::Segment& segment) noexcept {
  if (segment.flags.syn()) [[unlikely]] {
    const tcp::SynOptions& syn = segment.syn;
    // MSS; then SACK permitted shares a word group with timestamps (RFC 7323 appendix A), or is padded on its own.
    const unsigned timestamps = syn.timestamps ? 12U : (syn.sack_permitted ? 4U : 0U);
    return static_cast<std::uint16_t>(4U + timestamps + (syn.has_window_scale ? 4U : 0U));
  }
  const unsigned timestamps = segment.has_timestamps ? 12U : 0U;
  if (segment.sack_count == 0) return static_cast<std::uint16_t>(timestamps);
  const unsigned most = segment.has_timestamps ? 3U : 4U;
  const unsigned blocks = segment.sack_count < most ? segment.sack_count : most;
  return static_cast<std::uint16_t>(timestamps + 4U + 8U * blocks);
}

/// Bytes of IP and TCP headers in front of the payload of such a segment, without what the link adds.
[[nodiscard]] inline std::uint32_t data_header_in_ip(const HeaderTemplate& header, bool timestamps) noexcept {
  const std::size_t ip = header.ip_version == 4 ? ipv4_length : ipv6_length;
  return static_cast<std::uint32_t>(ip + tcp_length) + (timestamps ? 12U : 0U);
}

/// Bytes of Ethernet, IP and TCP headers in front of data, with no option but timestamps.
[[nodiscard]] inline std::uint16_t data_header_length(const HeaderTemplate& header, bool timestamps) noexcept {
  return static_cast<std::uint16_t>(header.l2_len + data_header_in_ip(header, timestamps));
}

/// Bytes of Ethernet, IP and TCP headers that write_headers() puts in front of the payload.
[[nodiscard]] inline std::uint16_t header_length(const HeaderTemplate& header, const tcp::Segment& segment) noexcept {
  return static_cast<std::uint16_t>(data_header_length(header, false) + tcp_options_length(segment));
}

/// What an IP header says of what follows it.
struct IpPayload {
  std::uint16_t length = 0;  ///< bytes behind the IP header
  std::uint16_t ip_id = 0;   ///< IPv4 identification
  std::uint8_t protocol = 0;
  std::uint8_t tos = 0;  ///< DSCP and ECN byte
};

/// Writes link and IP headers to `frame`, which has room for them and then 8 bytes; returns the sum of both addresses,
/// not folded, for a pseudo-header. What the other builders have in common.
std::uint64_t write_ip_and_link(std::uint8_t* frame, const HeaderTemplate& header, const AddressesView& addresses,
                                const IpPayload& payload) noexcept;

/// The frame can leave as it came in but for a tcp::PassedHeader: nothing lies behind its IP packet, it has no TCP
/// option but timestamps laid out as RFC 7323 appendix A recommends, no urgent pointer, no ECN mark, and an IPv4
/// identification that means nothing (RFC 6864 section 4.1). Requires that it parsed as TCP.
[[nodiscard]] bool can_pass(const Packet& packet, const Parsed& parsed) noexcept;

/// Writes a tcp::PassedHeader over a frame that can_pass(), in place; the checksum follows what is changed (RFC 1624).
/// Clears the buffer's offload flags. Requires that the checksum was good and that nobody else writes to or sends the
/// buffer meanwhile.
void write_passed(Packet& packet, const Parsed& parsed, const tcp::PassedHeader& passed) noexcept;

/// Turns a packet that holds exactly the payload of `segment` (segment.payload_len bytes, perhaps none) into a frame:
/// prepends link, IP and TCP headers with all checksums right, without reading the payload: `payload_sum` is its ones'
/// complement sum. Options: with SYN those of segment.syn (and the timestamps' values when segment.syn.timestamps),
/// otherwise timestamps and SACK blocks, at most three beside timestamps, else four. segment.ecn is the ECN field.
/// Clears the buffer's offload flags. Returns header_length(). Requires that much headroom (max_header_length is always
/// enough), payload_len <= 65535 - IP and TCP headers, and that nobody else writes to or sends the buffer meanwhile.
std::uint16_t write_headers(Packet& packet, const HeaderTemplate& header, const AddressesView& addresses,
                            const tcp::Segment& segment, std::uint16_t payload_sum, std::uint16_t ip_id) noexcept;

/// The same of an acknowledgement with timestamps over IPv4, which is what nearly all are; `packet` is empty.
void write_acknowledgement(Packet& packet, const HeaderTemplate& header, const AddressesView& addresses,
                           const tcp::Acknowledgement& ack, std::uint16_t ip_id) noexcept;

}  // namespace sluice::packet
