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

}  // namespace sluice::packet
