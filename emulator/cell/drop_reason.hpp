#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::emulator {

/// Table of the reasons why packets for a UE are dropped at a Node-B. Names and texts in results are generated from
/// this table.
#define SLUICE_CELL_DROPS(X)                                                                                           \
  X(full, "did not fit into the radio queue, or were evicted for another packet")                                      \
  X(early, "dropped by active queue management before the radio queue was full")                                       \
  X(given_up, "not received after the last attempt")                                                                   \
  X(air, "left the radio queue and were finally lost on the air")                                                      \
  X(handover,                                                                                                          \
    "were for a UE that was handed over without forwarding, or did not fit into the buffer for packets that wait for " \
    "older ones")                                                                                                      \
  X(left, "were queued for a UE that left")

enum class DropReason : std::uint8_t {
#define X(name, text) name,
  SLUICE_CELL_DROPS(X)
#undef X
      count
};
inline constexpr std::size_t drop_reasons = static_cast<std::size_t>(DropReason::count);

/// Name of a drop reason and its description.
struct DropText {
  std::string_view name;
  std::string_view text;
};
inline constexpr std::array<DropText, drop_reasons> drop_table = {{
#define X(name, text) DropText{#name, text},
    SLUICE_CELL_DROPS(X)
#undef X
}};
[[nodiscard]] constexpr std::string_view to_string(DropReason reason) {
  return drop_table[static_cast<std::size_t>(reason)].name;
}

}  // namespace sluice::emulator
