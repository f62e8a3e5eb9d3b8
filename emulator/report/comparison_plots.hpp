#pragma once

#include <string>
#include <vector>

#include "emulator/report/columns.hpp"
#include "emulator/report/mode_colours.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Plots that set modes side by side: against the swept quantity where there is a sweep, else the percentiles of the
/// three delays beside the use of the link. Of a sweep also the columns asked for, dashed what a paper gives for them.
/// HTML.
[[nodiscard]] std::string comparison_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                                           const std::vector<ExtraColumn>& extra = {});

/// One coloured entry per mode.
[[nodiscard]] std::string mode_legend(const ModeColours& colours);

}  // namespace sluice::emulator
