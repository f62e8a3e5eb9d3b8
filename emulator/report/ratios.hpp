#pragma once

#include <string>
#include <vector>

#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// Which runs are to be seen against which others.
struct RatioSpec {
  std::string column;           ///< mode, or swept: in which the runs differ
  std::string base;             ///< what it has in the runs that the others are divided by
  std::vector<std::string> of;  ///< columns of the results
};

/// Adds to every run the ratio of its columns over those of the run that differs from it in `ratio.column` alone, and
/// in swept columns that go with it, as figures (ratio_prefix). A run of the base itself has none, nor has one for
/// which either value is missing or zero.
void add_ratios(std::vector<RunResult>& results, const RatioSpec& ratio);

}  // namespace sluice::emulator
