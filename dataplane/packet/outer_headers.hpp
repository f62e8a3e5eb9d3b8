#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/packet/headers.hpp"

namespace sluice::packet {

/// Network that an outer header identifies, such as a VLAN, as part of a flow key; 0 if the header identifies none.
/// Equal addresses in different networks are different hosts. Each kind of header uses bit patterns that no other kind
/// uses.
struct NetworkTag {
  std::uint16_t bits = 0;
  [[nodiscard]] constexpr bool exists() const { return bits != 0; }
  constexpr bool operator==(const NetworkTag&) const = default;
};
/// Networks that the outer headers of a frame identify, the outermost first. Both directions of a connection have equal
/// ones.
using Networks = std::array<NetworkTag, 2>;

/// Kind of outer headers. The value `constant` stands for headers whose bytes do not depend on the packet behind them.
/// Every other value identifies the class that writes the dependent bytes (encapsulation.hpp).
enum class Encapsulation : std::uint8_t;

/// Result of reading outer headers.
enum class OuterResult : std::uint8_t {
  complete,   ///< all outer headers were read
  truncated,  ///< the frame ends within an outer header, or is shorter than that header states
  /// The headers are longer than this program supports (max_outer_length), or combined in a way that is not supported.
  too_deep
};

/// Headers in front of the IP header of a frame, as far as they were read.
struct OuterHeaders {
  /// EtherType of the data after the outer headers; 0 if that data is not IP and no EtherType states its kind.
  std::uint16_t type = 0;
  std::uint8_t length = 0;     ///< bytes of outer headers, which is the offset of the IP header
  Encapsulation kind{};        ///< kind of the last header if its bytes depend on the packet, else `constant`
  std::uint8_t tag_count = 0;  ///< number of networks that the headers have named so far
  Networks networks{};
  /// Offset of the first byte after the packet that the outer headers contain, at most the frame's length.
  std::size_t end = 0;

  /// Adds a network to the flow key. Returns false if the key has no space for it.
  [[nodiscard]] constexpr bool add(NetworkTag tag) {
    if (tag_count == networks.size()) return false;
    networks.at(tag_count++) = tag;
    return true;
  }
};

}  // namespace sluice::packet
