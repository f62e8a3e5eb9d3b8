#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace sluice::conformance {

using Octets = std::vector<std::uint8_t>;

/// The control bits of a TCP header (RFC 9293 section 3.1, and AE of RFC 9768).
namespace bit {
inline constexpr std::uint16_t fin = 1, syn = 2, rst = 4, psh = 8, ack = 16, urg = 32, ece = 64, cwr = 128, ae = 256;
}

/// Kinds of TCP options.
namespace kind {
inline constexpr std::uint8_t end = 0, nop = 1, mss = 2, scale = 3, sack_permitted = 4, sack = 5, timestamps = 8;
}

/// A VLAN tag: its type, and priority and VLAN ID.
struct Tag {
  std::uint16_t type = 0;
  std::uint16_t control = 0;
  bool operator==(const Tag&) const = default;
};

/// A TCP segment with its link and IP headers. It is written and read here without the product's code, so that an error
/// of the product's reader does not hide one of its writer.
struct Wire {
  std::vector<Tag> tags;  ///< outer first
  unsigned family = 4;
  Octets source;  ///< addresses of 4 or 16 octets
  Octets destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint8_t tos = 0;  ///< DSCP and ECN
  std::uint8_t hops = 64;
  bool dont_fragment = true;
  bool more_fragments = false;
  std::uint16_t offset = 0;       ///< fragment offset in units of 8 octets
  Octets between;                 ///< IPv4 options, or IPv6 extension headers
  std::uint8_t first_header = 6;  ///< IPv6: what follows the fixed header
  std::uint16_t flags = 0;
  std::uint32_t seq = 0;
  std::uint32_t ack = 0;
  std::uint16_t window = 0;
  std::uint16_t urgent = 0;
  Octets options;  ///< TCP options, padded to a multiple of four
  Octets payload;

  [[nodiscard]] bool has(std::uint16_t flag) const { return (flags & flag) != 0; }
  /// Sequence numbers that the segment takes.
  [[nodiscard]] std::uint32_t length() const {
    return static_cast<std::uint32_t>(payload.size()) + (has(bit::syn) ? 1U : 0U) + (has(bit::fin) ? 1U : 0U);
  }
};

/// What the checksum field of a segment holds.
enum class Sum : std::uint8_t { good, bad, zero, partial };

/// The frame of a segment.
[[nodiscard]] Octets write(const Wire& wire, Sum tcp_sum, bool good_ip_sum);

struct Read {
  Wire wire;
  bool good_ip_sum = false;
  bool good_tcp_sum = false;
};
/// Reads a frame; nothing where it is no whole TCP segment.
[[nodiscard]] std::optional<Read> read(const Octets& frame);

/// Contents of TCP options by kind; options behind a malformed one are left out.
[[nodiscard]] std::map<std::uint8_t, Octets> options_of(const Wire& wire);

[[nodiscard]] inline std::uint32_t big_endian(const Octets& octets, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8U | octets.at(at + i);
  return value;
}
inline void append_big_endian(Octets& octets, std::uint32_t value, unsigned count) {
  while (count-- > 0) octets.push_back(static_cast<std::uint8_t>(value >> 8U * count));
}

}  // namespace sluice::conformance
