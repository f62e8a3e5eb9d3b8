#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::emulator {

/// The fields of an IP header that the emulator uses.
struct IpHeader {
  IpAddress source;
  IpAddress destination;
  Bytes length;            ///< bytes of IP header and payload, without padding of the frame
  std::size_t offset = 0;  ///< offset of the IP header in the frame
};

/// Reads an Ethernet frame with up to two VLAN tags. Returns nothing if it contains no complete IPv4 or IPv6 header, or
/// if the header's length exceeds the frame.
[[nodiscard]] std::optional<IpHeader> read_ip_header(std::span<const std::uint8_t> frame);

}  // namespace sluice::emulator
