#pragma once

#include <cstdint>

#include "dataplane/packet/checksum.hpp"

namespace sluice::packet {

/// Values of the ECN field of an IP header (RFC 3168 section 5).
struct EcnField {
  static constexpr std::uint8_t not_ect = 0, ect1 = 1, ect0 = 2, congestion_experienced = 3;
};

/// Returns the ECN field of the IPv4 or IPv6 header at `ip`, of which at least two bytes are readable.
[[nodiscard]] inline std::uint8_t ecn_field(const std::uint8_t* ip) {
  return static_cast<std::uint8_t>(ip[0] >> 4U == 4 ? ip[1] & 3U : ip[1] >> 4U & 3U);
}

/// Sets Congestion Experienced in the IPv4 or IPv6 header at `ip`, and updates the checksum of IPv4 (RFC 1624). Returns
/// false and changes nothing if the packet is not ECN-capable. Requires a whole header.
inline bool mark_congestion_experienced(std::uint8_t* ip) {
  if (ecn_field(ip) == EcnField::not_ect) return false;
  if (ip[0] >> 4U != 4) {
    ip[1] = static_cast<std::uint8_t>(ip[1] | EcnField::congestion_experienced << 4U);
    return true;
  }
  const auto word = [ip](int at) { return static_cast<std::uint16_t>(ip[at] << 8 | ip[at + 1]); };
  const std::uint16_t before = word(0);
  ip[1] = static_cast<std::uint8_t>(ip[1] | EcnField::congestion_experienced);
  const std::uint16_t checksum = update_checksum(word(10), before, word(0));
  ip[10] = static_cast<std::uint8_t>(checksum >> 8U);
  ip[11] = static_cast<std::uint8_t>(checksum & 0xffU);
  return true;
}

/// Writes the ACE field of RFC 9768 into the TCP header at `tcp`. If `summed` is true, the checksum field covers the
/// header and is updated (RFC 1624). If it is false, the checksum is computed later, so it is not changed here.
inline void write_ace(std::uint8_t* tcp, std::uint8_t ace, bool summed) {
  constexpr int flags_at = 12, checksum_at = 16;
  constexpr unsigned shift = 6, mask = 7U << shift;
  const auto word = [tcp](int at) { return static_cast<std::uint16_t>(tcp[at] << 8 | tcp[at + 1]); };
  const auto put = [tcp](int at, unsigned value) {
    tcp[at] = static_cast<std::uint8_t>(value >> 8U);
    tcp[at + 1] = static_cast<std::uint8_t>(value & 0xffU);
  };
  const std::uint16_t before = word(flags_at);
  put(flags_at, (before & ~mask) | (ace & 7U) << shift);
  if (summed) put(checksum_at, update_checksum(word(checksum_at), before, word(flags_at)));
}

}  // namespace sluice::packet
