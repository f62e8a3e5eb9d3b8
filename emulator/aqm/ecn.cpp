#include "emulator/aqm/ecn.hpp"

#include <cstdint>

#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {
namespace {

constexpr std::uint8_t congestion_experienced = 3;

/// Marks an IPv4 header and updates its checksum. Returns false if it is not ECN-capable.
bool mark_v4(std::uint8_t* ip) {
  if ((ip[1] & 3) == 0) return false;
  const auto before = static_cast<std::uint16_t>(ip[0] << 8 | ip[1]);
  ip[1] = static_cast<std::uint8_t>(ip[1] | congestion_experienced);
  const auto after = static_cast<std::uint16_t>(ip[0] << 8 | ip[1]);
  // Incremental update by RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
  std::uint32_t sum = static_cast<std::uint16_t>(~(ip[10] << 8 | ip[11]));
  sum += static_cast<std::uint16_t>(~before);
  sum += after;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  const auto checksum = static_cast<std::uint16_t>(~sum);
  ip[10] = static_cast<std::uint8_t>(checksum >> 8);
  ip[11] = static_cast<std::uint8_t>(checksum & 0xff);
  return true;
}

/// Marks an IPv6 header. Returns false if it is not ECN-capable.
bool mark_v6(std::uint8_t* ip) {
  if ((ip[1] >> 4 & 3) == 0) return false;
  ip[1] = static_cast<std::uint8_t>(ip[1] | congestion_experienced << 4);
  return true;
}

}  // namespace

bool mark_congestion(packet::Packet& frame) {
  const auto header = read_ip_header(frame.bytes());
  if (!header) return false;
  std::uint8_t* const ip = frame.data() + header->offset;
  return ip[0] >> 4 == 4 ? mark_v4(ip) : mark_v6(ip);
}

std::uint8_t ecn_of(const packet::Packet& frame) {
  const auto header = read_ip_header(frame.bytes());
  if (!header) return 0;
  const std::uint8_t* const ip = frame.data() + header->offset;
  return static_cast<std::uint8_t>(ip[0] >> 4 == 4 ? ip[1] & 3 : ip[1] >> 4 & 3);
}

}  // namespace sluice::emulator
