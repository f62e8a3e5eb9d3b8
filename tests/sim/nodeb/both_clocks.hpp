#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "emulator/runtime/live_run.hpp"
#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/sim/nodeb/run_pool.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator::test {

/// Runs one scenario without a proxy, in virtual time and in real time. The clock only limits how far the event loop
/// may go, so a busy machine makes a run late but not different.
struct BothClocks {
  RunResult expected;  ///< in virtual time
  RunResult result;
};

inline BothClocks run_by_both_clocks(const std::string& text) {
  const auto plan = parse_plan(text, "real.yaml");
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  if (!plan) return {};
  TraceLibrary traces({});
  BothClocks both;
  both.expected = run_virtual(plan->runs.front(), "real", run_pool(), traces);
  LiveRun live(plan->runs.front().scenario, RunMode::none, ::sluice::test::pool(), traces);
  live.start();
  while (!live.status().finished) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  both.result = live.result();
  return both;
}

}  // namespace sluice::emulator::test
