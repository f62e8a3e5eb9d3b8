#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/paper.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/sim/nodeb/run_pool.hpp"

namespace sluice::emulator::test {

/// The plan of configs/papers/NAME.yaml, the very file that ./run experiment runs.
inline Plan paper_plan(const std::string& name) {
  auto plan = load_plan(std::string(SLUICE_SOURCE_DIR) + "/configs/papers/" + name + ".yaml");
  if (!plan) throw std::runtime_error(config::to_string(plan.errors));
  return *plan;
}

/// Returns the results of the runs that match all conditions ("mode=smvs", "ue=UE1"), in the order of the file. Each
/// lasts `duration` if that is not zero, and uses `seed` if given. Every byte is checked.
inline std::vector<RunResult> paper_runs(const std::string& name, const std::vector<std::string>& conditions,
                                         Duration duration = {}, std::optional<std::uint64_t> seed = {}) {
  static TraceLibrary traces({});  // keeps the profiles
  Plan plan = paper_plan(name);
  std::vector<RunResult> results;
  for (RunPlan& run : plan.runs) {
    const auto met = [&](const std::string& condition) { return holds(run, condition); };
    if (!std::all_of(conditions.begin(), conditions.end(), met)) continue;
    if (duration > Duration::zero()) run.scenario.duration = duration;
    run.seed = seed.value_or(run.seed);
    results.push_back(run_virtual(run, plan.name, run_pool(), traces));
    EXPECT_EQ(results.back().counters.at("payload_corrupted"), 0U);
    EXPECT_EQ(results.back().counters.at("connections_failed"), 0U);
  }
  return results;
}

/// Returns the result of the only run that matches.
inline RunResult paper_run(const std::string& name, const std::vector<std::string>& conditions, Duration duration = {},
                           std::optional<std::uint64_t> seed = {}) {
  const std::vector<RunResult> results = paper_runs(name, conditions, duration, seed);
  EXPECT_EQ(results.size(), 1U) << name << " has no such run, or several";
  return results.at(0);
}

}  // namespace sluice::emulator::test
