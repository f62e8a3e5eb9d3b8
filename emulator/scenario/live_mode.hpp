#pragma once

#include <optional>
#include <string>

#include "emulator/scenario/scenario.hpp"

// Which mode of the proxy a Node-B in real time serves, and what it needs for that.

namespace sluice::emulator {

/// The mode served where nobody names one: the first of the scenario's, where no port leads to a proxy. Else the first
/// with a proxy that wants reports exactly where `live.feedback` says whom to send them to, or the first with a proxy:
/// hosts behind real ports are not cut off by a mode that passes the proxy by.
[[nodiscard]] RunMode live_mode(const Scenario& scenario);

/// Something in a scenario that a mode cannot do without in real time.
struct LiveProblem {
  std::string key;       ///< dotted path: live.feedback
  std::string expected;  ///< what it should have
  std::string got;
};

/// What is missing for that mode in real time; nothing where it can be served.
[[nodiscard]] std::optional<LiveProblem> live_problem(const Scenario& scenario, RunMode mode);

/// The feedback of Node-B number `nodeb`.
[[nodiscard]] const std::optional<config::FeedbackConfig>& live_feedback_of(const Scenario& scenario,
                                                                            std::uint32_t nodeb);

/// Says in a sentence which mode is served, with reports or without.
[[nodiscard]] std::string live_summary(const Scenario& scenario, RunMode mode);

}  // namespace sluice::emulator
