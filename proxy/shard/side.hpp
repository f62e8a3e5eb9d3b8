#pragma once

#include <array>
#include <cstdint>

namespace sluice::proxy {

/// The two ports of the bump in the wire, named by what lies behind them.
enum class Side : std::uint8_t {
  radio = 0,  ///< towards the Node-B and the UEs
  core = 1    ///< towards the servers
};
[[nodiscard]] constexpr Side opposite(Side side) {
  return side == Side::radio ? Side::core : Side::radio;
}
/// Both, for loops over them.
inline constexpr std::array<Side, 2> both_sides{Side::radio, Side::core};
/// A side as one bit, for sets of them.
[[nodiscard]] constexpr std::uint8_t bit(Side side) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(side));
}

}  // namespace sluice::proxy
