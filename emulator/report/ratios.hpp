#pragma once

#include <string>
#include <vector>

#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// Selects the runs whose values are divided by the values of a base run.
struct RatioSpec {
  std::string column;           ///< column in which the runs differ: mode or a swept column
  std::string base;             ///< value in `column` of the base runs, by whose results other runs are divided
  std::vector<std::string> of;  ///< columns of the results for which ratios are added
};

/// Adds to every run the ratios of its values to the values of a base run, as further columns (ratio_prefix). The base
/// run differs only in `ratio.column` and in swept columns that depend on it. A run has no ratio if it is a base run
/// itself, or if a value is missing or the base run's value is zero.
void add_ratios(std::vector<RunResult>& results, const RatioSpec& ratio);

}  // namespace sluice::emulator
