// Tests of the sentences with which a report begins: every number is computed from the results.
#include "emulator/report/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "emulator/report/html_report.hpp"
#include "tests/unit/nodeb/sample_results.hpp"

namespace sluice::emulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Answer answer_to(const std::vector<RunResult>& results, const std::optional<RatioSpec>& ratio = {}) {
  return answer_of(group_by_point(results), ratio);
}

std::vector<RunResult> modes_that_fetch() {
  std::vector<RunResult> runs = test::sample_modes();
  const std::array medians{900.0, 1200.0, 100.0};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].fetches = 50;
    runs[i].fetch_p50_ms = medians.at(i);
    runs[i].fetch_p95_ms = 2 * medians.at(i);
  }
  runs[0].utilisation = 1;
  runs[2].utilisation = 0.94;
  return runs;
}

TEST(Answer, ModesAreComparedWithNoProxyTheBestFirst) {
  const Answer answer = answer_to(modes_that_fetch());
  EXPECT_THAT(
      answer.sentences,
      ElementsAre("Fetching an object is 9.0 times as fast with smvs as with no proxy (median 100 ms instead of "
                  "900 ms), for 6.0 % less of the link.",
                  "Fetching an object is 1.3 times as slow with i-tcp as with no proxy (median 1200 ms instead "
                  "of 900 ms), for 9.0 % less of the link."));
  EXPECT_THAT(answer.columns, ElementsAre("fetch_p50_ms", "utilisation"));
}

TEST(Answer, ModesOfASweepAreComparedPointByPoint) {
  const Answer answer = answer_to(test::sample_results());
  EXPECT_THAT(
      answer.sentences,
      ElementsAre("Queueing between server and UE is 5.1 times as short (4.5 to 5.7 times) with smvs as with no "
                  "proxy, for 27 % more of the link."));
}

TEST(Answer, ColumnsSweptTogetherWithTheModeDoNotPreventTheComparison) {
  std::vector<RunResult> runs = modes_that_fetch();
  const Answer expected = answer_to(runs);
  runs[0].key.swept = {{"queue", "deep"}};
  runs[1].key.swept = {{"queue", "short"}};
  runs[2].key.swept = {{"queue", "fair"}};
  EXPECT_EQ(answer_to(runs).sentences, expected.sentences);
}

TEST(Answer, ARatioThatTheExperimentIsAboutIsListedByMode) {
  std::vector<RunResult> runs = test::sample_modes();
  runs[0].figures["ratio_page_mean_ms"] = 18.31;
  runs[2].figures["ratio_page_mean_ms"] = 1.153;
  const Answer answer = answer_to(runs, RatioSpec{"beside", "nothing", {"page_mean_ms", "rpm"}});
  EXPECT_THAT(answer.sentences, ElementsAre("The value of \"page, mean\" is a multiple of that where beside is "
                                            "nothing: 18.3 with no proxy, 1.15 with smvs."));
  EXPECT_THAT(answer.columns, ElementsAre("ratio_page_mean_ms"));
}

TEST(Answer, OneModeIsComparedFromTheFirstPointOfTheSweepToTheLast) {
  std::vector<RunResult> runs = test::sample_results();
  runs.erase(runs.begin() + 2, runs.end());
  EXPECT_THAT(
      answer_to(runs).sentences,
      ElementsAre("From period_s 0.02 to 0.2, queueing between server and UE goes from 60.0 ms to 63.0 ms (95th "
                  "percentile), and link use from 97.0 % to 98.0 %."));
}

TEST(Answer, NothingIsSaidWithoutResults) {
  EXPECT_THAT(answer_to({}).sentences, ElementsAre());
}

TEST(Answer, AReportBeginsWithIt) {
  const std::string html = html_report({"Demo", ""}, modes_that_fetch());
  const std::size_t sentence = html.find("<p class=\"answer\">Fetching an object is 9.0 times as fast with smvs");
  ASSERT_NE(sentence, std::string::npos);
  EXPECT_LT(sentence, html.find("<svg class=\"plot\""));
  EXPECT_LT(html.find("<svg class=\"plot\""), html.find("<table>"));
}

}  // namespace
}  // namespace sluice::emulator
