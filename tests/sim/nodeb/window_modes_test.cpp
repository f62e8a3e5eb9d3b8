// Every mode that gives each flow a window, split, in virtual time: it carries the data, and its law's promise holds.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/sim/nodeb/run_pool.hpp"

namespace sluice::emulator {
namespace {

RunResult run(const std::string& text) {
  auto plan = parse_plan(text, "test.yaml", 1);
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  TraceLibrary traces({});
  const RunResult result = run_virtual(plan->runs.front(), plan->name, test::run_pool(), traces);
  EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
  EXPECT_EQ(result.counters.at("connections_failed"), 0U);
  return result;
}

/// Returns a scenario of a UE behind a buffer with `flows` endless downloads.
std::string cell(const std::string& mode, int flows, const std::string& channel, const std::string& buffer,
                 const std::string& more = {}) {
  return "duration: 20s\nwarmup: 6s\nmodes: [" + mode + "]\nserver_proxy: {delay: 10ms}\n" + more +
         "cell:\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: " + buffer + ", channel: " + channel +
         "}\napps: [{type: bulk, connections: " + std::to_string(flows) + "}]\n";
}

const std::string steady = "{type: constant, rate: 8Mb/s}";
const std::string varying = "{type: piecewise, min: 1Mb/s, max: 12Mb/s, period: 300ms}";

TEST(WindowModes, EveryModeFillsASteadyLink) {
  for (const char* mode : {"clamp", "wrs", "wrd", "wrb", "gwa-rr", "gwa-fcfs", "fair-share"}) {
    for (const int flows : {1, 4}) {
      SCOPED_TRACE(std::string(mode) + ", flows: " + std::to_string(flows));
      const RunResult result = run(cell(mode, flows, steady, "100KiB"));
      EXPECT_GT(result.utilisation, 0.97);
      EXPECT_EQ(result.drops, 0U);
    }
  }
}

TEST(WindowModes, NoModeOverflowsTheBufferOfAVaryingLink) {
  for (const char* mode : {"wrs", "wrd", "wrb", "gwa-rr", "gwa-fcfs", "ba", "fair-share"}) {
    for (const int flows : {1, 3}) {
      SCOPED_TRACE(std::string(mode) + ", flows: " + std::to_string(flows));
      const RunResult result = run(cell(mode, flows, varying, "60KiB"));
      EXPECT_GT(result.utilisation, 0.7);
      // The position of a flow's bytes in the queue is known to within a packet, and the flows learn of each other
      // after some time. The modes wrd and wrb fill what the others leave free, see below.
      const bool dynamic = std::string_view(mode).starts_with("wr") && std::string_view(mode) != "wrs";
      EXPECT_LE(result.drops, dynamic ? 7U : 2U);
    }
  }
}

/// The modes wrd and wrb allow all of B in the queue and in flight to it. While the link is fast, a large part is in
/// flight. That hides that each flow's position in the queue is exact only to a packet. When the rate falls, all of it
/// meets in the queue, and three flows may have a packet or two too many. So all losses must follow a fall of the rate
/// to less than half.
TEST(WindowModes, TheDynamicRegulatorLosesPacketsOnlyAfterAFallOfTheRate) {
  for (const char* mode : {"wrd", "wrb"}) {
    SCOPED_TRACE(mode);
    const RunResult result = run(cell(mode, 3, varying, "60KiB", "interval: 10ms\n"));
    constexpr std::size_t just_now = 12;
    double fell_to = 0;
    std::size_t fell_at = 0;
    for (std::size_t i = 1; i < result.series.size(); ++i) {
      const SeriesPoint& point = result.series[i];
      if (point.link_rate_bps < 0.5 * result.series[i - 1].link_rate_bps) {
        fell_at = i;
        fell_to = point.link_rate_bps;
      }
      if (point.time_s < 6 || point.drops == 0) continue;
      EXPECT_LE(i - fell_at, just_now) << "lost at " << point.time_s << " s";
      EXPECT_LE(point.drops, 2U);
      EXPECT_GT(fell_to, 0);
    }
  }
}

/// A buffer holds packets, a window counts payload: with packets of 300 bytes a sixth of the buffer goes to headers.
TEST(WindowModes, ARegulatedWindowReservesSpaceForHeaders) {
  const std::string small_packets =
      "proxy_nodeb: {delay: 0ms}\nhosts: {mtu: 300}\nsmvs: {parameters: {step: 1ms, delta: 900}}\n";
  for (const char* mode : {"wrd/regulate", "wrb/regulate", "gwa-fcfs/regulate"}) {
    SCOPED_TRACE(mode);
    const RunResult result = run(cell(mode, 2, "{type: constant, rate: 4Mb/s}", "40kB", small_packets));
    EXPECT_GT(result.utilisation, 0.98);
    EXPECT_LE(result.drops, 2U);  // 139 of wrb where headers were not counted
  }
}

/// Theorem 1: k flows hold a queue of k·τ + a, whatever the link.
TEST(WindowModes, ClampHoldsTheQueueOfItsTheorem) {
  for (const int flows : {1, 2, 3}) {
    SCOPED_TRACE("flows: " + std::to_string(flows));
    const RunResult result = run(cell("clamp", flows, "{type: constant, rate: 10Mb/s}", "unlimited",
                                      "clamp_price: {target: 15500B}\nclamp: {gain: 1500B}\ninterval: 50ms\n"));
    double queue = 0;
    int points = 0;
    for (const SeriesPoint& point : result.series) {
      if (point.time_s < 8) continue;
      queue += point.queue_bytes;
      ++points;
    }
    EXPECT_NEAR(queue / points, 15500 + 1500 * flows, 0.1 * (15500 + 1500 * flows));
  }
}

TEST(WindowModes, BandwidthAwareLeavesTheQueueNearlyEmpty) {
  const RunResult result = run(cell("ba", 2, steady, "100KiB"));
  EXPECT_GT(result.utilisation, 0.85);
  EXPECT_LT(result.radio_queue_delay.p95_ms, 20);
}

/// The dynamic window is the buffer and what is on the air, so the queue fills the buffer and no more; the static one
/// counts what is on the air against the buffer.
TEST(WindowModes, TheDynamicRegulatorUsesTheBufferThatTheStaticOneLeaves) {
  const RunResult fixed = run(cell("wrs", 1, steady, "40KiB"));
  const RunResult dynamic = run(cell("wrd", 1, steady, "40KiB"));
  EXPECT_EQ(fixed.drops, 0U);
  EXPECT_EQ(dynamic.drops, 0U);
  EXPECT_GT(dynamic.radio_queue_delay.p50_ms, fixed.radio_queue_delay.p50_ms + 5);
  EXPECT_LE(dynamic.radio_queue_delay.p95_ms, 8.0 * 40 * 1024 / 8e6 * 1000 + 2);
}

/// Reports that stay away leave ordinary congestion control.
TEST(WindowModes, WithoutReportsModesBehaveLikeOrdinaryTcp) {
  for (const char* mode : {"clamp", "wrd", "gwa-fcfs", "fair-share"}) {
    SCOPED_TRACE(mode);
    const RunResult result = run(cell(mode, 2, steady, "100KiB", "reports: {loss: 1}\n"));
    EXPECT_GT(result.utilisation, 0.95);
  }
}

/// Queueing here lasts far longer than the shortest retransmission timeout, and blocks get lost on the air.
TEST(WindowModes, ASlowLossyLinkIsUsedAsOrdinaryTcpUsesIt) {
  const std::string channel = "{type: hsdpa, radio: {distance: 300m}}";
  const double ordinary = run(cell("i-tcp", 2, channel, "100KiB")).throughput_bps;
  for (const char* mode : {"clamp", "wrs", "wrd", "wrb", "gwa-rr", "gwa-fcfs", "ba", "fair-share"}) {
    SCOPED_TRACE(mode);
    EXPECT_GT(run(cell(mode, 2, channel, "100KiB")).throughput_bps, 0.8 * ordinary);
  }
}

}  // namespace
}  // namespace sluice::emulator
