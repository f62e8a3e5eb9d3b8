#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/headers.hpp"

namespace sluice::packet::fuzz {

/// Makes the IPv4 header checksum right, where there is a header; else nobody would get past it.
inline void repair(std::vector<std::uint8_t>& bytes) {
  for (const std::size_t ip : {ethernet_length, ethernet_length + 4, ethernet_length + 8}) {
    if (bytes.size() < ip + ipv4_length || load_be16(bytes.data() + ip - 2) != ethertype::ipv4) continue;
    const std::size_t length = (bytes[ip] & 15U) * 4U;
    if (length < ipv4_length || bytes.size() < ip + length) return;
    store16(bytes.data() + ip + 10, 0);
    store16(bytes.data() + ip + 10, static_cast<std::uint16_t>(~ones_complement_sum({bytes.data() + ip, length})));
    return;
  }
}

}  // namespace sluice::packet::fuzz
