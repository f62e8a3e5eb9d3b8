#pragma once

#include <array>
#include <cstdint>

namespace sluice::proxy {

/// The two ports of the proxy, named after the network to which each one leads.
enum class Side : std::uint8_t {
  radio = 0,  ///< port towards the Node-B and the UEs
  core = 1    ///< port towards the servers
};
[[nodiscard]] constexpr Side opposite(Side side) {
  return side == Side::radio ? Side::core : Side::radio;
}
/// Both sides, for use in loops.
inline constexpr std::array<Side, 2> both_sides{Side::radio, Side::core};
/// Returns the bit that stands for `side` in a bit set of sides.
[[nodiscard]] constexpr std::uint8_t bit(Side side) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(side));
}

}  // namespace sluice::proxy
