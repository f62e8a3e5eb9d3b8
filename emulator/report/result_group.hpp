#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// Results of runs that differ in their seed only: the mean of each value and counter over the seeds. The key (mode and
/// swept values) is equal in all of them.
struct ResultGroup {
  /// Mean values over the seeds. The key, the time series and the other lists (UEs, flows, packets, queues, windows,
  /// dropped segments) are those of the first seed.
  RunResult mean;
  double utilisation_min = 0;
  double utilisation_max = 0;
  // Half of the 95 % confidence interval (Student's t over the seeds); 0 with one seed.
  double goodput_ci = 0;
  double utilisation_ci = 0;
  double throughput_ci_bps = 0;
  double radio_p95_ci_ms = 0;
  double server_to_ue_p95_ci_ms = 0;
  /// Half of the width of each column's 95 % confidence interval, by name of the column.
  std::map<std::string, double> ci;
  std::size_t seeds = 0;
};
/// Returns half of the width of the 95 % confidence interval of the mean of `values`; 0 if there are fewer than two.
[[nodiscard]] double confidence_interval(const std::vector<double>& values);
/// Groups the results by everything but the seed, in order of first appearance.
[[nodiscard]] std::vector<ResultGroup> group_by_point(const std::vector<RunResult>& results);

}  // namespace sluice::emulator
