#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::proxy {

/// Contribution of one split connection to the sums of its bearer (the UE's connections under one policy), as of its
/// last service.
struct FlowShare {
  std::uint32_t backlog = 0;   ///< bytes towards the UE that the flow has not sent yet
  std::uint32_t reserved = 0;  ///< bytes held and advertised, both directions together

  /// bytes acknowledged to one host and not by the other, both directions together; 0 without a limit
  std::uint32_t exposed : 29 = 0;

  /// true if a rate controller sets the server's window and the UE has still to acknowledge data
  bool moving : 1 = false;

  /// true if the next Node-B report updates the server's window: it is closed, or is set once per report
  bool window_closed : 1 = false;

  /// true for a short flow: it is open and has sent less than SmvsMode::short_flow bytes
  bool short_flow : 1 = false;

  static constexpr std::uint32_t max_exposed = (1U << 29) - 1;  ///< largest value of `exposed`
};
static_assert(sizeof(FlowShare) == 12, "part of each flow");

/// Sums over the split connections of one UE bearer (the UE's connections under one policy).
struct BearerLoad {
  Bytes backlog{};
  Bytes reserved{};
  Bytes exposed{};
  std::uint32_t backlogged_flows = 0;  ///< flows with unsent bytes towards the UE
  std::uint32_t moving_flows = 0;  ///< flows that hold data for the UE and whose server's window a rate controller sets
  std::uint32_t long_moving_flows = 0;    ///< flows counted in moving_flows that are not short flows: downloads
  std::uint32_t short_flows = 0;          ///< number of short flows
  std::uint32_t closed_window_flows = 0;  ///< flows with FlowShare::window_closed

  /// Updates a flow's contribution and its bearer's sums after a normal service: unsent bytes, held and advertised
  /// bytes, and `moving`. All other fields of the contribution stay unchanged.
  void update(FlowShare& share, std::uint32_t unsent, std::uint32_t held_and_advertised, bool is_moving) {
    reserved += Bytes(held_and_advertised) - Bytes(share.reserved);
    share.reserved = held_and_advertised;
    if (unsent != share.backlog) {
      backlog += Bytes(unsent) - Bytes(share.backlog);
      backlogged_flows += (unsent != 0 ? 1U : 0U) - (share.backlog != 0 ? 1U : 0U);
      share.backlog = unsent;
    }
    if (is_moving != share.moving) [[unlikely]]
      set_moving(share, is_moving);
  }

  /// Changes `moving` of a flow's share, and the bearer's sums. Requires that the flag changes.
  void set_moving(FlowShare& share, bool is_moving) {
    const std::uint32_t change = is_moving ? 1U : UINT32_MAX;
    moving_flows += change;
    long_moving_flows += share.short_flow ? 0U : change;
    share.moving = is_moving;
  }

  /// Adds `change` to the bytes that a flow holds and has advertised, and to its bearer's sum. All other fields of the
  /// flow's contribution stay unchanged.
  void reserve(FlowShare& share, std::int64_t change) {
    const std::int64_t after = std::max<std::int64_t>(share.reserved + change, 0);
    reserved += Bytes(after) - Bytes(share.reserved);
    share.reserved = static_cast<std::uint32_t>(after);
  }

  /// Replaces a flow's contribution `before` to its bearer's sums by `after`. One of them is empty for a flow that is
  /// added or removed.
  void change(const FlowShare& before, const FlowShare& after) {
    backlog += Bytes(after.backlog) - Bytes(before.backlog);
    reserved += Bytes(after.reserved) - Bytes(before.reserved);
    exposed += Bytes(after.exposed) - Bytes(before.exposed);
    backlogged_flows += (after.backlog != 0 ? 1U : 0U) - (before.backlog != 0 ? 1U : 0U);
    moving_flows += (after.moving ? 1U : 0U) - (before.moving ? 1U : 0U);
    closed_window_flows += (after.window_closed ? 1U : 0U) - (before.window_closed ? 1U : 0U);
    long_moving_flows +=
        (after.moving && !after.short_flow ? 1U : 0U) - (before.moving && !before.short_flow ? 1U : 0U);
    short_flows += (after.short_flow ? 1U : 0U) - (before.short_flow ? 1U : 0U);
  }
};

}  // namespace sluice::proxy
