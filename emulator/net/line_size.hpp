#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::emulator {

/// What a frame is to a wired line and to a router's queue: the bytes behind its Ethernet header, VLAN tags counted. So
/// a rate or a buffer of a wire means what it means to the radio, which counts IP bytes. More than nothing.
[[nodiscard]] inline Bytes line_size(const packet::Packet& packet) {
  constexpr std::uint32_t ethernet_header = 14;
  const std::uint32_t size = packet.size();
  return Bytes(size > ethernet_header ? size - ethernet_header : size);
}

}  // namespace sluice::emulator
