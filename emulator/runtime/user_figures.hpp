#pragma once

#include <vector>

#include "dataplane/units/time.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// Adds what the run was to those who read, watched, played and probed. `game_up`: the datagrams that players sent.
void add_user_figures(RunResult& result, const FlowLog& log, const DatagramLog& game_up);

/// Mean of all but the longest twentieth: the trimmed mean of draft-ietf-ippm-responsiveness. Zero when there are none.
[[nodiscard]] Duration trimmed_mean(std::vector<Duration> times);

}  // namespace sluice::emulator
