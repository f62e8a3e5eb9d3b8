#pragma once

#include <optional>
#include <string>

#include "emulator/scenario/scenario.hpp"

// Selects the proxy mode that a Node-B in real time serves, and checks that the scenario configures what it needs.

namespace sluice::emulator {

/// Returns the default mode in real time. Without a port towards a proxy this is the scenario's first mode. Otherwise
/// it is the first mode with a proxy that needs reports if `live.feedback` is set, and needs none if it is not set. If
/// no mode fits it is the first mode with a proxy. A mode without the proxy would disconnect the hosts at the real
/// ports.
[[nodiscard]] RunMode live_mode(const Scenario& scenario);

/// A configuration key that a mode requires in real time and that is missing or wrong.
struct LiveProblem {
  std::string key;       ///< dotted path, such as live.feedback
  std::string expected;  ///< required value
  std::string got;
};

/// Returns the first requirement of `mode` in real time that the scenario does not meet, or nothing if it meets all.
[[nodiscard]] std::optional<LiveProblem> live_problem(const Scenario& scenario, RunMode mode);

/// Returns the feedback section of Node-B number `nodeb`; number 0 is configured under `live`.
[[nodiscard]] const std::optional<config::FeedbackConfig>& live_feedback_of(const Scenario& scenario,
                                                                            std::uint32_t nodeb);

/// Returns one sentence for the log: the mode, and where reports are sent and how often, if they are.
[[nodiscard]] std::string live_summary(const Scenario& scenario, RunMode mode);

}  // namespace sluice::emulator
