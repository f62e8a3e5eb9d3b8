#include "emulator/report/ratios.hpp"

#include <gtest/gtest.h>

#include "emulator/report/columns.hpp"
#include "tests/unit/nodeb/sample_results.hpp"

namespace sluice::emulator {
namespace {

/// A run of one seed with something beside it, and its delay.
RunResult run(const std::string& mode, const std::string& beside, std::uint64_t seed, double delay_ms) {
  RunResult result = test::sample_result(mode, "0.02", 0.9, delay_ms);
  result.key.seed = seed;
  result.key.swept.emplace_back("beside", beside);
  return result;
}

const RatioSpec beside{"beside", "nothing", {"radio_queue_delay_mean_ms", "upload_bps"}};
const std::string ratio = "ratio_radio_queue_delay_mean_ms";

TEST(ResultRatios, DivideByTheRunThatDiffersOnlyInOneColumn) {
  std::vector<RunResult> results = {run("none", "nothing", 1, 10),    run("none", "nothing", 2, 20),
                                    run("smvs", "nothing", 1, 5),     run("none", "a download", 1, 30),
                                    run("none", "a download", 2, 50), run("smvs", "a download", 1, 6)};
  add_ratios(results, beside);
  EXPECT_DOUBLE_EQ(results[3].figures.at(ratio), 3);
  EXPECT_DOUBLE_EQ(results[4].figures.at(ratio), 2.5);
  EXPECT_DOUBLE_EQ(results[5].figures.at(ratio), 1.2);
  EXPECT_FALSE(results[0].figures.contains(ratio)) << "a run of the base";
  EXPECT_FALSE(results[3].figures.contains("ratio_upload_bps")) << "which no run has";
}

TEST(ResultRatios, DivideByTheRunOfABaseMode) {
  std::vector<RunResult> results = {run("none", "nothing", 1, 10), run("smvs", "nothing", 1, 5),
                                    run("smvs", "a download", 1, 6)};
  add_ratios(results, {"mode", "none", {"radio_queue_delay_mean_ms"}});
  EXPECT_DOUBLE_EQ(results[1].figures.at(ratio), 0.5);
  EXPECT_FALSE(results[0].figures.contains(ratio));
  EXPECT_FALSE(results[2].figures.contains(ratio)) << "no run without a proxy has a download beside it";
}

TEST(ResultRatios, ColumnsTiedToTheColumnMayDiffer) {
  std::vector<RunResult> results = {run("none", "nothing", 1, 10), run("none", "a download", 1, 30),
                                    run("none", "a call", 1, 20)};
  results[0].key.swept.emplace_back("order", "fifo");
  for (const std::size_t i : {1U, 2U}) results[i].key.swept.emplace_back("order", "short-flows-first");
  add_ratios(results, beside);
  EXPECT_DOUBLE_EQ(results[1].figures.at(ratio), 3);
  EXPECT_DOUBLE_EQ(results[2].figures.at(ratio), 2);
}

TEST(ResultRatios, NeedBothRunsAndANonzeroDivisor) {
  std::vector<RunResult> results = {run("none", "a download", 1, 30), run("smvs", "nothing", 1, 0),
                                    run("smvs", "a download", 1, 30)};
  add_ratios(results, beside);
  for (const RunResult& result : results) EXPECT_FALSE(result.figures.contains(ratio));
}

TEST(ResultRatios, AreResultColumns) {
  EXPECT_TRUE(is_result_column("ratio_page_mean_ms"));
  EXPECT_TRUE(is_figure("ratio_utilisation"));
  EXPECT_FALSE(is_result_column("ratio_nonsense"));
}

}  // namespace
}  // namespace sluice::emulator
