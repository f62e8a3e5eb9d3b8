// Implements read_ip_header(): the bounds-checked parser of outer, IPv4 and IPv6 headers. Cells, routers,
// ECN marking and flow classification call it per packet. Frames may be hostile: each field is read only after its
// bounds are checked.

#include "emulator/net/ip_header.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "dataplane/packet/encapsulation.hpp"
#include "dataplane/packet/headers.hpp"

namespace sluice::emulator {
namespace {

// Results are written in place and in whole words, because reading a word that was written in pieces stalls the
// processor (store forwarding).

/// Writes the IPv4 address at `octets` to `result`, in its IPv4-mapped form (RFC 4291 section 2.5.5.2).
void read_v4(const std::uint8_t* octets, IpAddress& result) {
  std::uint32_t address = 0;
  std::memcpy(&address, octets, sizeof address);
  constexpr bool little = std::endian::native == std::endian::little;
  const std::uint64_t mapped = little ? std::uint64_t{address} << 32 | 0xffff'0000U : 0xffff'0000'0000U | address;
  const IpAddress::Words words{0, mapped};
  std::memcpy(result.octets.data(), words.data(), sizeof words);
}

void read_ipv4(std::span<const std::uint8_t> frame, std::size_t offset, std::optional<IpHeader>& result) {
  const std::span<const std::uint8_t> ip = frame.subspan(offset);
  constexpr std::size_t header = 20;
  if (ip.size() < header || ip[0] >> 4 != 4) return;
  const std::size_t length = packet::load_be16(&ip[2]);
  if (length < header || length > ip.size()) return;
  result.emplace();
  read_v4(&ip[12], result->source);
  read_v4(&ip[16], result->destination);
  result->length = Bytes(length);
  result->offset = offset;
}

void read_ipv6(std::span<const std::uint8_t> frame, std::size_t offset, std::optional<IpHeader>& result) {
  const std::span<const std::uint8_t> ip = frame.subspan(offset);
  constexpr std::size_t header = 40;
  if (ip.size() < header || ip[0] >> 4 != 6) return;
  const std::size_t length = header + packet::load_be16(&ip[4]);
  if (length > ip.size()) return;
  result.emplace();
  std::copy_n(ip.begin() + 8, 16, result->source.octets.begin());
  std::copy_n(ip.begin() + 24, 16, result->destination.octets.begin());
  result->length = Bytes(length);
  result->offset = offset;
}

}  // namespace

std::optional<IpHeader> read_ip_header(std::span<const std::uint8_t> frame) {
  std::optional<IpHeader> result;
  packet::OuterHeaders outer;
  if (packet::read_outer_headers(frame, outer) != packet::OuterResult::complete) return result;
  if (outer.type == packet::ethertype::ipv4) {
    read_ipv4(frame.first(outer.end), outer.length, result);
  } else if (outer.type == packet::ethertype::ipv6) {
    read_ipv6(frame.first(outer.end), outer.length, result);
  }
  return result;
}

}  // namespace sluice::emulator
