#pragma once

#include <optional>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/daemon/status/status_source.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Maximum number of flows, and also of bearers, that the live page shows.
inline constexpr std::uint16_t max_shown = 100;

/// Mode of the proxy, and whether the active configuration allows it.
struct ModeOffer {
  Mode mode{};
  std::string why_not;  ///< rule that the mode would break; empty if the configuration allows the mode
};
/// Returns every mode with its text, and whether the configuration allows it: the answer to `sluicectl modes`.
[[nodiscard]] admin::Json to_json(const std::vector<ModeOffer>& modes);

/// Values for the live page that StatusSource does not have.
struct LiveContext {
  std::vector<std::optional<Duration>> processor_times;  ///< processor time used by each shard's thread
  std::vector<ModeOffer> modes;  ///< modes that the page may switch to, with the reason for each that is not allowed;
                                 ///< empty if it must not switch
  Instant now{};
};

/// Returns the JSON object for the live page, from the newest snapshots. `details` is the result of
/// DetailCollector::both(); if it failed, the object contains the error. Counters are cumulative, and the page
/// computes the rates. Thread: the control thread.
[[nodiscard]] admin::Json live_view(const StatusSource& status_source, const LiveContext& context,
                                    const admin::Answer& details);

}  // namespace sluice::proxy
