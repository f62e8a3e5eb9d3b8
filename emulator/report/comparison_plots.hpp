#pragma once

#include <string>
#include <vector>

#include "emulator/report/columns.hpp"
#include "emulator/report/mode_colours.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Returns HTML plots that compare the groups (runs that differ only in the seed). For a sweep, the x axis is the first
/// numeric swept column. The plots show goodput, link use, delays, queue, throughput and drops, and the columns
/// `extra`. Plots of the columns `leading` come first. If there are many plots, the others are shown on request. Error
/// bars are 95 % confidence intervals over the seeds; outlines are a paper's values. Without a sweep the plots show
/// fetch times, link use and the percentiles of three delays.
[[nodiscard]] std::string comparison_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                                           const std::vector<ExtraColumn>& extra = {},
                                           const std::vector<std::string>& leading = {});

}  // namespace sluice::emulator
