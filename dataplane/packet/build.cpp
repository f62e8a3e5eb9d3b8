// Builders of outer, IP and TCP headers. Called for every segment that an endpoint sends; write_outer_and_ip() also
// for UDP and ICMP. The builders know every word they write, so they compute the checksum on the way instead of reading
// the headers again. Option layout: RFC 7323 appendix A and RFC 2018.

#include "dataplane/packet/build.hpp"

#include <rte_mbuf.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "dataplane/packet/checksum.hpp"

namespace sluice::packet {
namespace {

/// Writes `host`, a 32-bit number in host order, to `at` in network order and returns its contribution to the ones'
/// complement sum.
inline std::uint64_t put32(std::uint8_t* at, std::uint32_t host) noexcept {
  const std::uint32_t wire = __builtin_bswap32(host);
  store32(at, wire);
  return wire;
}

/// Writes two 32-bit numbers to `at` at once, `first` before `second`, in network order. Returns `sum` plus their
/// contribution to the ones' complement sum.
[[gnu::always_inline]] inline std::uint64_t put64(std::uint64_t sum, std::uint8_t* at, std::uint32_t first,
                                                  std::uint32_t second) noexcept {
  const std::uint64_t wire = __builtin_bswap64(std::uint64_t{first} << 32 | second);
  store64(at, wire);
  return add_wide(sum, wire);
}

/// Returns four option bytes, in the order of the header, as a number for put32().
constexpr std::uint32_t word(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

/// Writes the options of a SYN: MSS, then SACK permitted and timestamps in shared words as in RFC 7323 appendix A, then
/// window scale. Returns their ones' complement sum.
std::uint64_t write_syn_options(std::uint8_t* at, const tcp::Segment& segment) noexcept {
  const tcp::SynOptions& syn = segment.syn;
  std::uint64_t sum = put32(at, word(tcp_option::mss, 4, syn.mss >> 8, syn.mss & 0xffU));
  at += 4;
  if (syn.sack_permitted || syn.timestamps) {
    const unsigned first = syn.sack_permitted ? tcp_option::sack_permitted : tcp_option::nop;
    const unsigned second = syn.sack_permitted ? 2U : tcp_option::nop;
    if (syn.timestamps) {
      sum += put32(at, word(first, second, tcp_option::timestamps, 10));
      sum += put32(at + 4, segment.ts_value);
      sum += put32(at + 8, segment.ts_echo);
      at += 12;
    } else {
      sum += put32(at, word(tcp_option::nop, tcp_option::nop, first, second));
      at += 4;
    }
  }
  if (syn.has_window_scale) sum += put32(at, word(tcp_option::nop, tcp_option::window_scale, 3, syn.window_scale));
  return sum;
}

/// Properties of a frame that determine the offsets of its header fields.
struct Layout {
  bool ipv4 = true;
  bool syn = false;
  bool timestamps = true;
  std::uint16_t options = 12;  ///< bytes of TCP options
};

/// Most common layout: IPv4, timestamps and no other option. The functions that write headers are inlined for this
/// layout, so that all lengths are constants.
constexpr Layout usual_layout{};

[[nodiscard]] bool is_common(const HeaderTemplate& header, const tcp::Segment& segment) noexcept {
  return header.ip_version == 4 && segment.has_timestamps && segment.sack_count == 0 && !segment.flags.syn();
}

/// Writes timestamps, then as many SACK blocks as fit the options. Returns their ones' complement sum.
std::uint64_t write_options(std::uint8_t* at, const tcp::Segment& segment, const Layout& layout) noexcept {
  std::uint64_t sum = 0;
  std::size_t length = layout.options;
  if (layout.timestamps) {
    sum += put32(at, word(tcp_option::nop, tcp_option::nop, tcp_option::timestamps, 10));
    sum += put32(at + 4, segment.ts_value);
    sum += put32(at + 8, segment.ts_echo);
    at += 12;
    length -= 12;
  }
  if (length == 0) return sum;
  const auto blocks = static_cast<std::uint32_t>((length - 4) / 8);
  sum += put32(at, word(tcp_option::nop, tcp_option::nop, tcp_option::sack, 2 + 8 * blocks));
  for (std::uint32_t i = 0; i < blocks; ++i) {
    at += 4;
    sum += put32(at, segment.sack_blocks[i].left.raw());
    at += 4;
    sum += put32(at, segment.sack_blocks[i].right.raw());
  }
  return sum;
}

/// Writes the TCP header; `sum` covers the pseudo-header and the payload.
void write_tcp(std::uint8_t* at, const AddressesView& addresses, const tcp::Segment& segment, const Layout& layout,
               std::uint64_t sum) noexcept {
  const auto offset = static_cast<std::uint32_t>((tcp_length + layout.options) / 4);
  sum += put32(at, std::uint32_t{addresses.src_port} << 16 | addresses.dst_port);
  sum += put32(at + 4, segment.seq.raw());
  sum += put32(at + 8, segment.ack.raw());
  sum += put32(at + 12, offset << 28 | std::uint32_t{segment.flags.bits} << 16 | segment.window);
  if (layout.syn) {
    sum += write_syn_options(at + tcp_length, segment);
  } else if (layout.options != 0) {
    sum += write_options(at + tcp_length, segment, layout);
  }
  const std::uint16_t urgent = __builtin_bswap16(segment.urgent);
  store32(at + 16, std::uint32_t{urgent} << 16 | static_cast<std::uint16_t>(~fold(sum + urgent)));
}

/// Writes the TCP header of a segment or an acknowledgement with the common layout: IPv4, timestamps, no other option.
template <typename Fields>
[[gnu::always_inline]] inline void write_usual_tcp(std::uint8_t* at, const AddressesView& addresses,
                                                   const Fields& fields, tcp::Flags flags, std::uint16_t urgent,
                                                   std::uint64_t sum) noexcept {
  constexpr std::uint32_t offset = (tcp_length + usual_layout.options) / 4;
  constexpr std::uint32_t timestamps = word(tcp_option::nop, tcp_option::nop, tcp_option::timestamps, 10);
  sum = put64(sum, at, std::uint32_t{addresses.src_port} << 16 | addresses.dst_port, fields.seq.raw());
  sum = put64(sum, at + 8, fields.ack.raw(), offset << 28 | std::uint32_t{flags.bits} << 16 | fields.window);
  sum = put64(sum, at + 16, urgent, timestamps);
  sum = put64(sum, at + 24, fields.ts_value, fields.ts_echo);
  store16(at + 16, static_cast<std::uint16_t>(~fold(sum)));
}

/// Writes an IPv4 header. Returns the ones' complement sum of the addresses for the transport checksum.
[[gnu::always_inline]] inline std::uint64_t write_ipv4(std::uint8_t* at, const HeaderTemplate& header,
                                                       const AddressesView& addresses,
                                                       const IpPayload& payload) noexcept {
  const std::uint32_t src = load32(addresses.src_end - 4), dst = load32(addresses.dst_end - 4);
  const auto total = static_cast<std::uint16_t>(ipv4_length + payload.length);
  // The words are in memory order, lowest byte first.
  const std::uint32_t first = 0x45U | std::uint32_t{payload.tos} << 8 | std::uint32_t{__builtin_bswap16(total)} << 16;
  const std::uint32_t second =
      std::uint32_t{__builtin_bswap16(payload.ip_id)} | (header.dont_fragment ? 0x400000U : 0U);
  const std::uint32_t third = header.ttl | std::uint32_t{payload.protocol} << 8;
  const std::uint64_t addresses_sum = std::uint64_t{src} + dst;
  const std::uint64_t sum = addresses_sum + first + second + third;
  store32(at, first);
  store32(at + 4, second);
  store32(at + 8, third | std::uint32_t{static_cast<std::uint16_t>(~fold(sum))} << 16);
  store32(at + 12, src);
  store32(at + 16, dst);
  return addresses_sum;
}

/// Writes an IPv6 header. Returns the ones' complement sum of the addresses for the transport checksum.
std::uint64_t write_ipv6(std::uint8_t* at, const HeaderTemplate& header, const AddressesView& addresses,
                         const IpPayload& payload) noexcept {
  put32(at, 6U << 28 | std::uint32_t{payload.tos} << 20 | (header.flow_label & 0xfffffU));
  put32(at + 4, std::uint32_t{payload.length} << 16 | std::uint32_t{payload.protocol} << 8 | header.ttl);
  std::memcpy(at + 8, addresses.src_end - 16, 16);
  std::memcpy(at + 24, addresses.dst_end - 16, 16);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 32; i += 4) sum += load32(at + 8 + i);
  return sum;
}

[[gnu::always_inline]] inline std::uint64_t write_both(std::uint8_t* frame, const HeaderTemplate& header,
                                                       const AddressesView& addresses, const IpPayload& payload,
                                                       bool ipv4) noexcept {
  std::uint8_t* const ip = frame + header.outer.length;
  const std::size_t ip_header = ipv4 ? ipv4_length : ipv6_length;
  write_outer_headers(frame, header.outer, static_cast<std::uint16_t>(ip_header + payload.length));
  return ipv4 ? write_ipv4(ip, header, addresses, payload) : write_ipv6(ip, header, addresses, payload);
}

/// Position and checksum of a TCP header that is still to be written, as write_front() returns them.
struct Front {
  std::uint8_t* tcp;     ///< start of the TCP header
  std::uint64_t sum;     ///< ones' complement sum of pseudo-header and payload
  std::uint16_t length;  ///< bytes of all headers
};

/// Properties of a segment that its outer and IP headers depend on: payload length, payload checksum and ECN field.
struct Body {
  std::uint16_t length = 0;  ///< bytes of payload
  std::uint16_t sum = 0;     ///< ones' complement sum of the payload
  std::uint16_t ecn = 0;
};

/// Prepends space for all headers, and writes the outer and IP headers. Returns the position of the TCP header and the
/// sums for its checksum.
[[gnu::always_inline]] inline Front write_front(Packet& packet, const HeaderTemplate& header,
                                                const AddressesView& addresses, const Body& body, std::uint16_t ip_id,
                                                const Layout& layout) noexcept {
  const auto before_tcp = static_cast<std::uint32_t>(header.outer.length + (layout.ipv4 ? ipv4_length : ipv6_length));
  const std::uint32_t tcp_header = static_cast<std::uint32_t>(tcp_length) + layout.options;
  const auto tcp_total = static_cast<std::uint16_t>(tcp_header + body.length);
  const IpPayload payload{.length = tcp_total,
                          .ip_id = ip_id,
                          .protocol = ip_protocol::tcp,
                          .tos = static_cast<std::uint8_t>(header.tos | body.ecn)};
  const auto length = static_cast<std::uint16_t>(before_tcp + tcp_header);
  std::uint8_t* const frame = packet.prepend(length);
  packet.buffer()->ol_flags &= RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_INDIRECT;
  const std::uint64_t addresses_sum = write_both(frame, header, addresses, payload, layout.ipv4);
  return {frame + before_tcp,
          addresses_sum + body.sum + __builtin_bswap16(tcp_total) + (std::uint32_t{ip_protocol::tcp} << 8), length};
}

[[gnu::noinline]] std::uint16_t write_unusual(Packet& packet, const HeaderTemplate& header,
                                              const AddressesView& addresses, const tcp::Segment& segment,
                                              std::uint16_t payload_sum, std::uint16_t ip_id) noexcept {
  const Layout layout{.ipv4 = header.ip_version == 4,
                      .syn = segment.flags.syn(),
                      .timestamps = segment.has_timestamps,
                      .options = tcp_options_length(segment)};
  const Front front =
      write_front(packet, header, addresses, {segment.payload_len, payload_sum, segment.ecn}, ip_id, layout);
  write_tcp(front.tcp, addresses, segment, layout, front.sum);
  return front.length;
}

}  // namespace

std::uint64_t write_outer_and_ip(std::uint8_t* frame, const HeaderTemplate& header, const AddressesView& addresses,
                                 const IpPayload& payload) noexcept {
  return write_both(frame, header, addresses, payload, header.ip_version == 4);
}

std::uint16_t write_headers(Packet& packet, const HeaderTemplate& header, const AddressesView& addresses,
                            const tcp::Segment& segment, std::uint16_t payload_sum, std::uint16_t ip_id) noexcept {
  assert(packet.size() == segment.payload_len);
  if (is_common(header, segment)) [[likely]] {
    const Front front =
        write_front(packet, header, addresses, {segment.payload_len, payload_sum, segment.ecn}, ip_id, usual_layout);
    write_usual_tcp(front.tcp, addresses, segment, segment.flags, segment.urgent, front.sum);
    return front.length;
  }
  return write_unusual(packet, header, addresses, segment, payload_sum, ip_id);
}

void write_acknowledgement(Packet& packet, const HeaderTemplate& header, const AddressesView& addresses,
                           const tcp::Acknowledgement& ack, std::uint16_t ip_id) noexcept {
  assert(packet.size() == 0 && header.ip_version == 4 && ack.has_timestamps);
  const Front front = write_front(packet, header, addresses, {}, ip_id, usual_layout);
  write_usual_tcp(front.tcp, addresses, ack, tcp::Flags{tcp::Flags::ack_bit}, 0, front.sum);
}

HeaderTemplate learn(const Packet& packet, const Parsed& parsed) noexcept {
  HeaderTemplate header;
  header.outer = OuterTemplate::learn(packet.bytes(), parsed.ip_offset);
  header.ip_version = parsed.ip_version;
  header.tos = parsed.tos & 0xfcU;
  header.ttl = parsed.ttl;
  header.dont_fragment = parsed.dont_fragment;
  header.flow_label = parsed.flow_label;
  return header;
}

HeaderTemplate make_template(std::span<const std::uint8_t, 6> source_mac,
                             std::span<const std::uint8_t, 6> destination_mac, std::uint8_t ip_version) {
  HeaderTemplate header;
  std::ranges::copy(destination_mac, header.outer.bytes.begin());
  std::ranges::copy(source_mac, header.outer.bytes.begin() + 6);
  store_be16(header.outer.bytes.data() + 12, ip_version == 4 ? ethertype::ipv4 : ethertype::ipv6);
  header.outer.length = ethernet_length;
  header.ip_version = ip_version;
  return header;
}

void add_vlan_tag(HeaderTemplate& header, std::uint16_t tpid, std::uint16_t tci) {
  OuterTemplate& outer = header.outer;
  assert(outer.length + vlan_tag_length <= outer.bytes.size());
  std::memmove(outer.bytes.data() + 16, outer.bytes.data() + 12, outer.length - 12U);
  store_be16(outer.bytes.data() + 12, tpid);
  store_be16(outer.bytes.data() + 14, tci);
  outer.length = static_cast<std::uint8_t>(outer.length + vlan_tag_length);
}

}  // namespace sluice::packet
