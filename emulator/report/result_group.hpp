#pragma once

#include <cstddef>
#include <vector>

#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// The seeds of one point of a scenario, taken together: means of everything but the keys; counters and drops are means
/// too.
struct ResultGroup {
  RunResult mean;  ///< key.seed is the first seed's; its series is the first seed's
  double utilisation_min = 0;
  double utilisation_max = 0;
  std::size_t seeds = 0;
};
/// Groups by everything but the seed, in order of first appearance.
[[nodiscard]] std::vector<ResultGroup> group_by_point(const std::vector<RunResult>& results);

}  // namespace sluice::emulator
