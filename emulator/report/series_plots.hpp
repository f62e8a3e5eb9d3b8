#pragma once

#include <string>
#include <vector>

#include "emulator/report/mode_colours.hpp"
#include "emulator/report/plot_spec.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Link rate, windows, drops, queues and delay against time, where a run has them: one column per mode, the axes shared
/// along each row. Of a sweep the points that `shown` names, else its first, middle and last. Where nothing was
/// measured a line has a gap. HTML; empty when no run has a time series.
[[nodiscard]] std::string series_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                                       const OverTimeSpec& shown = {});

}  // namespace sluice::emulator
