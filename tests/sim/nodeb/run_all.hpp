#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/sim/nodeb/run_pool.hpp"

namespace sluice::emulator::test {

/// Runs everything that a scenario plans, in its order.
inline std::vector<RunResult> run_all(const std::string& text, unsigned seeds = 1) {
  auto plan = parse_plan(text, "test.yaml", seeds);
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  TraceLibrary traces({});
  std::vector<RunResult> results;
  if (!plan) return results;
  for (const RunPlan& run : plan->runs) {
    results.push_back(run_virtual(run, plan->name, run_pool(), traces));
    EXPECT_EQ(run_pool().in_use(), 0U) << "buffers were left behind";
  }
  return results;
}

}  // namespace sluice::emulator::test
