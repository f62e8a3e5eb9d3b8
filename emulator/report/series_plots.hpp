#pragma once

#include <string>
#include <vector>

#include "emulator/report/mode_colours.hpp"
#include "emulator/report/plot_spec.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Returns HTML plots of link rate, congestion and receive windows, drops, queues and delay against time, one column
/// per mode. Axes are shared along each row. If values are swept, the combinations that `shown` selects are plotted. By
/// default these are the first, the middle and the last one. A line has a gap where nothing was measured. Empty if no
/// run has a time series.
[[nodiscard]] std::string series_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                                       const OverTimeSpec& shown = {});

}  // namespace sluice::emulator
