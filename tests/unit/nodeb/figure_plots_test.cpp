// Tests of the plots that a scenario file requests in the HTML report.
#include "emulator/report/figure_plots.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulator/report/html_report.hpp"
#include "emulator/report/line_styles.hpp"
#include "emulator/report/plot_keys.hpp"
#include "tests/unit/nodeb/sample_results.hpp"

namespace sluice::emulator {
namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// A run at a point of several swept columns.
RunResult run_at(const std::string& mode, std::vector<std::pair<std::string, std::string>> swept, double utilisation,
                 double delay_ms, std::uint64_t seed = 1) {
  RunResult run = test::sample_result(mode, "", utilisation, delay_ms);
  run.key.swept = std::move(swept);
  run.key.seed = seed;
  run.series.clear();
  return run;
}

/// Two queues of one mode, each with three references, on two links; `law` follows from `queue`.
std::vector<RunResult> two_links() {
  std::vector<RunResult> runs;
  for (const char* link : {"LTE", "UMTS"}) {
    for (const char* queue : {"drop-tail", "red"}) {
      for (const int reference : {40, 10, 20}) {
        runs.push_back(run_at("none",
                              {{"queue", queue},
                               {"law", std::string(queue) + "-law"},
                               {"reference", std::to_string(reference)},
                               {"link", link}},
                              0.9 + reference / 1000.0, reference));
      }
    }
  }
  return runs;
}

std::string drawn(const std::vector<RunResult>& runs, const PlotSpec& spec) {
  const std::vector<ResultGroup> groups = group_by_point(runs);
  return figure_plots(groups, ModeColours(groups), {spec});
}

PlotSpec frontier() {
  PlotSpec spec;
  spec.title = "Frontier";
  spec.x.columns = {"radio_queue_delay_p95_ms"};
  spec.y.columns = {"utilisation"};
  spec.y.scale = 0.01;
  spec.panels = "link";
  return spec;
}

TEST(FigurePlots, APanelOfANumberIsLabelledWithItsColumn) {
  const std::vector<RunResult> runs = {run_at("none", {{"active_users", "4"}}, 0.5, 20),
                                       run_at("none", {{"active_users", "8"}}, 0.6, 30)};
  PlotSpec spec = frontier();
  spec.panels = "active_users";
  EXPECT_NE(drawn(runs, spec).find(">active users 8</text>"), std::string::npos);
}

TEST(FigurePlots, AnyColumnCanBePlottedAgainstAnyOtherInPanels) {
  const std::string html = drawn(two_links(), frontier());
  EXPECT_EQ(occurrences(html, "class=\"plot\""), 2U);
  EXPECT_NE(html.find(">LTE</text>"), std::string::npos);
  EXPECT_NE(html.find(">UMTS</text>"), std::string::npos);
  // The reference moves a point along its line in the order of the runs; the column law is determined by the column
  // queue.
  EXPECT_EQ(occurrences(html, "<title>drop-tail</title>"), 2U);
  EXPECT_NE(html.find("<title>drop-tail: 80, 94</title>"), std::string::npos);
  EXPECT_LT(html.find("<title>drop-tail: 80, 94</title>"), html.find("<title>drop-tail: 20, 91</title>"));
  EXPECT_EQ(html.find("-law"), std::string::npos);
}

TEST(FigurePlots, LinesOfOneModeDifferInColourAndShape) {
  const std::vector<ResultGroup> groups = group_by_point(two_links());
  const ModeColours colours(groups);
  const LineStyles styles({{"drop-tail", "none"}, {"red", "none"}}, colours);
  PlotMark first;
  PlotMark second;
  styles.apply("drop-tail", first);
  styles.apply("red", second);
  EXPECT_NE(first.css_class, second.css_class);
  EXPECT_NE(first.shape, second.shape);
}

TEST(FigurePlots, LinesOfSeveralModesHaveTheColourOfTheModeAndDifferInShape) {
  std::vector<RunResult> runs;
  for (const char* const mode : {"cubic", "bbr", "i-tcp", "smvs with reports", "smvs by acks"})
    runs.push_back(test::sample_result(mode, "", 0.9, 20));
  const ModeColours colours(group_by_point(runs));
  std::vector<LineStyles::Line> lines;
  for (const std::string& mode : colours.modes()) {
    for (const char* const beside : {"nothing", "a download"}) lines.push_back({mode + ", " + beside, mode});
  }
  const LineStyles styles(lines, colours);
  std::set<std::pair<std::string, MarkerShape>> seen;
  for (const LineStyles::Line& line : lines) {
    PlotMark mark;
    styles.apply(line.name, mark);
    EXPECT_EQ(mark.css_class, colours.css_class(line.mode));
    EXPECT_TRUE(seen.emplace(mark.css_class, mark.shape).second) << line.name << " looks like another line";
  }
}

TEST(FigurePlots, PanelsHaveTheSameAxes) {
  std::vector<RunResult> runs = two_links();
  runs.back().radio_queue_delay.p95_ms = 1000;
  const std::string html = drawn(runs, frontier());
  const std::size_t first = html.find("data-x=\"");
  const std::size_t second = html.find("data-x=\"", first + 1);
  EXPECT_EQ(html.substr(first, html.find('"', first + 8) - first),
            html.substr(second, html.find('"', second + 8) - second));
}

TEST(FigurePlots, ASinglePointBeyondTheAxisIsDrawnAtItsEdgeWithItsValue) {
  PlotSpec spec = frontier();
  spec.x.max = 50;
  std::vector<RunResult> runs = two_links();
  runs.push_back(
      run_at("none", {{"queue", "deep"}, {"law", "deep-law"}, {"reference", "40"}, {"link", "LTE"}}, 1, 7383));
  const std::string html = drawn(runs, spec);
  EXPECT_EQ(occurrences(html, ">14800 →</text>"), 1U);
  EXPECT_EQ(occurrences(html, ">80 →</text>"), 0U) << "a curve just goes on";
}

TEST(FigurePlots, WordsAreCategoriesAndSeedsAreBars) {
  std::vector<RunResult> runs;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    runs.push_back(run_at("smvs", {{"ue", "UE1"}}, 0.9 + 0.01 * static_cast<double>(seed), 20, seed));
    runs.push_back(run_at("smvs", {{"ue", "UE2"}}, 0.8, 20, seed));
    runs.push_back(run_at("i-tcp", {{"ue", "UE1"}}, 0.7, 20, seed));
  }
  PlotSpec spec;
  spec.x.columns = {"ue"};
  spec.y.columns = {"utilisation"};
  const std::string html = drawn(runs, spec);
  EXPECT_EQ(occurrences(html, "class=\"category\""), 2U);
  EXPECT_EQ(occurrences(html, "class=\"error "), 1U) << "only one point varies";
  EXPECT_NE(html.find("smvs: UE1, 0.92 ± 0.0248"), std::string::npos);
  EXPECT_EQ(occurrences(html, "class=\"line "), 0U) << "categories are not joined";
}

TEST(FigurePlots, ASingleValueOfAPaperIsAVisibleMark) {
  std::vector<RunResult> runs = {run_at("none", {{"buffer", "4"}}, 0.5, 20),
                                 run_at("none", {{"buffer", "8"}}, 0.6, 20)};
  runs.front().paper["utilisation"] = 0.7;
  PlotSpec spec;
  spec.x.columns = {"buffer"};
  spec.y.columns = {"utilisation"};
  spec.curves.push_back({"paper, DT", "", "", {4, 8}, {0.4, 0.5}});
  const std::string html = drawn(runs, spec);
  EXPECT_NE(html.find("<title>no proxy, paper: 4, 0.7</title>"), std::string::npos);
  EXPECT_NE(html.find("<title>paper, DT: 8, 0.5</title>"), std::string::npos);
  EXPECT_EQ(occurrences(html, "dot hollow"), 3U + 2U) << "three points, and two entries of the legend";
}

TEST(FigurePlots, ColumnsWithGivenPositionsArePointsOfOneLine) {
  std::vector<RunResult> runs = {run_at("none", {{"buffer", "4"}}, 0.5, 20),
                                 run_at("none", {{"buffer", "8"}}, 0.6, 20)};
  runs[0].figures["short_fetch_ms"] = 300;
  runs[0].figures["medium_fetch_ms"] = 700;
  runs[1].figures["short_fetch_ms"] = 200;
  PlotSpec spec;
  spec.x.columns = {""};
  spec.x.label = "size, kB";
  spec.y.columns = {"short_fetch_ms", "medium_fetch_ms"};
  spec.y.at = {15, 200};
  const std::string html = drawn(runs, spec);
  EXPECT_NE(html.find("<title>buffer 4: 15, 300</title>"), std::string::npos) << html;
  EXPECT_NE(html.find("<title>buffer 4: 200, 700</title>"), std::string::npos);
  EXPECT_NE(html.find("<title>buffer 8: 15, 200</title>"), std::string::npos);
  EXPECT_EQ(occurrences(html, "class=\"line "), 2U) << "one, and its entry in the legend: the other has one point";
}

TEST(FigurePlots, AScenarioFileNamesTheColumnsOfTheLegend) {
  PlotSpec spec = frontier();
  spec.y.columns = {"utilisation", "goodput"};
  EXPECT_NE(drawn(two_links(), spec).find("</svg>red, goodput</span>"), std::string::npos);
  spec.y.names = {"use", "what is new"};
  spec.y.label = "%";
  EXPECT_NE(drawn(two_links(), spec).find("</svg>red, what is new</span>"), std::string::npos);
  EXPECT_EQ(drawn(two_links(), spec).find("goodput"), std::string::npos);
}

TEST(FigurePlots, TheKeyWhereSelectsRuns) {
  PlotSpec spec = frontier();
  spec.where = {"queue=red", "mode=none"};
  EXPECT_EQ(drawn(two_links(), spec).find("drop-tail"), std::string::npos);
  spec.where = {"mode=smvs"};
  EXPECT_EQ(drawn(two_links(), spec).find("<svg"), std::string::npos);
}

TEST(FigurePlots, ArePlacedBeforeAllOtherPlots) {
  ReportTitle title{"Report", ""};
  title.plots = {frontier()};
  const std::string html = html_report(title, two_links());
  EXPECT_LT(html.find("<figcaption>Frontier"), html.find("<summary>All runs compared"));
}

TEST(PlotKeys, ColumnsDeterminedByOthersAreOmitted) {
  const std::vector<ResultGroup> groups = group_by_point(two_links());
  std::vector<const ResultGroup*> all;
  for (const ResultGroup& group : groups) all.push_back(&group);
  EXPECT_EQ(telling_columns(all), (std::vector<std::string>{"queue", "reference", "link"}));
  EXPECT_EQ(telling_columns(all, "link"), (std::vector<std::string>{"link", "queue", "reference"}));
}

}  // namespace
}  // namespace sluice::emulator
