#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::dpdk {

/// Fills at most 256 octets from the system's random source, which is unpredictable for outsiders. Throws
/// std::system_error if there is none.
void fill_random(std::span<std::uint8_t> octets);

/// Returns `size` octets from the system's random source.
template <std::size_t size>
[[nodiscard]] std::array<std::uint8_t, size> random_octets() {
  std::array<std::uint8_t, size> octets;
  fill_random(octets);
  return octets;
}

}  // namespace sluice::dpdk
