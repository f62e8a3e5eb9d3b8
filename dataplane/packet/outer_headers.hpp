#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/packet/headers.hpp"

namespace sluice::packet {

/// Network that an outer header names, as part of a flow key; 0 if the header names none. Equal addresses in different
/// networks are different hosts. Each kind of header uses bit patterns that no other kind uses.
struct NetworkTag {
  std::uint16_t bits = 0;
  [[nodiscard]] constexpr bool exists() const { return bits != 0; }
  constexpr bool operator==(const NetworkTag&) const = default;
};
/// Networks that the outer headers of a frame name, the outermost first. Both directions of a connection have equal
/// ones.
using Networks = std::array<NetworkTag, 2>;

/// Kind of outer headers. `constant` means headers whose bytes do not depend on the packet behind them. Every other
/// value names the class that writes those that do (encapsulation.hpp).
enum class Encapsulation : std::uint8_t;

/// Result of reading outer headers.
enum class OuterResult : std::uint8_t {
  complete,   ///< all outer headers were read
  truncated,  ///< the frame ends within an outer header, or is shorter than that header states
  too_deep    ///< the headers exceed max_outer_length, or are combined in a way that is not supported
};

/// Headers in front of the IP header of a frame, as far as they were read.
struct OuterHeaders {
  std::uint16_t type = 0;      ///< EtherType of what follows; 0 if it is neither IP nor has an EtherType
  std::uint8_t length = 0;     ///< bytes of outer headers, which is the offset of the IP header
  Encapsulation kind{};        ///< kind of the last header if its bytes depend on the packet, else `constant`
  std::uint8_t tag_count = 0;  ///< number of networks in use
  Networks networks{};
  std::size_t end = 0;  ///< offset of the first byte behind the payload, at most the frame's length

  /// Adds a network to the key. Returns false if there is no place for it.
  [[nodiscard]] constexpr bool add(NetworkTag tag) {
    if (tag_count == networks.size()) return false;
    networks.at(tag_count++) = tag;
    return true;
  }
};

}  // namespace sluice::packet
