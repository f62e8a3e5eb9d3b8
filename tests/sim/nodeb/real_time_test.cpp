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

const std::string two_nodebs =
    "duration: 3s\nwarmup: 500ms\nmodes: [none]\nproxy_nodeb: {delay: 5ms}\noutput: {ues: true}\n"
    "cell:\n  name: west\n  ues:\n"
    "    - {address: 10.45.0.2, frame: 0B, buffer: 200KiB, channel: {type: constant, rate: 8Mb/s}}\n"
    "nodebs: [{name: east}]\n"
    "moves:\n  - {type: handover, at: 1s, nodeb: east}\n  - {type: handover, at: 2s, nodeb: west}\n"
    "apps:\n  - {type: bulk}\n  - {type: bulk, direction: upload}\n";

struct Runs {
  RunResult expected;
  RunResult live;
};

/// In virtual time, and by the clock.
Runs run_both(const std::string& text) {
  const auto plan = parse_plan(text, "real.yaml");
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  TraceLibrary traces({});
  Runs runs{run_virtual(plan->runs.front(), "real", test::pool(), traces), {}};
  LiveRun live(plan->runs.front().scenario, RunMode::none, test::pool(), traces);
  live.start();
  while (!live.status().finished) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  runs.live = live.result();
  return runs;
}

TEST(RealTime, CarriesWhatVirtualTimeCarries) {
  const auto [expected, result] = run_both(scenario);
  EXPECT_EQ(result.key.clock, "real");
  EXPECT_GT(expected.throughput_bps, 5e5);
  EXPECT_NEAR(result.throughput_bps / expected.throughput_bps, 1, 0.005);
  EXPECT_NEAR(result.utilisation / expected.utilisation, 1, 0.005);
  EXPECT_EQ(result.series.size(), expected.series.size());
}

TEST(RealTime, HandsUesOverBetweenNodeBsAsInVirtualTime) {
  const auto [expected, result] = run_both(two_nodebs);
  EXPECT_EQ(result.counters.at("handovers"), 2U);
  EXPECT_GT(result.counters.at("forwarded_packets"), 0U);
  EXPECT_EQ(result.counters.at("end_markers_missed"), 0U);
  EXPECT_EQ(result.counters.at("connections_failed"), 0U);
  EXPECT_NEAR(result.throughput_bps / expected.throughput_bps, 1, 0.005);
  EXPECT_EQ(result.ues.back().nodeb, "west");
}

}  // namespace
}  // namespace sluice::emulator
