#pragma once

#include <array>
#include <cstdint>

#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::dpdk {

/// Word of 16 bits that the key of a device's Toeplitz hash (RSS) repeats. Because of the repetition an address has the
/// same hash at every position of the hashed tuple: as source on one port and as destination on the other.
inline constexpr std::uint16_t rss_key_word = 0x6d5a;
[[nodiscard]] const std::array<std::uint8_t, 64>& rss_key() noexcept;

/// Number of entries in the redirection table, which maps hashes to receive queues. A device whose table has another
/// size contains these entries repeatedly.
inline constexpr std::uint32_t rss_table_size = 128;

/// Returns the Toeplitz hash of an address under rss_key() (Microsoft's RSS definition). IPv4 addresses are hashed by
/// their four bytes.
[[nodiscard]] std::uint32_t address_hash(const IpAddress& address) noexcept;

/// Returns the address_hash() of the UE's address in a frame. `facing` is the side of the port on which the frame
/// arrived, which shows whether the UE is source or destination. Returns 0 for frames without IP addresses.
[[nodiscard]] std::uint32_t ue_address_hash(const packet::Packet& frame, Facing facing) noexcept;

}  // namespace sluice::dpdk
