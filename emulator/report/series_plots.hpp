#pragma once

#include <string>
#include <vector>

#include "emulator/report/mode_colours.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Link rate, window, queue and delay against time: one column per mode, the axes shared along each row. Of a sweep its
/// first, middle and last point are shown. HTML; empty when no run has a time series.
[[nodiscard]] std::string series_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours);

}  // namespace sluice::emulator
