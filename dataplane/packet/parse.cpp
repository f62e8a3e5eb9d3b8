// Parser of outer, IPv4, IPv6 and TCP headers (RFC 791, RFC 8200, RFC 9293). Called once for every packet
// received. Two fast paths accept the most common frames and fill `out` by vector operations; parse_any() accepts all
// others. Every length is checked before a byte behind it is read, because frames are hostile input.

#include "dataplane/packet/parse.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "dataplane/packet/byte_shuffle.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/encapsulation.hpp"
#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/parse_options.hpp"

namespace sluice::packet {
namespace {

/// Reads the outer headers after the Ethernet header. Sets `type` to the EtherType of the data after them, and cuts
/// `frame` at the end of their payload. Returns the outcome that ends the parse, or `tcp` if the parse continues.
[[gnu::noinline]] ParseResult read_tagged(std::span<const std::uint8_t>& frame, std::uint16_t& type, Parsed& out) {
  OuterHeaders outer;
  const OuterResult read = read_outer_headers(frame, outer);
  out.networks = outer.networks;
  if (read != OuterResult::complete) {
    return read == OuterResult::too_deep ? ParseResult::vlan_depth : ParseResult::runt;
  }
  type = outer.type;
  out.ip_offset = outer.length;
  frame = frame.first(outer.end);
  return ParseResult::tcp;
}

/// Returns the outcome for a frame that is neither IPv4 nor IPv6.
ParseResult other_ethertype(std::uint16_t type) {
  switch (type) {
    case ethertype::arp:
      return ParseResult::arp;
    case ethertype::mpls:
    case ethertype::mpls_upstream:
      return ParseResult::mpls;
    default:
      return ParseResult::not_ip;
  }
}

/// Returns the outcome for an IP packet that is not TCP; reads the ports of UDP.
ParseResult other_protocol(std::span<const std::uint8_t> frame, Parsed& out) {
  switch (out.protocol) {
    case ip_protocol::udp:
      if (out.frame_length() >= out.l4_offset + udp_length) {
        out.src_port = load_be16(frame.data() + out.l4_offset);
        out.dst_port = load_be16(frame.data() + out.l4_offset + 2);
      }
      return ParseResult::udp;
    case ip_protocol::icmp:
    case ip_protocol::icmp_v6:
      return ParseResult::icmp;
    default:
      return ParseResult::not_tcp;
  }
}

/// Stores the IPv4 address at `at` in its mapped form.
[[gnu::always_inline]] inline void set_v4(IpAddress& address, const std::uint8_t* at) noexcept {
  store64(address.octets.data(), 0);
  store32(address.octets.data() + 8, 0xffff0000U);
  store32(address.octets.data() + 12, load32(at));
}

/// Fills the fields of `segment` up to and including its flags by one byte shuffle. The source is the TCP header from
/// the sequence number to the urgent pointer, plus the payload length.
[[gnu::always_inline]] inline void set_front(tcp::Segment& segment, const std::uint8_t* tcp,
                                             std::uint16_t payload) noexcept {
  using tcp::Segment;
  static_assert(offsetof(Segment, seq) == 0 && offsetof(Segment, ack) == 4 && offsetof(Segment, window) == 8);
  static_assert(offsetof(Segment, payload_len) == 10 && offsetof(Segment, urgent) == 12 &&
                offsetof(Segment, flags) == 14 && offsetof(Segment, sack_count) == 16);
  constexpr int zero = zero_byte;
  const ByteVector order = byte_vector(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, zero, zero, 15, 14, 9, zero);
  ByteVector fields;
  std::memcpy(&fields, tcp + 4, sizeof fields);
  fields = with_word_at_10(byte_shuffle(fields, order), payload);
  std::memcpy(static_cast<void*>(&segment), &fields, sizeof fields);
}

/// Fills the ports of an IPv4 frame whose outer headers name no network, and clears its networks and its flow label.
[[gnu::always_inline]] inline void set_ports(Parsed& out, std::uint32_t ports) noexcept {
  constexpr std::size_t at = offsetof(Parsed, src_port);
  static_assert(offsetof(Parsed, dst_port) == at + 2 && offsetof(Parsed, networks) == at + 4 &&
                sizeof out.networks == 4);
  store64(reinterpret_cast<std::uint8_t*>(&out) + at, std::rotl(__builtin_bswap32(ports), 16));
  out.flow_label = 0;
}

/// Fills the members of `out` from l4_offset up to `segment`, for a frame without IP options. Length, identification,
/// TOS and TTL come from the IPv4 header at `ip`. The other members are constants: `payload_at` is the offset of the
/// payload in the frame, and `usual` the value of Parsed::common.
template <std::uint8_t payload_at, bool usual>
[[gnu::always_inline]] inline void set_network(Parsed& out, ByteVector ip) noexcept {
  using common_frame::tcp_at;
  constexpr std::size_t at = offsetof(Parsed, l4_offset);
  static_assert(offsetof(Parsed, payload_offset) == at + 2 && offsetof(Parsed, ip_length) == at + 4 &&
                offsetof(Parsed, ip_id) == at + 6 && offsetof(Parsed, ip_offset) == at + 8);
  static_assert(offsetof(Parsed, ip_version) == at + 9 && offsetof(Parsed, protocol) == at + 10 &&
                offsetof(Parsed, unknown_options) == at + 11 && offsetof(Parsed, tos) == at + 12);
  static_assert(offsetof(Parsed, ttl) == at + 13 && offsetof(Parsed, dont_fragment) == at + 14 &&
                offsetof(Parsed, common) == at + 15 && offsetof(Parsed, segment) == at + 16);
  constexpr int zero = zero_byte;
  const ByteVector order = byte_vector(zero, zero, zero, zero, 3, 2, 5, 4, zero, zero, zero, zero, 1, 8, zero, zero);
  const ByteVector known =
      byte_vector(tcp_at, 0, payload_at, 0, 0, 0, 0, 0, ethernet_length, 4, ip_protocol::tcp, 0, 0, 0, 1, usual);
  const ByteVector fields = bitwise_or(byte_shuffle(ip, order), known);
  std::memcpy(reinterpret_cast<std::uint8_t*>(&out) + at, &fields, sizeof fields);
}

/// True for an IPv4 header of 20 bytes with DF, without fragmentation, that carries TCP. `link` contains the four bytes
/// of the frame from the EtherType on, and `middle` the four bytes from the flags of the IP header on.
constexpr bool is_plain(std::uint32_t link, std::uint32_t middle) {
  constexpr std::uint32_t type_and_version = 0x00450008, fragment_and_protocol = 0x06000040;
  return (link & 0x00ffffffU) == type_and_version && (middle & 0xff00ff7fU) == fragment_and_protocol;
}

/// Reads an IPv4 header (RFC 791) at `offset`, whose first 20 bytes are in the frame. If the result is `tcp`, the parse
/// continues with protocol and l4_offset.
ParseResult read_ipv4(std::span<const std::uint8_t> frame, std::size_t offset, Parsed& out) {
  const std::uint8_t* const ip = frame.data() + offset;
  const std::size_t header = (ip[0] & 0x0fU) * 4U;
  const std::uint16_t total = load_be16(ip + 2);
  if (ip[0] >> 4 != 4 || header < ipv4_length || total < header) return ParseResult::bad_ip_header;
  if (total > frame.size() - offset) return ParseResult::truncated;
  std::uint64_t sum = add_wide(add_wide(load64(ip), load64(ip + 8)), load32(ip + 16));
  if (header > ipv4_length) [[unlikely]]
    sum = add_words(sum, ip + ipv4_length, header - ipv4_length);
  if (fold(sum) != 0xffff) return ParseResult::bad_ip_checksum;

  out.ip_version = 4;
  out.flow_label = 0;
  out.ip_length = total;
  out.ip_id = load_be16(ip + 4);
  out.tos = ip[1];
  out.ttl = ip[8];
  out.protocol = ip[9];
  out.dont_fragment = (ip[6] & 0x40U) != 0;
  set_v4(out.src, ip + 12);
  set_v4(out.dst, ip + 16);
  if ((load_be16(ip + 6) & 0x3fffU) != 0) return ParseResult::ip_fragment;  // fragment offset or More Fragments
  out.l4_offset = static_cast<std::uint16_t>(offset + header);
  return header > ipv4_length ? ParseResult::ip_options : ParseResult::tcp;
}

/// True for an IPv4-mapped IPv6 address.
bool is_mapped(const std::uint8_t* address) {
  return load64(address) == 0 && load32(address + 8) == 0xffff0000U;
}

/// True for the number of an IPv6 extension header.
bool is_extension(std::uint8_t next_header) {
  switch (next_header) {
    case ip_protocol::hop_by_hop:
    case ip_protocol::routing:
    case ip_protocol::authentication:
    case ip_protocol::destination_options:
    case ip_protocol::mobility:
    case ip_protocol::hip:
    case ip_protocol::shim6:
      return true;
    default:
      return false;
  }
}

/// Reads the IPv6 header (RFC 8200) at `out.ip_offset`. The frame must contain all of its 40 bytes. The result `tcp`
/// only means that no problem was found; the caller then examines `out.protocol` at `out.l4_offset`.
ParseResult read_ipv6(std::span<const std::uint8_t> frame, Parsed& out) {
  const std::uint8_t* const ip = frame.data() + out.ip_offset;
  const std::size_t available = frame.size() - out.ip_offset;
  const std::uint32_t first = load_be32(ip);
  const std::size_t total = std::size_t{load_be16(ip + 4)} + ipv6_length;
  if (first >> 28 != 6) return ParseResult::bad_ip_header;
  if (total > available) return ParseResult::truncated;

  out.ip_version = 6;
  out.ip_length = static_cast<std::uint16_t>(total);
  out.tos = static_cast<std::uint8_t>(first >> 20);
  out.flow_label = first & 0xfffffU;
  out.protocol = ip[6];
  out.ttl = ip[7];
  out.dont_fragment = true;
  std::memcpy(out.src.octets.data(), ip + 8, 16);
  std::memcpy(out.dst.octets.data(), ip + 24, 16);
  // A mapped address would be taken for IPv4 later; RFC 4291 section 2.5.5.2 does not use it on the wire.
  if (is_mapped(ip + 8) || is_mapped(ip + 24)) [[unlikely]]
    return ParseResult::ipv6_mapped;
  if (out.protocol == ip_protocol::fragment) return ParseResult::ip_fragment;
  if (is_extension(out.protocol)) return ParseResult::ipv6_extension;
  out.l4_offset = static_cast<std::uint16_t>(out.ip_offset + ipv6_length);
  return ParseResult::tcp;
}

/// Reads the TCP header (RFC 9293 section 3.1). Returns the outcome of the parse.
ParseResult read_tcp(std::span<const std::uint8_t> frame, Parsed& out) {
  const std::size_t offset = out.l4_offset;
  const std::uint8_t* const tcp = frame.data() + offset;
  const std::size_t length = out.frame_length() - offset;
  if (length < tcp_length) return ParseResult::bad_tcp_header;
  const std::size_t header = static_cast<std::size_t>(tcp[12] >> 4) * 4U;
  if (header < tcp_length || header > length) return ParseResult::bad_tcp_header;

  tcp::Segment& segment = out.segment;
  out.payload_offset = static_cast<std::uint16_t>(offset + header);
  out.src_port = load_be16(tcp);
  out.dst_port = load_be16(tcp + 2);
  segment.seq = tcp::SeqNum(load_be32(tcp + 4));
  segment.ack = tcp::SeqNum(load_be32(tcp + 8));
  segment.window = load_be16(tcp + 14);
  segment.urgent = load_be16(tcp + 18);
  segment.payload_len = static_cast<std::uint16_t>(length - header);
  segment.ecn = out.tos & 3U;
  segment.sack_count = 0;
  segment.flags.bits = load_be16(tcp + 12) & 0x1ffU;
  segment.has_timestamps = false;

  // Nearly every segment has no options or only timestamps.
  const bool syn = segment.flags.syn();
  if (header == tcp_length + 12 && load32(tcp + tcp_length) == only_timestamps && !syn) [[likely]] {
    segment.has_timestamps = true;
    segment.ts_value = load_be32(tcp + tcp_length + 4);
    segment.ts_echo = load_be32(tcp + tcp_length + 8);
    return ParseResult::tcp;
  }
  if (header == tcp_length && !syn) return ParseResult::tcp;
  if (syn) {
    segment.syn = {};
    segment.syn.ecn = tcp::offers_ecn(segment.flags);
    segment.syn.accurate_ecn = tcp::offers_accurate_ecn(segment.flags) || tcp::has_reserved_ace(segment.flags);
  }
  out.unknown_options = read_options({tcp + tcp_length, header - tcp_length}, out.ip_version == 6, segment);
  return syn && out.unknown_options.any() ? ParseResult::tcp_options_unknown : ParseResult::tcp;
}

}  // namespace

[[gnu::noinline]] ParseResult parse_any(std::span<const std::uint8_t> frame, Parsed& out) noexcept {
  // Each step writes the fields that its outcome makes valid. The fields reset here show how far the parse got.
  out.networks = {};
  out.l4_offset = 0;
  out.ip_version = 0;
  out.unknown_options = {};
  out.common = false;
  if (frame.size() < ethernet_length) return ParseResult::runt;
  std::uint16_t type = load_be16(frame.data() + ethernet_length - 2);
  std::size_t offset = ethernet_length;
  out.ip_offset = ethernet_length;
  if ((type != ethertype::ipv4 && type != ethertype::ipv6) || some_tunnel_over_ip) {
    // Only copies have an address, so that the other paths keep these variables in registers.
    std::span<const std::uint8_t> inner = frame;
    std::uint16_t inner_type = type;
    const ParseResult problem = read_tagged(inner, inner_type, out);
    if (problem != ParseResult::tcp) return problem;
    frame = inner;
    type = inner_type;
    offset = out.ip_offset;
  }
  ParseResult result = ParseResult::tcp;
  if (type == ethertype::ipv4) [[likely]] {
    if (frame.size() < offset + ipv4_length) return ParseResult::truncated;
    result = read_ipv4(frame, offset, out);
  } else if (type == ethertype::ipv6) {
    if (frame.size() < out.ip_offset + ipv6_length) return ParseResult::truncated;
    result = read_ipv6(frame, out);
  } else {
    return other_ethertype(type);
  }
  if (result != ParseResult::tcp) return result;
  if (out.protocol != ip_protocol::tcp) return other_protocol(frame, out);
  return read_tcp(frame, out);
}

bool parse_fast(std::span<const std::uint8_t> frame, Parsed& out) noexcept {
  using common_frame::payload_at, common_frame::tcp_at;
  constexpr std::size_t ip_at = ethernet_length;
  static_assert(common_frame::addresses_at == ip_at + 12 && tcp_at == ip_at + ipv4_length);
  static_assert(common_frame::tcp_header == tcp_length + 12);
  if (frame.size() < payload_at) return false;
  const std::uint8_t* const ip = frame.data() + ip_at;
  const std::uint8_t* const tcp = frame.data() + tcp_at;
  constexpr std::uint16_t offset_and_syn = 0x0080;
  const std::uint32_t link = load32(ip - 2), middle = load32(ip + 6);
  const std::uint16_t control = load16(tcp + 12);
  const bool usual =
      is_plain(link, middle) && (control & 0x02f1U) == offset_and_syn && load32(tcp + tcp_length) == only_timestamps;
  const std::size_t total = load_be16(ip + 2);
  if (!usual || total < payload_at - ip_at || total > frame.size() - ip_at) return false;
  if (!sums_to_ones(add_wide(add_wide(load64(ip), load64(ip + 8)), load32(ip + 16)))) return false;

  // All reads precede all writes, because the compiler must assume that `frame` and `out` overlap.
  ByteVector front;
  std::memcpy(&front, ip, sizeof front);
  const std::uint32_t ports = load32(tcp);
  const std::uint8_t tos = ip[1];
  const auto payload = static_cast<std::uint16_t>(total - (payload_at - ip_at));
  const std::uint32_t ts_value = load_be32(tcp + tcp_length + 4), ts_echo = load_be32(tcp + tcp_length + 8);
  set_v4(out.src, ip + 12);
  set_v4(out.dst, ip + 16);
  set_front(out.segment, tcp, payload);
  set_ports(out, ports);
  set_network<payload_at, true>(out, front);
  out.segment.sack_count = 0;
  out.segment.has_timestamps = true;
  out.segment.ecn = tos & 3U;
  out.segment.ts_value = ts_value;
  out.segment.ts_echo = ts_echo;
  return true;
}

[[gnu::noinline]] bool parse_fast_syn(std::span<const std::uint8_t> frame, Parsed& out) noexcept {
  using common_frame::tcp_at;
  constexpr std::size_t ip_at = ethernet_length, payload_at = tcp_at + tcp_length + common_syn_options;
  if (frame.size() < payload_at) return false;
  const std::uint8_t* const ip = frame.data() + ip_at;
  const std::uint8_t* const tcp = frame.data() + tcp_at;
  constexpr std::uint16_t offset_and_syn = 0x02a0;
  if (!is_plain(load32(ip - 2), load32(ip + 6)) || (load16(tcp + 12) & 0xc2f1U) != offset_and_syn) return false;
  const std::size_t total = load_be16(ip + 2);
  if (total < payload_at - ip_at || total > frame.size() - ip_at) return false;
  if (!sums_to_ones(add_wide(add_wide(load64(ip), load64(ip + 8)), load32(ip + 16)))) return false;
  if (!read_common_syn_options(frame.subspan<tcp_at + tcp_length, common_syn_options>(), out.segment)) return false;

  ByteVector front;
  std::memcpy(&front, ip, sizeof front);
  set_v4(out.src, ip + 12);
  set_v4(out.dst, ip + 16);
  set_front(out.segment, tcp, static_cast<std::uint16_t>(total - (payload_at - ip_at)));
  set_ports(out, load32(tcp));
  set_network<payload_at, false>(out, front);
  out.segment.sack_count = 0;
  out.segment.ecn = ip[1] & 3U;
  out.segment.syn.ecn = out.segment.syn.accurate_ecn = false;
  return true;
}

ParseResult parse(const Packet& packet, Parsed& out) noexcept {
  const std::span<const std::uint8_t> frame = packet.bytes();
  return parse_fast(frame, out) || parse_fast_syn(frame, out) ? ParseResult::tcp : parse_any(frame, out);
}

std::string_view to_string(ParseResult result) noexcept {
  switch (result) {
#define X(name, disposition, text) \
  case ParseResult::name:          \
    return #name;
    SLUICE_PARSE_RESULTS(X)
#undef X
  }
  return "invalid";
}

std::string_view describe(ParseResult result) noexcept {
  switch (result) {
#define X(name, disposition, text) \
  case ParseResult::name:          \
    return text;
    SLUICE_PARSE_RESULTS(X)
#undef X
  }
  return "invalid";
}

Disposition disposition(ParseResult result) noexcept {
  switch (result) {
#define X(name, disposition, text) \
  case ParseResult::name:          \
    return Disposition::disposition;
    SLUICE_PARSE_RESULTS(X)
#undef X
  }
  return Disposition::drop;
}

}  // namespace sluice::packet
