#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/units/ip_address.hpp"

namespace sluice::emulator {

/// Identifies a flow: addresses, protocol and, if present, ports.
struct FlowKey {
  IpAddress source;
  IpAddress destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint8_t protocol = 0;
  bool operator==(const FlowKey&) const = default;

  /// Returns a 64-bit hash, equal for equal keys; each `seed` gives another function.
  [[nodiscard]] std::uint64_t hash(std::uint64_t seed = 0) const;
};

/// Reads the key of an Ethernet frame; VLAN tags are skipped. Ports are 0 in fragments and in protocols without ports.
/// Returns nothing if the frame is not IP.
[[nodiscard]] std::optional<FlowKey> read_flow_key(std::span<const std::uint8_t> frame);

}  // namespace sluice::emulator
