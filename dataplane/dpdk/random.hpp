#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::dpdk {

/// Fills octets from the system's random source, which nobody outside can foretell: 256 at most. Throws
/// std::system_error when there is none.
void fill_random(std::span<std::uint8_t> octets);

/// So many of them.
template <std::size_t size>
[[nodiscard]] std::array<std::uint8_t, size> random_octets() {
  std::array<std::uint8_t, size> octets;
  fill_random(octets);
  return octets;
}

}  // namespace sluice::dpdk
