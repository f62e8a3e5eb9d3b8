#pragma once

#include <string>
#include <vector>

#include "emulator/report/columns.hpp"
#include "emulator/report/mode_colours.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Plots that set modes side by side. Of a sweep: the usual quantities and the columns asked for, along its first
/// column of numbers, with 95 % confidence intervals over the seeds; outlines are what a paper gives. Without a sweep:
/// fetch times, use of the link and the percentiles of the three delays. HTML.
[[nodiscard]] std::string comparison_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                                           const std::vector<ExtraColumn>& extra = {});

}  // namespace sluice::emulator
