#include "emulator/net/flow_key.hpp"

#include <cstddef>

#include "dataplane/packet/headers.hpp"
#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {
namespace {

constexpr std::uint8_t protocol_tcp = 6;
constexpr std::uint8_t protocol_udp = 17;

/// Returns the offset of the transport header in the IP packet `ip`; nothing for a fragment. Writes the packet's
/// protocol to `protocol`.
std::optional<std::size_t> transport_of(std::span<const std::uint8_t> ip, std::uint8_t& protocol) {
  if (ip[0] >> 4 == 6) {
    protocol = ip[6];
    return 40;
  }
  protocol = ip[9];
  // A fragment: more fragments follow, or the offset is not 0.
  if ((packet::load_be16(&ip[6]) & 0x3fff) != 0) return std::nullopt;
  return std::size_t{4} * (ip[0] & 0x0fU);
}

/// Returns `value` mixed by a bijective function on 64 bits (finaliser of splitmix64).
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

}  // namespace

std::uint64_t FlowKey::hash(std::uint64_t seed) const {
  std::uint64_t value = mix(seed + 0x9e3779b97f4a7c15U);
  for (const IpAddress& address : {source, destination}) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < address.octets.size(); ++i) {
      word = word << 8 | address.octets[i];
      if (i % 8 == 7) value = mix(value ^ word);
    }
  }
  return mix(value ^ (std::uint64_t{source_port} << 24 | std::uint64_t{destination_port} << 8 | protocol));
}

std::optional<FlowKey> read_flow_key(std::span<const std::uint8_t> frame) {
  const auto header = read_ip_header(frame);
  if (!header) return std::nullopt;
  const std::span<const std::uint8_t> ip = frame.subspan(header->offset);
  FlowKey key{header->source, header->destination, 0, 0, 0};
  const auto transport = transport_of(ip, key.protocol);
  const bool has_ports = key.protocol == protocol_tcp || key.protocol == protocol_udp;
  if (transport && has_ports && *transport + 4 <= ip.size()) {
    key.source_port = packet::load_be16(&ip[*transport]);
    key.destination_port = packet::load_be16(&ip[*transport + 2]);
  }
  return key;
}

}  // namespace sluice::emulator
