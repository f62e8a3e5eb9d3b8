#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "emulator/runtime/live_run.hpp"
#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/support/eal.hpp"

// The same scenario by the clock and in virtual time. The clock only says how far the event loop may go, so that a busy
// machine makes a run late and not different.

namespace sluice::emulator {
namespace {

const std::string scenario =
    "duration: 3s\nwarmup: 500ms\nmodes: [none]\nproxy_nodeb: {delay: 5ms}\n"
    "cell:\n  tti: 2ms\n  scheduler: pf\n  harq: {}\n  ues:\n"
    "    - {address: 10.45.0.2, buffer: 1000 frames, channel: {type: hsdpa, radio: {distance: 100m}}}\n"
    "    - {address: 10.45.0.3, buffer: 1000 frames, channel: {type: hsdpa, radio: {distance: 200m, speed: 30km/h}}}\n"
    "apps:\n  - {type: bulk, ue: 0}\n"
    "  - {type: on-off, ue: 1, interval: 10ms, sizes: {kind: fixed, min: 1000B}}\n";

TEST(RealTime, CarriesWhatVirtualTimeCarries) {
  const auto plan = parse_plan(scenario, "real.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  TraceLibrary traces({});
  const RunResult expected = run_virtual(plan->runs.front(), "real", test::pool(), traces);
  LiveRun live(plan->runs.front().scenario, RunMode::none, test::pool(), traces);
  live.start();
  while (!live.status().finished) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const RunResult result = live.result();
  EXPECT_EQ(result.key.clock, "real");
  EXPECT_GT(expected.throughput_bps, 5e5);
  EXPECT_NEAR(result.throughput_bps / expected.throughput_bps, 1, 0.005);
  EXPECT_NEAR(result.utilisation / expected.utilisation, 1, 0.005);
  EXPECT_EQ(result.series.size(), expected.series.size());
}

}  // namespace
}  // namespace sluice::emulator
