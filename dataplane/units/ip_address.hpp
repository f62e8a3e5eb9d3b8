#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// IPv4 or IPv6 address; IPv4 is stored in its IPv4-mapped form (::ffff:a.b.c.d, RFC 4291 section 2.5.5.2).
struct IpAddress {
  std::array<std::uint8_t, 16> octets{};

  [[nodiscard]] static constexpr IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
    return IpAddress{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}};
  }
  /// Parses dotted or colon notation; returns nothing if the text is neither.
  [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text);

  [[nodiscard]] constexpr bool is_v4() const {
    constexpr std::uint64_t mapped = 0xffff0000U;  // second half of the prefix, in memory order
    const Words both = words();
    return (both[0] | ((both[1] ^ mapped) & UINT32_MAX)) == 0;
  }
  [[nodiscard]] std::string to_string() const;
  /// Text form of an address with a terminating zero. The array needs no allocation.
  using Text = std::array<char, 46>;
  [[nodiscard]] Text text() const;

  /// Octets of an address as two 64-bit words in this machine's byte order, which makes comparing and hashing fast.
  using Words = std::array<std::uint64_t, 2>;
  [[nodiscard]] constexpr Words words() const { return std::bit_cast<Words>(octets); }

  constexpr auto operator<=>(const IpAddress&) const = default;
  constexpr bool operator==(const IpAddress& other) const {
    const Words a = words();
    const Words b = other.words();
    return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
  }
};

/// Address block such as 10.45.0.0/16. IPv4 blocks are stored in their IPv4-mapped form (::ffff:0:0/96).
struct IpPrefix {
  IpAddress address;
  std::uint8_t length = 0;  ///< number of fixed bits in the IPv6 or IPv4-mapped form, 0 to 128

  /// Parses "10.0.0.0/8" or "2001:db8::/32"; host bits must be zero. Returns nothing if malformed.
  [[nodiscard]] static std::optional<IpPrefix> parse(std::string_view text);
  [[nodiscard]] bool contains(const IpAddress& candidate) const;
  [[nodiscard]] std::string to_string() const;

  constexpr auto operator<=>(const IpPrefix&) const = default;
};

}  // namespace sluice

template <>
struct std::hash<sluice::IpAddress> {
  std::size_t operator()(const sluice::IpAddress& address) const noexcept {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = 0;
    for (const std::uint64_t word : address.words()) {
      mixed = (mixed ^ word) * odd;
      mixed ^= mixed >> 32;
    }
    return mixed;
  }
};
