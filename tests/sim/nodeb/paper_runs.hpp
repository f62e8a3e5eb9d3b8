#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator::test {

/// The plan of configs/papers/NAME.yaml.
inline Plan paper_plan(const std::string& name) {
  auto plan = load_plan(std::string(SLUICE_SOURCE_DIR) + "/configs/papers/" + name + ".yaml");
  if (!plan) throw std::runtime_error(config::to_string(plan.errors));
  return *plan;
}

/// The results of those runs of the file for which all conditions hold ("mode=smvs", "ue=UE1"), in its order, each for
/// as long as `duration` if that is not zero.
inline std::vector<RunResult> paper_runs(const std::string& name, const std::vector<std::string>& conditions,
                                         Duration duration = {}) {
  static TraceLibrary traces({});  // keeps the profiles
  Plan plan = paper_plan(name);
  std::vector<RunResult> results;
  for (RunPlan& run : plan.runs) {
    bool wanted = true;
    for (const std::string& condition : conditions) wanted = wanted && holds(run, condition);
    if (!wanted) continue;
    if (duration > Duration::zero()) run.scenario.duration = duration;
    results.push_back(run_virtual(run, plan.name, ::sluice::test::pool(), traces));
  }
  if (results.empty()) throw std::runtime_error(name + " has no such run");
  return results;
}

inline RunResult paper_run(const std::string& name, const std::vector<std::string>& conditions,
                           Duration duration = {}) {
  return paper_runs(name, conditions, duration).front();
}

}  // namespace sluice::emulator::test
