#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/units/ip_address.hpp"

namespace sluice::emulator {

/// What tells flows apart: the addresses, the protocol and, where it has them, the ports.
struct FlowKey {
  IpAddress source;
  IpAddress destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint8_t protocol = 0;
  bool operator==(const FlowKey&) const = default;

  /// The same for equal keys, spread over 64 bits; `seed` makes it another function.
  [[nodiscard]] std::uint64_t hash(std::uint64_t seed = 0) const;
};

/// Reads an Ethernet frame (VLAN tags are skipped). Ports are 0 in fragments and where there are none. Nothing when it
/// is not IP.
[[nodiscard]] std::optional<FlowKey> read_flow_key(std::span<const std::uint8_t> frame);

}  // namespace sluice::emulator
