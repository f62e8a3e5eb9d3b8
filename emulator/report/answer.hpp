#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/report/ratios.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// First part of an experiment's report: sentences that compare computed numbers, and the columns of the results that
/// contain these numbers.
struct Answer {
  std::vector<std::string> sentences;  ///< sentences, the most important one first; empty without results
  std::vector<std::string> columns;    ///< columns whose numbers occur in `sentences`
};

/// Returns the first part of an experiment's report, its answer. If some runs have the ratio `ratio`, the answer
/// compares these ratios among the modes. Otherwise it compares each mode with a base mode, among runs with equal swept
/// values. The base mode is the one without a proxy, or else the first mode. With a single mode it compares the first
/// and the last value of a sweep, or states the values of the only run.
[[nodiscard]] Answer answer_of(const std::vector<ResultGroup>& groups, const std::optional<RatioSpec>& ratio = {});

}  // namespace sluice::emulator
