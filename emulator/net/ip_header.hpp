#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::emulator {

/// What the emulator needs of a frame: whom it is for, and how long it is.
struct IpHeader {
  IpAddress source;
  IpAddress destination;
  Bytes length;            ///< IP header and payload, without the frame's padding
  std::size_t offset = 0;  ///< of the IP header in the frame
};

/// Reads an Ethernet frame with up to two VLAN tags. Nothing when it does not hold a whole IPv4 or IPv6 header, or when
/// the header's length is more than the frame holds.
[[nodiscard]] std::optional<IpHeader> read_ip_header(std::span<const std::uint8_t> frame);

}  // namespace sluice::emulator
