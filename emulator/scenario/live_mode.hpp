#pragma once

#include <optional>
#include <string>

#include "emulator/scenario/scenario.hpp"

// Selects the proxy mode that a Node-B in real time serves, and checks that the scenario configures what it needs.

namespace sluice::emulator {

/// Returns the default mode in real time. Without a port towards a proxy this is the scenario's first mode. Otherwise
/// it is the first mode with a proxy that fits `live.feedback`. If `live.feedback` is set, the mode must need reports;
/// if not, it must need none. If no mode fits, the result is the first mode with a proxy, or mode none if there is no
/// such mode. A mode without the proxy would disconnect the hosts at the real ports.
[[nodiscard]] RunMode live_mode(const Scenario& scenario);

/// A configuration key that is missing or wrong, although a mode requires it in real time.
struct LiveProblem {
  std::string key;       ///< dotted path of the missing or wrong key, such as live.feedback
  std::string expected;  ///< required value
  std::string got;
};

/// Returns the first requirement of `mode` in real time that the scenario does not meet; nothing if it meets all of
/// them.
[[nodiscard]] std::optional<LiveProblem> live_problem(const Scenario& scenario, RunMode mode);

/// Returns the feedback section of Node-B number `nodeb`; number 0 is configured under `live`.
[[nodiscard]] const std::optional<config::FeedbackConfig>& live_feedback_of(const Scenario& scenario,
                                                                            std::uint32_t nodeb);

/// Returns one sentence for the log that names the mode. If reports are sent, it also states the destination and the
/// period.
[[nodiscard]] std::string live_summary(const Scenario& scenario, RunMode mode);

}  // namespace sluice::emulator
