#pragma once

#include <vector>

#include "dataplane/units/time.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// Adds columns on web pages, video, games and responsiveness to the results. `game_up` is the log of the datagrams
/// that players sent.
void add_user_figures(RunResult& result, const FlowLog& log, const DatagramLog& game_up);

/// Returns the mean of `times` without the longest 5 % of them, as draft-ietf-ippm-responsiveness defines it; 0 if
/// there are none.
[[nodiscard]] Duration trimmed_mean(std::vector<Duration> times);

}  // namespace sluice::emulator
