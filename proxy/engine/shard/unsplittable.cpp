// Reads the TCP header of fragments and of segments behind IP options. HandbackRouter::on_unsplittable() calls it for
// packets that the proxy does not evaluate. Invariant: no byte outside of the packet is read (RFC 8200 section 4, RFC
// 4302 section 2.2, RFC 791).
#include "proxy/engine/shard/unsplittable.hpp"

#include <cstddef>
#include <span>

#include "dataplane/packet/headers.hpp"

namespace sluice::proxy {
namespace {

/// Maximum number of consecutive IPv6 extension headers that are read. It is more than any host sends.
constexpr int max_extensions = 8;

/// Returns the length of an IPv6 extension header (RFC 8200 section 4, RFC 4302 section 2.2); zero for other headers.
std::size_t extension_length(std::uint8_t type, std::uint8_t length_field) {
  namespace protocol = packet::ip_protocol;
  switch (type) {
    case protocol::fragment:
      return 8;
    case protocol::authentication:
      return (std::size_t{length_field} + 2) * 4;
    case protocol::hop_by_hop:
    case protocol::routing:
    case protocol::destination_options:
    case protocol::mobility:
    case protocol::hip:
    case protocol::shim6:
      return (std::size_t{length_field} + 1) * 8;
    default:
      return 0;
  }
}

/// True if the IPv6 fragment header belongs to a fragment other than the first one (RFC 8200 section 4.5).
bool is_later_part(std::span<const std::uint8_t> header) {
  return (packet::load_be16(header.data() + 2) & 0xfff8U) != 0;
}

/// Returns the offset of the TCP header after IPv6 extension headers, the first of which has type `type`. Returns
/// nothing if there is no TCP header.
std::optional<std::size_t> tcp_behind(std::span<const std::uint8_t> extensions, std::uint8_t type) {
  std::size_t at = 0;
  for (int i = 0; i < max_extensions && extensions.size() - at >= 8; ++i) {
    const std::span<const std::uint8_t> header = extensions.subspan(at);
    const std::size_t length = extension_length(type, header[1]);
    if (length == 0 || length >= header.size()) return std::nullopt;
    if (type == packet::ip_protocol::fragment && is_later_part(header)) return std::nullopt;
    type = header[0];
    at += length;
    if (type == packet::ip_protocol::tcp) return at;
  }
  return std::nullopt;
}

/// Returns the offset of the TCP header after a valid IPv4 header. Returns nothing if the protocol is not TCP, or for a
/// fragment other than the first one.
std::optional<std::size_t> tcp_behind_ipv4(const std::uint8_t* ip, std::uint8_t protocol) {
  const bool later_part = (packet::load_be16(ip + 6) & 0x1fffU) != 0;
  if (later_part || protocol != packet::ip_protocol::tcp) return std::nullopt;
  return (ip[0] & 0x0fU) * std::size_t{4};
}

}  // namespace

std::optional<packet::Parsed> read_unsplittable(const packet::Packet& packet, const packet::Parsed& parsed,
                                                packet::ParseResult result) {
  if (result == packet::ParseResult::tcp_options_unknown && !parsed.segment.flags.syn()) return parsed;
  const bool possible = result == packet::ParseResult::ip_fragment || result == packet::ParseResult::ip_options ||
                        result == packet::ParseResult::ipv6_extension;
  if (!possible || parsed.ip_version == 0) return std::nullopt;
  const std::span<const std::uint8_t> ip = packet.bytes().first(parsed.frame_length()).subspan(parsed.ip_offset);
  std::optional<std::size_t> at;
  if (parsed.ip_version == 4) {
    at = tcp_behind_ipv4(ip.data(), parsed.protocol);
  } else if (ip.size() > packet::ipv6_length) {
    at = tcp_behind(ip.subspan(packet::ipv6_length), parsed.protocol);
    if (at) *at += packet::ipv6_length;
  }
  if (!at || ip.size() < *at + packet::tcp_length) return std::nullopt;
  const std::uint8_t* const tcp = ip.data() + *at;
  packet::Parsed begun = parsed;
  begun.src_port = packet::load_be16(tcp);
  begun.dst_port = packet::load_be16(tcp + 2);
  begun.segment = {};
  begun.segment.seq = tcp::SeqNum(packet::load_be32(tcp + 4));
  begun.segment.ack = tcp::SeqNum(packet::load_be32(tcp + 8));
  begun.segment.flags.bits = tcp[13];
  begun.segment.window = packet::load_be16(tcp + 14);
  return begun;
}

}  // namespace sluice::proxy
