#include "proxy/surprise.hpp"

#include <cstddef>
#include <span>

#include "dataplane/packet/headers.hpp"

namespace sluice::proxy {
namespace {

/// More extension headers in a row than anybody sends.
constexpr int most_extensions = 8;

/// Length of an IPv6 extension header (RFC 8200 section 4, RFC 4302 section 2.2); zero for what is none.
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

bool leads_to_tcp(std::span<const std::uint8_t> extensions, std::uint8_t type) {
  for (int i = 0; i < most_extensions && extensions.size() >= 8; ++i) {
    const std::size_t length = extension_length(type, extensions[1]);
    if (length == 0) break;
    type = extensions[0];
    if (length >= extensions.size()) break;
    extensions = extensions.subspan(length);
  }
  return type == packet::ip_protocol::tcp;
}

}  // namespace

bool may_carry_tcp(const packet::Packet& packet, const packet::Parsed& parsed, packet::ParseResult result) {
  const bool possible = result == packet::ParseResult::ip_fragment || result == packet::ParseResult::ip_options ||
                        result == packet::ParseResult::ipv6_extension;
  if (!possible || parsed.ip_version == 0) return false;
  if (parsed.ip_version == 4) return parsed.protocol == packet::ip_protocol::tcp;
  const std::size_t begin = parsed.l2_len + packet::ipv6_length;
  if (packet.size() <= begin) return false;
  return leads_to_tcp(packet.bytes().subspan(begin), parsed.protocol);
}

}  // namespace sluice::proxy
