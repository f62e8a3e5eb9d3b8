#pragma once

#include <array>
#include <cstdint>

#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::dpdk {

/// Key for a device's Toeplitz hash. It repeats every 16 bits, so that an address hashes alike wherever in the hashed
/// tuple it stands: as source on one port, as destination on the other.
inline constexpr std::uint16_t rss_key_word = 0x6d5a;
[[nodiscard]] const std::array<std::uint8_t, 64>& rss_key() noexcept;

/// Entries of the table from hash to queue, as we model it; a device's table of another size repeats or folds it.
inline constexpr std::uint32_t rss_table_size = 128;

/// Toeplitz hash of an address under that key (as in Microsoft's RSS definition). IPv4 addresses by their four bytes.
[[nodiscard]] std::uint32_t address_hash(const IpAddress& address) noexcept;

/// The same for the UE's address of a frame that came in on a port facing `facing`; 0 for frames without IP addresses.
[[nodiscard]] std::uint32_t ue_address_hash(const packet::Packet& frame, Facing facing) noexcept;

}  // namespace sluice::dpdk
