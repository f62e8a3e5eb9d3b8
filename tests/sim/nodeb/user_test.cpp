// configs/scenarios/user.yaml: what a user feels beside a download, over what the same takes alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emulator/report/ratios.hpp"
#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/sim/nodeb/run_pool.hpp"

namespace sluice::emulator {
namespace {

/// The runs of one mode, as the file has them, with their ratios.
std::vector<RunResult> runs_of(const std::string& mode) {
  const auto plan = load_plan(SLUICE_SOURCE_DIR "/configs/scenarios/user.yaml", 1);
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  TraceLibrary traces({});
  std::vector<RunResult> results;
  for (const RunPlan& run : plan->runs) {
    if (run.mode_name == mode) results.push_back(run_virtual(run, plan->name, test::run_pool(), traces));
  }
  add_ratios(results, plan->base.output.ratio.value());
  return results;
}

double figure(const std::vector<RunResult>& results, const std::string& name) {
  const auto run = std::find_if(results.begin(), results.end(),
                                [&](const RunResult& result) { return result.figures.contains(name); });
  return run == results.end() ? 0 : run->figures.at(name);
}

TEST(User, ResponsivenessHardlySuffersFromAControlledDownload) {
  const auto results = runs_of("smvs by acks");
  ASSERT_EQ(results.size(), 12U);
  for (const char* ratio : {"ratio_page_mean_ms", "ratio_video_start_ms", "ratio_probe_fresh_ms"}) {
    EXPECT_GT(figure(results, ratio), 0.9) << ratio;
    EXPECT_LT(figure(results, ratio), 1.26) << ratio << ", and 1.25 to 1.34 where the reference gives no way";
  }
  for (const RunResult& result : results) {
    SCOPED_TRACE(result.key.swept.at(0).second + " beside " + result.key.swept.at(1).second);
    EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
    EXPECT_EQ(result.counters.at("connections_failed"), 0U);
    if (result.key.swept.at(1).second == "a download") {
      EXPECT_GT(result.utilisation, 0.95);
    }
  }
}

TEST(User, ResponsivenessSuffersFromAnUncontrolledDownload) {
  const auto results = runs_of("cubic");
  EXPECT_GT(figure(results, "ratio_page_mean_ms"), 5);
  EXPECT_GT(figure(results, "ratio_video_start_ms"), 5);
}

}  // namespace
}  // namespace sluice::emulator
