#pragma once

#include <string>
#include <vector>

#include "emulator/report/mode_colours.hpp"
#include "emulator/report/plot_spec.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Returns the requested plots as HTML, each with its panels and legend; empty if there are none. Along a numeric swept
/// column, the points of a line are joined in the order of x. Along a measured column they are joined in the order of
/// the runs. Along categories they are joined only if PlotSpec::join_categories is set. Error bars are the 95 %
/// confidence interval over the seeds; outlines are a paper's values.
[[nodiscard]] std::string figure_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                                       const std::vector<PlotSpec>& specs);

}  // namespace sluice::emulator
