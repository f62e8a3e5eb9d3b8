// Tests of scenarios in real time, which must give the results of virtual time.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/nodeb/both_clocks.hpp"

namespace sluice::emulator {
namespace {

std::string scenario(const std::string& queue) {
  return "duration: 3s\nwarmup: 500ms\nmodes: [none]\nproxy_nodeb: {delay: 5ms}\n"
         "cell:\n  tti: 2ms\n  scheduler: pf\n  harq: {}\n  ues:\n"
         "    - {address: 10.45.0.2, buffer: 1000 frames, queue: " +
         queue +
         ", channel: {type: hsdpa, radio: {distance: 100m}}}\n"
         "    - {address: 10.45.0.3, buffer: 1000 frames, channel: {type: hsdpa, radio: {distance: 200m, speed: "
         "30km/h}}}\n"
         "apps:\n  - {type: bulk, ue: 0}\n"
         "  - {type: on-off, ue: 1, interval: 10ms, sizes: {kind: fixed, min: 1000B}}\n";
}

class RealTime : public testing::TestWithParam<const char*> {};

TEST_P(RealTime, CarriesTheSameAsVirtualTime) {
  const auto [expected, result] = test::run_by_both_clocks(scenario(GetParam()));
  EXPECT_EQ(result.key.clock, "real");
  EXPECT_GT(expected.throughput_bps, 5e5);
  EXPECT_NEAR(result.throughput_bps / expected.throughput_bps, 1, 0.005);
  EXPECT_NEAR(result.utilisation / expected.utilisation, 1, 0.005);
  EXPECT_EQ(result.series.size(), expected.series.size());
  const auto early = [](const RunResult& run) {
    const auto drops = run.counters.find("radio_early_drops");
    return drops == run.counters.end() ? 0.0 : static_cast<double>(drops->second);
  };
  EXPECT_EQ(early(expected) > 0, std::string(GetParam()).find("codel") != std::string::npos);
  EXPECT_NEAR(early(result), early(expected), 1);
}

INSTANTIATE_TEST_SUITE_P(Queues, RealTime,
                         testing::Values("{type: fifo}", "{type: codel, target: 2ms, interval: 20ms}"),
                         [](const auto& queue) { return queue.index == 0 ? "fifo" : "codel"; });

TEST(RealTimeUplink, IsScheduledLikeInVirtualTime) {
  const auto [expected, result] = test::run_by_both_clocks(
      "duration: 2s\nwarmup: 500ms\nmodes: [none]\nproxy_nodeb: {delay: 5ms}\n"
      "cell:\n  uplink: {delay: 0ms, scheduled: {drx: {inactivity: 20ms, cycle: 80ms}}}\n  ues:\n"
      "    - {address: 10.45.0.2, frame: 0B, buffer: 100 packets, channel: {type: constant, rate: 10Mb/s}}\n"
      "    - {address: 10.45.0.3, frame: 0B, buffer: 100 packets, channel: {type: constant, rate: 10Mb/s}}\n"
      "apps:\n  - {type: bulk, ue: 0}\n"
      "  - {type: on-off, ue: 1, interval: 10ms, sizes: {kind: fixed, min: 1000B}}\n");
  EXPECT_NEAR(result.throughput_bps / expected.throughput_bps, 1, 0.005);
  for (const char* counter : {"uplink_requests", "uplink_grants", "uplink_retransmissions", "uplink_delay_p95_us"}) {
    EXPECT_GT(expected.counters.at(counter), 0U) << counter;
    EXPECT_NEAR(static_cast<double>(result.counters.at(counter)) / static_cast<double>(expected.counters.at(counter)),
                1, 0.01)
        << counter;
  }
}

bool buffers_short(std::uint32_t buffers) {
  const auto plan = parse_plan(
      "duration: 1s\nwarmup: 100ms\nmodes: [none]\ncell:\n  ues:\n"
      "    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: constant, rate: 20Mb/s}}\n",
      "live.yaml");
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  packet::PacketPool pool("live", buffers);
  TraceLibrary traces({});
  LiveRun live(plan->runs.front().scenario, RunMode::none, pool, traces);
  live.start();
  while (!live.status().finished) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return live.status().buffers_short;
}

// A window of 4 MiB is twice 2 900 packets.
TEST(RealTimeBuffers, AShortageIsReported) {
  EXPECT_TRUE(buffers_short(1024));
  EXPECT_FALSE(buffers_short(16'384));
}

}  // namespace
}  // namespace sluice::emulator
