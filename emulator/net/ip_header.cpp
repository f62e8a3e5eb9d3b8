#include "emulator/net/ip_header.hpp"

#include <algorithm>
#include <cstddef>

#include "dataplane/packet/headers.hpp"

namespace sluice::emulator {
namespace {

constexpr std::size_t addresses = 12;  // bytes of the two MAC addresses
constexpr std::size_t max_tags = 2;
constexpr std::uint16_t ether_ipv4 = 0x0800;
constexpr std::uint16_t ether_ipv6 = 0x86dd;
constexpr std::uint16_t ether_vlan = 0x8100;
constexpr std::uint16_t ether_service_vlan = 0x88a8;

std::optional<IpHeader> read_ipv4(std::span<const std::uint8_t> ip) {
  constexpr std::size_t header = 20;
  if (ip.size() < header || ip[0] >> 4 != 4) return std::nullopt;
  const std::size_t length = packet::load_be16(&ip[2]);
  if (length < header || length > ip.size()) return std::nullopt;
  return IpHeader{IpAddress::v4(ip[12], ip[13], ip[14], ip[15]), IpAddress::v4(ip[16], ip[17], ip[18], ip[19]),
                  Bytes(length), 0};
}

std::optional<IpHeader> read_ipv6(std::span<const std::uint8_t> ip) {
  constexpr std::size_t header = 40;
  if (ip.size() < header || ip[0] >> 4 != 6) return std::nullopt;
  const std::size_t length = header + packet::load_be16(&ip[4]);
  if (length > ip.size()) return std::nullopt;
  IpHeader result;
  std::copy_n(ip.begin() + 8, 16, result.source.octets.begin());
  std::copy_n(ip.begin() + 24, 16, result.destination.octets.begin());
  result.length = Bytes(length);
  return result;
}

}  // namespace

std::optional<IpHeader> read_ip_header(std::span<const std::uint8_t> frame) {
  std::size_t at = addresses;
  for (std::size_t tags = 0; at + 2 <= frame.size(); ++tags, at += 4) {
    const std::uint16_t type = packet::load_be16(&frame[at]);
    if (type == ether_ipv4 || type == ether_ipv6) {
      auto header = type == ether_ipv4 ? read_ipv4(frame.subspan(at + 2)) : read_ipv6(frame.subspan(at + 2));
      if (header) header->offset = at + 2;
      return header;
    }
    if ((type != ether_vlan && type != ether_service_vlan) || tags == max_tags) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace sluice::emulator
