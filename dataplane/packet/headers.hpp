#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::packet {

static_assert(std::endian::native == std::endian::little, "written for x86-64");

// Access to header fields. load_be16() and store_be16() convert between network byte order and a number; load16() and
// store16() copy memory unchanged.

[[nodiscard]] inline std::uint16_t load16(const std::uint8_t* at) noexcept {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}
[[nodiscard]] inline std::uint32_t load32(const std::uint8_t* at) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}
[[nodiscard]] inline std::uint64_t load64(const std::uint8_t* at) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}
[[nodiscard]] inline std::uint16_t load_be16(const std::uint8_t* at) noexcept {
  return __builtin_bswap16(load16(at));
}
[[nodiscard]] inline std::uint32_t load_be32(const std::uint8_t* at) noexcept {
  return __builtin_bswap32(load32(at));
}
inline void store16(std::uint8_t* at, std::uint16_t value) noexcept {
  std::memcpy(at, &value, sizeof value);
}
inline void store32(std::uint8_t* at, std::uint32_t value) noexcept {
  std::memcpy(at, &value, sizeof value);
}
inline void store64(std::uint8_t* at, std::uint64_t value) noexcept {
  std::memcpy(at, &value, sizeof value);
}
inline void store_be16(std::uint8_t* at, std::uint16_t value) noexcept {
  store16(at, __builtin_bswap16(value));
}
inline void store_be32(std::uint8_t* at, std::uint32_t value) noexcept {
  store32(at, __builtin_bswap32(value));
}

/// EtherType values (IEEE 802 numbers).
namespace ethertype {
inline constexpr std::uint16_t ipv4 = 0x0800, arp = 0x0806, vlan = 0x8100, ipv6 = 0x86dd, mpls = 0x8847,
                               mpls_upstream = 0x8848, service_vlan = 0x88a8, old_service_vlan = 0x9100;
}

/// IP protocol and IPv6 next-header numbers (IANA).
namespace ip_protocol {
inline constexpr std::uint8_t hop_by_hop = 0, icmp = 1, tcp = 6, udp = 17, routing = 43, fragment = 44,
                              authentication = 51, icmp_v6 = 58, destination_options = 60, mobility = 135, hip = 139,
                              shim6 = 140;
}

/// TCP option kinds (IANA).
namespace tcp_option {
inline constexpr std::uint8_t end = 0, nop = 1, mss = 2, window_scale = 3, sack_permitted = 4, sack = 5, timestamps = 8,
                              md5 = 19, authentication = 29, multipath = 30, fast_open = 34, accurate_ecn_0 = 172,
                              accurate_ecn_1 = 174, experiment_1 = 253, experiment_2 = 254;
}

/// First option word, as load32() reads it, of a header with timestamps after two NOPs and no other option (RFC 7323
/// appendix A).
inline constexpr std::uint32_t only_timestamps = 0x0a080101U;

inline constexpr std::size_t ethernet_length = 14, vlan_tag_length = 4, ipv4_length = 20, ipv6_length = 40,
                             tcp_length = 20, udp_length = 8, icmp_length = 8;
/// Largest number of bytes by which a frame may exceed the MTU: those of an Ethernet header with two VLAN tags.
inline constexpr std::size_t max_beyond_mtu = ethernet_length + 2 * vlan_tag_length;

}  // namespace sluice::packet
