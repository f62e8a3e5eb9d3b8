#include "proxy/ops/capture/filter.hpp"

#include <algorithm>

namespace sluice::capture {
namespace {

constexpr std::size_t ethernet_header = 14;
constexpr std::size_t arp_message = 28;
constexpr std::size_t ipv4_header = 20;
constexpr std::size_t ipv6_header = 40;
constexpr std::size_t udp_or_icmp_header = 8;

std::size_t headers_by_result(packet::ParseResult result, const packet::Parsed& parsed) {
  using packet::ParseResult;
  const std::size_t link = std::max<std::size_t>(parsed.ip_offset, ethernet_header);
  if (result == ParseResult::tcp || result == ParseResult::tcp_options_unknown) return parsed.payload_offset;
  if (result == ParseResult::arp) return link + arp_message;
  if (parsed.ip_version == 0) return link;
  const bool known = result == ParseResult::udp || result == ParseResult::icmp;
  if (known && parsed.l4_offset != 0) return parsed.l4_offset + udp_or_icmp_header;
  return link + (parsed.ip_version == 4 ? ipv4_header : ipv6_header);
}

/// True if packet::parse() has read TCP or UDP ports, according to its result.
bool has_ports(packet::ParseResult result) {
  using packet::ParseResult;
  return result == ParseResult::tcp || result == ParseResult::tcp_options_unknown || result == ParseResult::udp;
}

}  // namespace

std::size_t header_bytes(const Frame& frame) {
  return std::min(frame.bytes.size(), headers_by_result(frame.result, frame.parsed));
}

std::size_t Filter::shown_bytes(const Frame& frame) const {
  return snap_length ? std::min<std::size_t>(frame.bytes.size(), *snap_length) : header_bytes(frame);
}

bool Filter::takes(const Frame& frame) const {
  const packet::Parsed& parsed = frame.parsed;
  if (leg && *leg != frame.wire.side) return false;
  if (ue && (parsed.ip_version == 0 || *ue != (frame.wire.towards_ue() ? parsed.dst : parsed.src))) return false;
  if (port && (!has_ports(frame.result) || (*port != parsed.src_port && *port != parsed.dst_port))) return false;
  return program.takes(frame.bytes.first(shown_bytes(frame)), frame.bytes.size());
}

}  // namespace sluice::capture
