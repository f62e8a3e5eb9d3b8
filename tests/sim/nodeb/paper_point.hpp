#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/paper.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator {

/// One point of configs/papers/`name`.yaml, the very file that ./run experiment runs, for `duration`: that for which
/// all of `point` ("mode=wrb/regulate", "buffer_packets=5") holds.
inline RunResult run_paper(const std::string& name, const std::vector<std::string>& point, Duration duration,
                           std::uint64_t seed = 1) {
  auto plan = load_plan(std::string(SLUICE_SOURCE_DIR) + "/configs/papers/" + name + ".yaml");
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  std::vector<RunPlan> runs;
  for (const RunPlan& run : plan->runs) {
    if (std::all_of(point.begin(), point.end(), [&](const std::string& condition) { return holds(run, condition); })) {
      runs.push_back(run);
    }
  }
  EXPECT_EQ(runs.size(), 1U) << name << " has no such point, or several";
  RunPlan& run = runs.at(0);
  run.scenario.duration = duration;
  run.seed = seed;
  TraceLibrary traces({});
  RunResult result = run_virtual(run, plan->name, test::pool(), traces);
  EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
  EXPECT_EQ(result.counters.at("connections_failed"), 0U);
  return result;
}

}  // namespace sluice::emulator
