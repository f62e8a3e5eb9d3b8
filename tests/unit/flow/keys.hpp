#pragma once

#include <cstdint>

#include "dataplane/flow/flow_key.hpp"

namespace sluice::flow {

/// Keys that differ in the UE's address, and beyond 65 536 in its port.
inline FlowKey v4_key(std::uint32_t number) {
  FlowKey key;
  key.ue = IpAddress::v4(10, 45, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number));
  key.server = IpAddress::v4(198, 51, 100, 7);
  key.ue_port = static_cast<std::uint16_t>(40000 + (number >> 16));
  key.server_port = 443;
  return key;
}

/// Returns a key of IPv6 hosts.
inline FlowKey v6_key(std::uint32_t number) {
  FlowKey key = v4_key(number);
  for (IpAddress* const address : {&key.ue, &key.server}) {
    address->octets[0] = 0x20;
    address->octets[1] = 0x01;
  }
  return key;
}

}  // namespace sluice::flow
