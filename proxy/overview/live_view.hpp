#pragma once

#include <optional>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/admin/command.hpp"
#include "proxy/overview/overview.hpp"

namespace sluice::proxy {

/// What the live page shows of the flows and bearers of all shards, at most.
inline constexpr std::uint16_t most_shown = 100;

/// What the page shows and the overview does not know.
struct LiveContext {
  std::vector<std::optional<Duration>> processor_times;  ///< of each shard's thread
  bool switch_modes = false;                             ///< the page may
  Instant now{};
};

/// All that the live page shows, from the newest snapshots. `details` is what DetailCollector::both() came to: where it
/// failed, the page says so beside the rest. Counters are cumulative: the page computes the rates. Thread: the control
/// thread.
[[nodiscard]] admin::Json live_view(const Overview& overview, const LiveContext& context, const admin::Answer& details);

}  // namespace sluice::proxy
