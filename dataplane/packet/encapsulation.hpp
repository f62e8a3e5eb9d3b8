#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/outer_headers.hpp"
#include "dataplane/packet/vlan.hpp"

// Headers between the Ethernet header and the IP header: how they are read, which networks they name, how they count
// against the MTU, and how they are written. No other file knows these headers, except the program for the kernel in
// dataplane/dpdk/fanout_program.cpp.

/// Headers that may precede the IP header: X(name, class). A class has these members:
/// - `length`: smallest number of bytes of the header.
/// - `max_length`: largest number of bytes between the Ethernet header and the IP header in frames with this header.
/// - `begins(type)`: true if the header begins behind this EtherType. A tunnel over IP has `begins(type, rest)`, which
///   also checks the bytes `rest` behind the EtherType. A frame for which it is false is an ordinary IP packet.
/// - `read(rest, outer)`: checks and reads the header, which begins at `rest` with at least `length` bytes. Adds its
///   bytes to outer.length, sets outer.type, adds the networks that it names, and limits outer.end to its payload.
/// - `varies`: true if bytes of the header depend on the packet behind it, such as a length field. That packet has to
///   be an IP packet, and no further header is read.
/// - `write(outer, ip_length)`, only if `varies`: writes the bytes that depend on the packet, at the end of all outer
///   headers `outer`. A template contains the bytes that are written for an `ip_length` of 0. All packets of a tunnel
///   thus have equal templates.
#define SLUICE_ENCAPSULATIONS(X) X(vlan, VlanTag)

namespace sluice::packet {

enum class Encapsulation : std::uint8_t {
  constant,
#define X(name, header) name,
  SLUICE_ENCAPSULATIONS(X)
#undef X
};

/// True if at least one kind of outer header contains bytes that depend on the packet, such as a length field.
#define X(name, header) || header::varies
inline constexpr bool some_outer_headers_vary = false SLUICE_ENCAPSULATIONS(X);
#undef X

/// True if this kind of header is a tunnel over IP, so that it follows an outer IP header. The EtherType alone then
/// does not show the tunnel, and begins() also gets the bytes after the EtherType.
template <typename Header>
inline constexpr bool is_tunnel_over_ip = requires(std::span<const std::uint8_t> rest) {
  Header::begins(std::uint16_t{}, rest);
};
#define X(name, header) || is_tunnel_over_ip<header>
/// True if one of the kinds of outer headers is a tunnel over IP. If none is, the outer headers end where the EtherType
/// is that of IP.
inline constexpr bool some_tunnel_over_ip = false SLUICE_ENCAPSULATIONS(X);
#undef X

/// Largest number of bytes in front of the IP header: the Ethernet header and the headers after it.
#define X(name, header) header::max_length,
inline constexpr std::size_t max_outer_length = ethernet_length + std::max({SLUICE_ENCAPSULATIONS(X)});
#undef X
static_assert(max_outer_length <= UINT8_MAX, "OuterHeaders::length");
/// Largest number of bytes of the headers that are written: outer headers, IPv6, and TCP with all its options.
inline constexpr std::size_t max_header_length = max_outer_length + ipv6_length + 60;

/// Reads the headers between the Ethernet header and the IP header, such as VLAN tags, and returns whether all could be
/// read. Called by read_outer_headers(), which has read the Ethernet header.
[[nodiscard]] OuterResult read_shims(std::span<const std::uint8_t> frame, OuterHeaders& outer) noexcept;

/// Reads all headers in front of the IP header. Never reads outside the frame. Unless the result is `complete`, `outer`
/// contains what was read before the problem.
[[nodiscard]] inline OuterResult read_outer_headers(std::span<const std::uint8_t> frame, OuterHeaders& outer) noexcept {
  outer = {};
  if (frame.size() < ethernet_length) return OuterResult::truncated;
  outer.type = load_be16(frame.data() + ethernet_length - 2);
  outer.length = ethernet_length;
  outer.end = frame.size();
  return outer.type == ethertype::ipv4 && !some_tunnel_over_ip ? OuterResult::complete : read_shims(frame, outer);
}

/// Headers to write in front of the IP header, learned from a frame of the same direction. Bytes that depend on the
/// packet are stored with their values for an empty packet.
struct OuterTemplate {
  std::array<std::uint8_t, max_outer_length> bytes{};
  std::uint8_t length = 0;  ///< number of bytes of the template
  Encapsulation kind = Encapsulation::constant;

  /// Returns a template that consists of `bytes`. Returns nothing if they are not exactly the outer headers of a frame.
  [[nodiscard]] static std::optional<OuterTemplate> from_bytes(std::span<const std::uint8_t> bytes) noexcept;
  /// Returns the template of the frame's outer headers, which have `length` bytes. Requires a frame that parsed as IP.
  [[nodiscard]] static OuterTemplate learn(std::span<const std::uint8_t> frame, std::uint8_t length) noexcept;
  [[nodiscard]] std::span<const std::uint8_t> used() const { return std::span(bytes).first(length); }
  /// Exchanges the MAC addresses.
  void swap_addresses() noexcept;
  constexpr bool operator==(const OuterTemplate&) const = default;
};

/// Writes the bytes of outer headers that depend on the packet, such as a length field. `ip_length`: bytes of the IP
/// packet.
void write_lengths(std::span<std::uint8_t> outer, Encapsulation kind, std::uint16_t ip_length) noexcept;

/// Writes outer headers to `frame`, which has space for max_outer_length bytes. `ip_length`: bytes of the IP packet.
[[gnu::always_inline]] inline void write_outer_headers(std::uint8_t* frame, const OuterTemplate& outer,
                                                       [[maybe_unused]] std::uint16_t ip_length) noexcept {
  // Copies a fixed number of bytes, so one copy serves an Ethernet header and VLAN tags. The IP header then overwrites
  // the surplus. Only longer headers need a second copy.
  constexpr std::size_t common = ethernet_length + VlanTag::max_length;
  std::memcpy(frame, outer.bytes.data(), common);
  if constexpr (max_outer_length > common) {
    if (outer.length > common) [[unlikely]]
      std::memcpy(frame + common, outer.bytes.data() + common, outer.length - common);
  }
  if constexpr (some_outer_headers_vary) {
    if (outer.kind != Encapsulation::constant) [[unlikely]]
      write_lengths({frame, outer.length}, outer.kind, ip_length);
  }
}

/// True if the headers between the Ethernet header and the IP header of a frame, such as VLAN tags, equal those of a
/// template. Called for templates that may be longer than an Ethernet header.
[[nodiscard, gnu::cold]] bool same_shims(const OuterTemplate& known, std::span<const std::uint8_t> frame) noexcept;

/// True if a frame has the outer headers of the template, except bytes that depend on the packet. Requires a frame that
/// parsed as IP.
[[nodiscard]] inline bool same_outer_headers(const OuterTemplate& known, std::span<const std::uint8_t> frame) noexcept {
  const std::uint8_t* const here = frame.data();
  // Compares the MAC addresses and the first EtherType.
  if (((load64(known.bytes.data()) ^ load64(here)) | (load64(known.bytes.data() + 6) ^ load64(here + 6))) != 0)
    return false;
  return (known.length == ethernet_length && !some_tunnel_over_ip) || same_shims(known, frame);
}

/// Returns the length of the VLAN tags of a frame that do not count against the MTU of a port. If `counted`
/// (LinkLimit::tags_count) is true, this is one outer 802.1Q tag at most. If it is false, it is up to two tags of any
/// kind. Other outer headers always count.
[[nodiscard]] std::size_t bytes_beyond_mtu(std::span<const std::uint8_t> frame, bool counted) noexcept;

}  // namespace sluice::packet
