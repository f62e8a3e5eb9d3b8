// Tests of whole runs in virtual time: every mode, the figures of a run, and reproducibility.
#include "emulator/runtime/virtual_run.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "emulator/report/html_report.hpp"
#include "emulator/report/results_csv.hpp"
#include "emulator/runtime/experiment.hpp"
#include "emulator/runtime/figures.hpp"
#include "emulator/runtime/user_figures.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;
using namespace std::chrono_literals;

std::string link(const std::string& channel, const std::string& rest) {
  return "duration: 12s\nwarmup: 2s\n" + rest +
         "cell:\n  ues:\n    - address: 10.45.0.2\n      frame: 0B\n      buffer: 150KiB\n      channel: " + channel +
         "\n";
}

const std::string steady = "{type: constant, rate: 8Mb/s}";
const std::string varying = "{type: piecewise, min: 1Mb/s, max: 12Mb/s, period: 300ms}";

TEST(VirtualRun, EveryModeFillsASteadyLink) {
  for (const RunResult& result : run_all(link(steady, "modes: [none, bypass, i-tcp, smvs]\n"))) {
    SCOPED_TRACE(result.key.mode);
    EXPECT_GT(result.utilisation, 0.97);
    EXPECT_LE(result.utilisation, 1.0);
    // Bytes in order: what waited behind a hole at the window's start counts when the hole is filled, so above is
    // possible.
    EXPECT_GT(result.throughput_bps, 0.97 * 8e6 * result.utilisation * 1448 / 1500);
    EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
    EXPECT_EQ(result.counters.at("connections_failed"), 0U);
    EXPECT_EQ(result.counters.at("segments_unmatched"), 0U);
    EXPECT_EQ(result.series.size(), 120U);
  }
}

// Frames of 40 bytes, which HSDPA alone has, would take 20 of 1 520 bytes.
TEST(VirtualRun, AConstantLinkCarriesItsRateInPackets) {
  const RunResult result =
      run_all(
          "duration: 12s\nwarmup: 2s\nmodes: [none]\ncell:\n  ues:\n"
          "    - {address: 10.45.0.2, buffer: unlimited, channel: {type: constant, rate: 6Mb/s}}\n")
          .at(0);
  EXPECT_NEAR(result.throughput_bps, 6e6 * 1448 / 1500, 0.001 * 6e6);
  EXPECT_NEAR(result.goodput, 1, 0.001);
}

TEST(VirtualRun, LongPacketsFitIntoTheBuffersOfAnExperiment) {
  const auto plan = parse_plan(link(steady, "modes: [i-tcp]\nhosts: {mtu: 9000}\nbuffers: 2048\n"), "test.yaml", 1);
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  TraceLibrary traces({});
  const std::atomic<bool> stop{false};
  const ExperimentOutcome outcome = run_experiment(
      *plan, traces, 1, [](const ExperimentProgress&) {}, stop);
  const RunResult& result = outcome.results.at(0);
  EXPECT_GT(result.throughput_bps, 0.97 * 8e6 * result.utilisation * 8948 / 9000);
  EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
}

// A hole that is filled just after the warm-up brings bytes that the radio had carried before it.
TEST(VirtualRun, GoodputNeverExceedsTheCapacity) {
  for (const std::string& channel : {steady, varying}) {
    for (const RunResult& result : run_all(link(channel, "modes: [none, i-tcp, smvs]\n"))) {
      SCOPED_TRACE(channel + " " + result.key.mode);
      EXPECT_LE(result.goodput, 1.0);
      // Repetitions take less than 1 % here.
      EXPECT_NEAR(result.goodput, result.utilisation, 0.01);
    }
  }
}

TEST(VirtualRun, DatagramsCountAsThroughputAndGoodput) {
  const std::string apps = "modes: [none]\napps: [{type: game, tick: 1ms, down: 1000B, up: 24B}]\n";
  const std::vector<RunResult> results = run_all(link("{type: constant, rate: 20Mb/s}", apps));
  const RunResult& result = results.at(0);
  EXPECT_NEAR(result.throughput_bps, 8e6, 0.01 * 8e6);
  EXPECT_NEAR(result.goodput, 8e6 * 1500 / 1472 / 20e6, 0.005) << "what packets of the MTU would take";
  EXPECT_NEAR(result.utilisation, 8e6 * 1028 / 1000 / 20e6, 0.005);
  EXPECT_NEAR(result.series.back().throughput_bps, 8e6, 0.02 * 8e6);
}

TEST(VirtualRun, EverySeedHasItsOwnSeriesUesAndPackets) {
  const auto plan = parse_plan(link(steady, "modes: [none]\noutput: {ues: true, packets: true}\n"), "test.yaml", 2);
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  TraceLibrary traces({});
  const std::atomic<bool> stop{false};
  const ExperimentOutcome outcome = run_experiment(
      *plan, traces, 1, [](const ExperimentProgress&) {}, stop);
  ASSERT_EQ(outcome.results.size(), 2U);
  for (const RunResult& result : outcome.results) {
    EXPECT_EQ(result.series.size(), 120U) << result.key.seed;
    EXPECT_EQ(result.ues.size(), 120U) << result.key.seed;
    EXPECT_FALSE(result.packets.empty()) << result.key.seed;
  }
}

/// Returns a cell of `ues` UEs with a varying link and two endless downloads each.
std::string cell_of(int ues, const std::string& scheduler) {
  std::string apps = "apps:\n";
  std::string cell = "cell:\n  scheduler: " + scheduler + "\n  ues:\n";
  for (int i = 0; i < ues; ++i) {
    apps += "  - {type: bulk, ue: " + std::to_string(i) + ", connections: 2}\n";
    cell += "    - address: 10.45.0." + std::to_string(2 + i) +
            "\n      frame: 0B\n      buffer: 600KiB\n      channel: " + varying + "\n";
  }
  return "duration: 12s\nwarmup: 2s\nmodes: [none]\n" + apps + cell;
}

TEST(VirtualRun, WritesWindowsAndDropsIfConfigured) {
  const std::string slow = link("{type: constant, rate: 2Mb/s}",
                                "modes: [none]\nhosts: {tcp: {congestion: newreno}}\n"
                                "interval: 100ms\noutput: {windows: [0], drops: true}\n");
  const RunResult run = run_all(slow).at(0);
  EXPECT_EQ(run.windows.size(), 120U) << "one connection, one row each interval";
  for (const WindowRow& row : run.windows) {
    EXPECT_LE(row.in_flight_bytes, row.congestion_bytes + 4 * 1448);
    EXPECT_GT(row.advertised_bytes, 0);
  }
  ASSERT_GT(run.dropped.size(), 0U);
  EXPECT_GE(run.dropped.size(), run.drops) << "those of the warm-up, too";
  for (const DropRow& row : run.dropped) {
    EXPECT_EQ(row.reason, "full");
    EXPECT_GT(row.sequence_bytes, 0);
    EXPECT_LT(row.sequence_bytes, 2e6 / 8 * row.time_s + 400'000) << "what the link carried by then, and a window";
  }
  EXPECT_TRUE(run_all(link(steady, "modes: [none]\n")).at(0).windows.empty());
  EXPECT_EQ(run.figures.at("congestion_limits"), 1) << "the receiver has room for more than the link's buffer";
  EXPECT_EQ(run.figures.at("lone_timeouts"), 0);
  EXPECT_GE(run.figures.at("drops_per_event"), 1);
}

TEST(VirtualRun, CountsTimeoutsWithoutABurstOfLosses) {
  const std::string pausing = link("{type: constant, rate: 2Mb/s}",
                                   "modes: [none]\nhosts: {receive_buffer: 20kB, tcp: {congestion: newreno}}\n"
                                   "interval: 100ms\noutput: {windows: [0], drops: true, flows: true}\n"
                                   "moves: [{type: outage, at: 6s, ue: 0, duration: 3s}]\n");
  const RunResult run = run_all(pausing).at(0);
  EXPECT_EQ(run.drops, 0U) << "the window is less than the buffer";
  EXPECT_GE(run.figures.at("lone_timeouts"), 1);
  EXPECT_EQ(run.figures.at("flow_1_timeouts"), run.figures.at("lone_timeouts"));
  EXPECT_GT(run.figures.at("congestion_limits"), 0) << "after the timeouts";
  EXPECT_LT(run.figures.at("congestion_limits"), 0.5);
}

TEST(VirtualRun, ARouterHasItsQueueInTheSeries) {
  const std::string routed =
      link("{type: constant, rate: 50Mb/s}",
           "modes: [none]\nserver_proxy: {delay: 5ms, rate: 2Mb/s, buffer: 30kB, queue: {type: fifo}}\n");
  double most = 0;
  const RunResult run = run_all(routed).at(0);
  for (const SeriesPoint& point : run.series) {
    ASSERT_TRUE(point.router_queue_bytes);
    most = std::max(most, *point.router_queue_bytes);
  }
  EXPECT_GT(most, 20e3);
  EXPECT_LE(most, 30e3);
}

TEST(VirtualRun, AnIdleIntervalHasNoDelay) {
  const std::string idle = link(steady, "modes: [none]\napps: [{type: bulk, start: 5s}]\n");
  const std::vector<SeriesPoint> series = run_all(idle).at(0).series;
  EXPECT_FALSE(series.at(10).radio_queue_delay_ms);
  EXPECT_FALSE(series.at(10).server_to_ue_delay_ms);
  EXPECT_TRUE(series.at(80).server_to_ue_delay_ms);
}

TEST(VirtualRun, ASaturatedCellHasAUtilisationOfOne) {
  for (const char* scheduler : {"rr", "pf"}) {
    for (const int ues : {2, 4}) {
      SCOPED_TRACE(std::string(scheduler) + " " + std::to_string(ues));
      const RunResult result = run_all(cell_of(ues, scheduler)).front();
      EXPECT_GT(result.utilisation, 0.99);
      EXPECT_LE(result.utilisation, 1.0);
      double offered = 0;
      double used = 0;
      for (const SeriesPoint& point : result.series) {
        if (point.time_s <= 2) continue;
        offered += point.link_rate_bps;
        used += point.link_used_bps;
      }
      EXPECT_NEAR(used / offered, result.utilisation, 0.01) << "the series tells the same";
    }
  }
}

TEST(VirtualRun, AirtimesOfUesThatShareResourceBlocksAddUpToOne) {
  const RunResult result =
      run_all(cell_of(2, "rr\n  resource_blocks: 10\n  users_per_tti: 2") + "output: {ues: true}\n").front();
  double sum = 0;
  std::size_t points = 0;
  for (const UePoint& point : result.ues) {
    if (point.time_s <= 2) continue;
    sum += point.airtime;
    ++points;
  }
  EXPECT_NEAR(sum / static_cast<double>(points), 0.5, 0.01);
}

FlowRecord flow_of(Duration time, std::uint64_t bytes, tcp::CloseReason reason) {
  FlowRecord flow;
  flow.application = "flows";
  flow.opened = Instant(1s);
  flow.finished = flow.opened + time;
  flow.bytes = bytes;
  flow.reason = reason;
  return flow;
}

TEST(VirtualRun, FlowsThatFailedHaveNoFetchTime) {
  FlowLog log;
  log.flows = {
      flow_of(100ms, 10'000, tcp::CloseReason::finished),    flow_of(300ms, 10'000, tcp::CloseReason::finished),
      flow_of(10ms, 5'000, tcp::CloseReason::reset_by_peer), flow_of(60s, 0, tcp::CloseReason::timed_out),
      flow_of(20ms, 0, tcp::CloseReason::refused),           flow_of(5s, 9'000, tcp::CloseReason::none)};
  RunResult result;
  add_fetch_figures(result, log, Instant(1s), nullptr);
  EXPECT_EQ(result.figures, (std::map<std::string, double>{{"short_fetch_ms", 200}}));
}

TEST(VirtualRun, TheDelayOfALongerPathIsLarger) {
  for (const RunResult& result : run_all(link(varying, "modes: [none, i-tcp, smvs]\n"))) {
    SCOPED_TRACE(result.key.mode);
    EXPECT_GT(result.radio_queue_delay.count, 1000U);
    EXPECT_LE(result.radio_queue_delay.p50_ms, result.proxy_to_ue_delay.p50_ms + 0.1);
    EXPECT_LE(result.proxy_to_ue_delay.p50_ms, result.server_to_ue_delay.p50_ms + 0.1);
    if (result.key.mode == "none") {
      EXPECT_NEAR(result.proxy_to_ue_delay.p50_ms, result.server_to_ue_delay.p50_ms, 0.2)
          << "the wire in the middle holds nothing";
    }
  }
}

TEST(VirtualRun, BypassEqualsNoProxy) {
  const auto results = run_all(link(varying, "modes: [none, bypass]\n"));
  EXPECT_NEAR(results[0].utilisation, results[1].utilisation, 0.005);
  EXPECT_NEAR(results[0].radio_queue_delay.p95_ms, results[1].radio_queue_delay.p95_ms,
              0.02 * results[0].radio_queue_delay.p95_ms);
}

TEST(VirtualRun, SmvsLimitsTheQueueThatOthersFill) {
  const auto results = run_all(link(varying, "modes: [i-tcp, smvs]\n"));
  EXPECT_LT(results[1].radio_queue_delay.p95_ms, 0.5 * results[0].radio_queue_delay.p95_ms);
  EXPECT_EQ(results[1].drops, 0U);
  EXPECT_GT(results[0].drops, 0U);
  EXPECT_TRUE(results[1].series.back().allowance_bps.has_value());
  EXPECT_TRUE(results[1].series.back().reference_bytes.has_value());
  EXPECT_FALSE(results[0].series.back().allowance_bps.has_value());
}

TEST(VirtualRun, TheControllerMayRunAtTheProxy) {
  const auto results = run_all(link(steady, "modes: [smvs]\nsmvs: {law: proxy}\n"));
  EXPECT_GT(results[0].utilisation, 0.9);
  EXPECT_LT(results[0].radio_queue_delay.p95_ms, 80);
}

TEST(VirtualRun, LostReportsDoNotStopTheFlow) {
  const auto results = run_all(link(steady, "modes: [smvs]\nreports: {loss: 0.2}\n"));
  EXPECT_GT(results[0].counters.at("feedback_lost"), 0U);
  EXPECT_GT(results[0].utilisation, 0.8);
}

TEST(VirtualRun, TheSameSeedGivesTheSameBytes) {
  const std::string text = link("{type: generated, model: {mean: 5Mb/s, length: 12s}}",
                                "modes: [none, i-tcp, smvs]\napps:\n  - {type: bulk}\n  - {type: web, start: 500ms}\n");
  const auto bytes = [&] {
    const auto results = run_all(text, 2);
    return format_csv(results_table(results)) + format_csv(series_table(results)) + html_report({"t", ""}, results);
  };
  const std::string first = bytes();
  EXPECT_EQ(first, bytes());
}

TEST(VirtualRun, AnotherSeedGivesAnotherLink) {
  const auto results = run_all(link(varying, "modes: [none]\n"), 2);
  EXPECT_NE(results[0].throughput_bps, results[1].throughput_bps);
}

TEST(VirtualRun, SeveralUesShareTheCell) {
  const auto results = run_all(R"(duration: 10s
warmup: 2s
modes: [none, smvs]
cell:
  scheduler: rr
  ues:
    - {address: 10.45.0.2, frame: 0B, buffer: 100KiB, channel: {type: constant, rate: 10Mb/s}}
    - {address: 10.45.0.3, frame: 0B, buffer: 100KiB, channel: {type: constant, rate: 10Mb/s}}
apps:
  - {type: bulk, ue: 0}
  - {type: bulk, ue: 1}
)");
  for (const RunResult& result : results) {
    SCOPED_TRACE(result.key.mode);
    EXPECT_GT(result.utilisation, 0.95);
    EXPECT_LE(result.utilisation, 1.0);
    EXPECT_GT(result.jain, 0.95);
  }
}

TEST(VirtualRun, ModesWorkOverIpv6) {
  const auto results = run_all(R"(duration: 5s
warmup: 1s
modes: [i-tcp, smvs]
servers: [2001:db8::1]
cell:
  ues: [{address: 2001:db8:45::2, frame: 0B, buffer: 100KiB, channel: {type: constant, rate: 10Mb/s}}]
)");
  for (const RunResult& result : results) EXPECT_GT(result.utilisation, 0.9) << result.key.mode;
}

TEST(VirtualRun, UploadsWork) {
  const auto results = run_all(R"(duration: 8s
warmup: 1s
modes: [none, i-tcp, smvs]
cell:
  ues: [{address: 10.45.0.2, frame: 0B, buffer: 100KiB, channel: {type: constant, rate: 10Mb/s}}]
  uplink: {delay: 10ms, rate: 4Mb/s, buffer: 64KiB}
apps: [{type: bulk, direction: upload, size: 2MB}]
)");
  for (const RunResult& result : results) {
    EXPECT_EQ(result.counters.at("connections_failed"), 0U) << result.key.mode;
    EXPECT_EQ(result.counters.at("payload_corrupted"), 0U) << result.key.mode;
  }
}

TEST(VirtualRun, ReportsQualityOfExperience) {
  const std::string users =
      "modes: [none, smvs]\nsmvs: {law: acks}\napps:\n  - {type: web}\n  - {type: video}\n  - {type: game}\n"
      "  - {type: responsiveness}\n  - {type: bulk, direction: upload}\n";
  for (const RunResult& result : run_all(link(steady, users))) {
    SCOPED_TRACE(result.key.mode);
    const auto& figures = result.figures;
    for (const char* name : {"page_mean_ms", "page_p95_ms", "video_bit_rate_bps", "game_down_p95_ms", "game_up_p99_ms",
                             "probe_fresh_ms", "probe_kept_ms", "upload_bps"}) {
      ASSERT_TRUE(figures.contains(name)) << name;
      EXPECT_GT(figures.at(name), 0) << name;
    }
    EXPECT_DOUBLE_EQ(figures.at("rpm_fresh"), 120'000 / figures.at("probe_fresh_ms")) << "two round trips each";
    EXPECT_DOUBLE_EQ(figures.at("rpm_kept"), 60'000 / figures.at("probe_kept_ms"));
    EXPECT_DOUBLE_EQ(figures.at("rpm"), (figures.at("rpm_fresh") + figures.at("rpm_kept")) / 2);
    EXPECT_EQ(figures.at("game_down_loss"), 0);
    EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
  }
}

TEST(VirtualRun, AMeanOfProbesOmitsTheLongestFivePercent) {
  std::vector<Duration> times(19, 10ms);
  times.insert(times.begin(), 500ms);
  EXPECT_EQ(trimmed_mean(times), 10ms);
  EXPECT_EQ(trimmed_mean({10ms, 40ms}), 25ms) << "too few for a twentieth";
  EXPECT_EQ(trimmed_mean({}), Duration::zero());
}

TEST(VirtualRun, AnExperimentComputesRatiosOfRuns) {
  const auto plan = parse_plan(link(steady,
                                    "modes: [none]\napps: [{type: bulk}, {type: game}]\nsweep:\n"
                                    "  - {column: beside, keys: [apps.0.ues], values: [0, 1], labels: [nothing, "
                                    "bulk]}\noutput:\n  ratio: {column: beside, base: nothing, of: "
                                    "[game_down_p95_ms]}\n"),
                               "test.yaml", 1);
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  TraceLibrary traces({});
  const std::atomic<bool> stop{false};
  const auto results = run_experiment(
                           *plan, traces, 1, [](const ExperimentProgress&) {}, stop)
                           .results;
  EXPECT_NEAR(results.at(1).figures.at("ratio_game_down_p95_ms"),
              results.at(1).figures.at("game_down_p95_ms") / results.at(0).figures.at("game_down_p95_ms"), 1e-9);
  EXPECT_GT(results.at(1).figures.at("ratio_game_down_p95_ms"), 2);
}

}  // namespace
}  // namespace sluice::emulator
