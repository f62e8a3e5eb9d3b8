#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::emulator {

/// Returns the size of a frame on a wired line and in a router's queue: the bytes after its Ethernet header, VLAN tags
/// included. So rates and buffers of wired lines can be compared with those of the radio link, which are in IP bytes.
/// Always above 0.
[[nodiscard]] inline Bytes line_size(const packet::Packet& packet) {
  constexpr std::uint32_t ethernet_header = 14;
  const std::uint32_t size = packet.size();
  return Bytes(size > ethernet_header ? size - ethernet_header : size);
}

}  // namespace sluice::emulator
