#pragma once

#include <optional>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/daemon/status/status_source.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Maximum number of flows on the live page. The same maximum applies to the bearers.
inline constexpr std::uint16_t max_shown = 100;

/// A mode of the proxy, and whether the active configuration allows it.
struct ModeAvailability {
  Mode mode{};
  std::string why_not;  ///< rule that the configuration would break in this mode; empty if the mode is allowed
};
/// Returns every mode with its text, and whether the configuration allows the mode. The command `sluicectl modes` shows
/// the result.
[[nodiscard]] admin::Json to_json(const std::vector<ModeAvailability>& modes);

/// Values that the live page needs and that StatusSource does not contain.
struct LiveContext {
  std::vector<std::optional<Duration>> processor_times;  ///< processor time used by each shard's thread
  /// modes to which the page may switch the proxy, with the reason for a mode that is not allowed; empty if the page
  /// may not switch modes
  std::vector<ModeAvailability> modes;
  Instant now{};
};

/// Returns the JSON object for the live page, from the newest snapshots. `details` is the answer of
/// DetailCollector::both(); if that failed, the object contains its error. Counters are cumulative, because the page
/// computes rates from them. Thread: the control thread.
[[nodiscard]] admin::Json live_view(const StatusSource& status_source, const LiveContext& context,
                                    const admin::Answer& details);

}  // namespace sluice::proxy
