#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::proxy {

/// Values that one split connection contributes to the sums of its bearer (all connections of a UE under one policy).
/// They are updated when the connection's pending events are processed.
struct FlowShare {
  std::uint32_t backlog = 0;  ///< payload bytes for the UE that the flow has received but not sent yet
  /// bytes that the flow holds, plus those that its advertised windows permit; in both directions together
  std::uint32_t reserved = 0;

  /// Bytes acknowledged to one host but not by the other, in both directions together. 0 unless ACKs are withheld:
  /// a limit on such bytes is configured, or the flow is drained.
  std::uint32_t exposed : 29 = 0;

  /// True if the flow shares the link's rate under a rate controller, which then determines the window advertised to
  /// the server. The UE has not acknowledged all data of the flow, and the UE's receive window does not limit it.
  bool transferring : 1 = false;

  /// True if the next Node-B report must update the window advertised to the server, because that window is closed or
  /// changes only with reports.
  bool window_closed : 1 = false;

  /// true if the flow is short: it is open and has sent less than SmvsSettings::short_flow bytes
  bool short_flow : 1 = false;

  static constexpr std::uint32_t max_exposed = (1U << 29) - 1;  ///< largest value of `exposed`
};
static_assert(sizeof(FlowShare) == 12, "part of each flow");

/// Sums over the split connections of one bearer (all connections of a UE under one policy).
struct BearerLoad {
  Bytes backlog{};
  Bytes reserved{};
  Bytes exposed{};
  std::uint32_t backlogged_flows = 0;  ///< number of flows with data to the UE that is not sent yet
  /// Number of flows with FlowShare::transferring. They share the link's rate under a rate controller: the UE has not
  /// acknowledged all of their data, and its receive window does not limit them.
  std::uint32_t transferring_flows = 0;
  /// Number of flows in transferring_flows that are not short, such as downloads. A flow is short if it has sent less
  /// than SmvsSettings::short_flow.
  std::uint32_t long_transferring_flows = 0;
  std::uint32_t short_flows = 0;          ///< number of short flows
  std::uint32_t closed_window_flows = 0;  ///< number of flows with FlowShare::window_closed
  /// Number of flows with Flow::limited_elsewhere: their bottleneck is another link than the radio link.
  std::uint32_t flows_limited_elsewhere = 0;

  /// Sets three values of the flow in `share`, and updates the bearer's sums. The values are the unsent bytes,
  /// FlowShare::transferring, and the bytes held plus those that advertised windows permit. The other values stay
  /// unchanged.
  void update(FlowShare& share, std::uint32_t unsent, std::uint32_t held_and_advertised, bool is_transferring) {
    reserved += Bytes(held_and_advertised) - Bytes(share.reserved);
    share.reserved = held_and_advertised;
    if (unsent != share.backlog) {
      backlog += Bytes(unsent) - Bytes(share.backlog);
      backlogged_flows += (unsent != 0 ? 1U : 0U) - (share.backlog != 0 ? 1U : 0U);
      share.backlog = unsent;
    }
    if (is_transferring != share.transferring) [[unlikely]]
      set_transferring(share, is_transferring);
  }

  /// Sets FlowShare::transferring of a flow to `is_transferring` and updates the bearer's sums. The value states
  /// whether the flow shares the link's rate under a rate controller. Requires that it was the opposite before.
  void set_transferring(FlowShare& share, bool is_transferring) {
    const std::uint32_t change = is_transferring ? 1U : UINT32_MAX;
    transferring_flows += change;
    long_transferring_flows += share.short_flow ? 0U : change;
    share.transferring = is_transferring;
  }

  /// Adds `change` to FlowShare::reserved and to the bearer's sum of it: the bytes that flows hold, plus those that
  /// their advertised windows permit. All other values stay unchanged.
  void reserve(FlowShare& share, std::int64_t change) {
    const std::int64_t after = std::max<std::int64_t>(share.reserved + change, 0);
    reserved += Bytes(after) - Bytes(share.reserved);
    share.reserved = static_cast<std::uint32_t>(after);
  }

  /// Subtracts the values `before` of a flow from the bearer's sums, and adds its values `after`. For a new flow
  /// `before` is empty; for a removed one `after` is.
  void change(const FlowShare& before, const FlowShare& after) {
    backlog += Bytes(after.backlog) - Bytes(before.backlog);
    reserved += Bytes(after.reserved) - Bytes(before.reserved);
    exposed += Bytes(after.exposed) - Bytes(before.exposed);
    backlogged_flows += (after.backlog != 0 ? 1U : 0U) - (before.backlog != 0 ? 1U : 0U);
    transferring_flows += (after.transferring ? 1U : 0U) - (before.transferring ? 1U : 0U);
    closed_window_flows += (after.window_closed ? 1U : 0U) - (before.window_closed ? 1U : 0U);
    long_transferring_flows +=
        (after.transferring && !after.short_flow ? 1U : 0U) - (before.transferring && !before.short_flow ? 1U : 0U);
    short_flows += (after.short_flow ? 1U : 0U) - (before.short_flow ? 1U : 0U);
  }
};

}  // namespace sluice::proxy
