#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::proxy {

/// What one split connection adds to the load of its bearer, at its last service.
struct FlowShare {
  std::uint32_t backlog = 0;       ///< unsent bytes towards the UE
  std::uint32_t committed = 0;     ///< bytes held and advertised, both ways
  std::uint32_t exposed : 29 = 0;  ///< bytes acknowledged and not delivered, both ways; kept where that is capped
  bool moving : 1 = false;         ///< it has a second loop and data that the UE has not acknowledged
  bool shut : 1 = false;           ///< the server was left without a window: reports decide when it gets one
  bool young : 1 = false;          ///< it has sent less than SmvsMode::short_flow, and is not over

  static constexpr std::uint32_t most_exposed = (1U << 29) - 1;
};
static_assert(sizeof(FlowShare) == 12, "part of each flow");

/// The sums over a bearer's split connections.
struct BearerLoad {
  Bytes backlog{};
  Bytes committed{};
  Bytes exposed{};
  std::uint32_t backlogged_flows = 0;
  std::uint32_t moving_flows = 0;
  std::uint32_t older_moving_flows = 0;  ///< … of these, which are not young: downloads
  std::uint32_t young_flows = 0;
  std::uint32_t shut_flows = 0;

  /// What a connection that goes on has come to; the rest of its share is as it was.
  void update(FlowShare& share, std::uint32_t unsent, std::uint32_t held_and_advertised, bool is_moving) {
    committed += Bytes(held_and_advertised) - Bytes(share.committed);
    share.committed = held_and_advertised;
    if (unsent != share.backlog) {
      backlog += Bytes(unsent) - Bytes(share.backlog);
      backlogged_flows += (unsent != 0 ? 1U : 0U) - (share.backlog != 0 ? 1U : 0U);
      share.backlog = unsent;
    }
    if (is_moving != share.moving) [[unlikely]] {
      const std::uint32_t change = is_moving ? 1U : UINT32_MAX;
      moving_flows += change;
      older_moving_flows += share.young ? 0U : change;
      share.moving = is_moving;
    }
  }

  /// What a connection holds and has advertised has changed by so much, and nothing else of its share.
  void commit(FlowShare& share, std::int64_t change) {
    const std::int64_t after = std::max<std::int64_t>(share.committed + change, 0);
    committed += Bytes(after) - Bytes(share.committed);
    share.committed = static_cast<std::uint32_t>(after);
  }

  /// A connection's share was `before` and is `after` now; one that comes or goes has none.
  void change(const FlowShare& before, const FlowShare& after) {
    backlog += Bytes(after.backlog) - Bytes(before.backlog);
    committed += Bytes(after.committed) - Bytes(before.committed);
    exposed += Bytes(after.exposed) - Bytes(before.exposed);
    backlogged_flows += (after.backlog != 0 ? 1U : 0U) - (before.backlog != 0 ? 1U : 0U);
    moving_flows += (after.moving ? 1U : 0U) - (before.moving ? 1U : 0U);
    shut_flows += (after.shut ? 1U : 0U) - (before.shut ? 1U : 0U);
    older_moving_flows += (after.moving && !after.young ? 1U : 0U) - (before.moving && !before.young ? 1U : 0U);
    young_flows += (after.young ? 1U : 0U) - (before.young ? 1U : 0U);
  }
};

}  // namespace sluice::proxy
