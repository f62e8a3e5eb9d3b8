// Tests of the tables and figures of Ren and Lin (TMC 2011) but figure 11. They run some points of the files of ./run
// experiment.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/sim/nodeb/paper_runs.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using test::paper_plan;
using test::paper_run;
using test::paper_runs;

double deviation(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size())) / mean;
}

/// Figures 3 to 5: by scheduler, UE1's share relative to its mean.
TEST(SmvsCell, TheNearestUeHasASteadyShareUnlessTheSchedulerFollowsTheChannel) {
  const auto variation = [](const char* scheduler, const std::string& ue) {
    std::vector<double> rates;
    for (const UePoint& point : paper_run("smvs-cell", {std::string("scheduler=") + scheduler}, 60s).ues) {
      if (point.ue == ue && point.time_s > 2) rates.push_back(point.link_used_bps);
    }
    return deviation(rates);
  };
  EXPECT_LT(variation("rr", "10.45.0.2"), 0.25);
  EXPECT_GT(variation("fcds", "10.45.0.2"), 0.3);
  for (const char* scheduler : {"rr", "mci", "fcds"}) EXPECT_GT(variation(scheduler, "10.45.0.4"), 0.3) << scheduler;
}

TEST(SmvsTable3, TheFileHasThePapersTwelveRowsInThreeModes) {
  const Plan plan = paper_plan("smvs-table3");
  ASSERT_EQ(plan.runs.size(), 36U);
  for (const RunPlan& run : plan.runs) EXPECT_EQ(run.paper.count("throughput_bps"), 1U);
  const auto ours = std::find_if(plan.runs.begin(), plan.runs.end(), [](const RunPlan& run) {
    return holds(run, "mode=smvs") && holds(run, "ue=UE4") && holds(run, "scheduler=fcds");
  });
  ASSERT_NE(ours, plan.runs.end());
  EXPECT_NEAR(ours->paper.at("throughput_bps"), 263'700, 1e-6);
}

TEST(SmvsTable3, SmvsExceedsTcpUnlikeSplitTcp) {
  const std::vector<std::vector<std::string>> rows = {{"ue=UE1", "scheduler=rr"},
                                                      {"ue=UE1", "scheduler=fcds"},
                                                      {"ue=UE2", "scheduler=mci"},
                                                      {"ue=UE3", "scheduler=rr"},
                                                      {"ue=UE4", "scheduler=fcds"}};
  std::vector<double> gains;
  for (const std::vector<std::string>& row : rows) {
    SCOPED_TRACE(row[0] + " " + row[1]);
    const std::vector<RunResult> results = paper_runs("smvs-table3", row);  // smvs, none, i-tcp
    ASSERT_EQ(results.size(), 3U);
    ASSERT_EQ(results[0].key.mode, "smvs");
    const double smvs = results[0].throughput_bps;
    EXPECT_GT(smvs, 1.01 * results[1].throughput_bps);
    EXPECT_GT(smvs, 1.01 * results[2].throughput_bps);
    EXPECT_NEAR(results[2].throughput_bps / results[1].throughput_bps, 1, 0.05) << "the split alone gains nothing";
    EXPECT_NEAR(results[0].queue_mean_frames, 100, 15);
    EXPECT_LT(results[0].queue_stddev_frames, 30);
    EXPECT_LE(results[0].drops, 2U);
    EXPECT_GT(results[2].queue_stddev_frames, 45);
    EXPECT_GT(results[2].drops, 80U);
    gains.push_back(smvs / results[1].throughput_bps);
  }
  EXPECT_GT(gains[1], gains[0] + 0.02) << "UE1 gains more where its link varies";
}

TEST(SmvsTable2, TheModelForVaryingRatesIsMoreAccurateThanPadhyes) {
  double model = 0;
  double padhye = 0;
  const std::vector<RunResult> results = paper_runs("smvs-table2", {"scheduler=fcds"});
  ASSERT_EQ(results.size(), 4U);
  for (const RunResult& row : results) {
    SCOPED_TRACE(row.key.swept.front().second);
    EXPECT_LT(row.figures.at("model_error"), 0.1);
    EXPECT_NEAR(row.figures.at("packets_per_s"), row.throughput_bps / 8 / 472, 1e-9);
    EXPECT_GT(row.figures.at("spurious_share"), 0.02);
    EXPECT_LT(row.figures.at("spurious_share"), 1);
    EXPECT_TRUE(row.paper.count("model_error") == 1 && row.paper.count("padhye_error") == 1);
    model += row.figures.at("model_error");
    padhye += row.figures.at("padhye_error");
  }
  EXPECT_LT(model, padhye);
}

TEST(SmvsFigure10, TheQueueStaysAtItsReferenceWhileThatOfPlainTcpOscillates) {
  const RunResult smvs = paper_run("smvs-fig10", {"mode=smvs"});
  const RunResult i_tcp = paper_run("smvs-fig10", {"mode=i-tcp"});
  EXPECT_GT(smvs.utilisation, 0.99);
  EXPECT_NEAR(smvs.queue_mean_frames, 100, 10);
  EXPECT_LT(smvs.queue_stddev_frames, 35);
  EXPECT_LT(smvs.queue_empty, 0.01);
  EXPECT_LE(smvs.drops, 10U);
  EXPECT_LT(i_tcp.utilisation, 0.93);
  EXPECT_GT(i_tcp.queue_stddev_frames, 2 * smvs.queue_stddev_frames);
  EXPECT_GT(i_tcp.queue_empty, 0.05);
  EXPECT_GT(i_tcp.drops, 80U);
  EXPECT_GT(smvs.series.size(), 1500U) << "queue and window over time";
}

TEST(SmvsFigure12, FastVariationEmptiesTheQueueOfPlainTcpButNotOfSmvs) {
  const RunResult smvs = paper_run("smvs-fig12", {"mode=smvs"}, 50s);
  const RunResult i_tcp = paper_run("smvs-fig12", {"mode=i-tcp"}, 50s);
  EXPECT_GT(smvs.utilisation, 0.95);
  EXPECT_NEAR(smvs.queue_mean_frames, 100, 15);
  EXPECT_LT(smvs.queue_empty, 0.02);
  EXPECT_LT(i_tcp.utilisation, 0.85);
  EXPECT_LT(i_tcp.queue_mean_frames, 0.5 * smvs.queue_mean_frames);
  EXPECT_GT(i_tcp.counters.at("proxy_timeouts"), 0U);
}

/// Figures 13 to 16.
TEST(SmvsParameters, AStepInWhichTheBufferRunsEmptyCannotHoldTheQueue) {
  // A single run is at random: with ten seeds the buffer is empty 0.28 to 0.61 of the time, 0.29 to 0.30 in most.
  constexpr std::uint64_t seeds = 10;
  double used = 0;
  double empty = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const RunResult run = paper_run("smvs-fig13", {"figure=fig13"}, {}, seed);
    used += run.utilisation / seeds;
    empty += run.queue_empty / seeds;
  }
  const RunResult slowest = paper_run("smvs-fig13", {"figure=fig13"});
  const RunResult slow = paper_run("smvs-fig13", {"figure=fig14"});
  const RunResult fast = paper_run("smvs-fig13", {"figure=fig15"});
  // The paper has 24 %. How much is left depends on what the sender repeats, see the file.
  EXPECT_LT(used, 0.62);
  EXPECT_GT(empty, 0.3);
  EXPECT_GT(slowest.drops, 500U) << "full as often as empty";
  EXPECT_GT(slow.utilisation, slowest.utilisation + 0.2);
  EXPECT_LT(slow.queue_stddev_frames, slowest.queue_stddev_frames - 5);
  EXPECT_GT(fast.utilisation, 0.98);
  EXPECT_LT(fast.queue_stddev_frames, 0.6 * slow.queue_stddev_frames);
}

/// What the law as printed does not give: 20 s to settle at delta 20.
TEST(SmvsParameters, ItConvergesWithinSecondsAtEitherDelta) {
  for (const char* figure : {"figure=fig15", "figure=fig16"}) {
    EXPECT_LT(paper_run("smvs-fig13", {figure}, 30s).figures.at("settle_s"), 3) << figure;
  }
}

}  // namespace
}  // namespace sluice::emulator
