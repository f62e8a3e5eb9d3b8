#pragma once

#include <string>
#include <vector>

#include "emulator/report/mode_colours.hpp"
#include "emulator/report/plot_spec.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// The plots that a file asks for, each with its panels and its legend. Points of a line are joined in the order of
/// their runs, along a numeric swept column in its own; along categories they are not joined. Bars are the 95 %
/// confidence interval over the seeds, outlines a paper's values. HTML; empty where there is none.
[[nodiscard]] std::string figure_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                                       const std::vector<PlotSpec>& specs);

}  // namespace sluice::emulator
