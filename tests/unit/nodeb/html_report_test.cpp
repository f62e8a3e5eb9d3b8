// Tests of the HTML report of an experiment: its plots, and that it loads nothing from other sites.
#include "emulator/report/html_report.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulator/report/comparison_plots.hpp"
#include "emulator/report/mode_colours.hpp"
#include "emulator/report/result_group.hpp"
#include "emulator/report/results_csv.hpp"
#include "emulator/report/svg_plot.hpp"
#include "tests/unit/nodeb/sample_results.hpp"

namespace sluice::emulator {
namespace {

/// Walks the tags of a document and returns what is wrong with their nesting; empty when nothing is.
std::string nesting_error(const std::string& html) {
  const std::set<std::string> lone = {"meta", "!DOCTYPE"};
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return "a tag is not closed";
    const std::string tag = html.substr(at + 1, end - at - 1);
    const bool closing = tag.starts_with('/');
    const std::string name = tag.substr(closing ? 1 : 0, tag.find_first_of(" /", 1) - (closing ? 1 : 0));
    if (lone.contains(name) || tag.ends_with('/')) continue;
    if (!closing) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// The report less the text of its script, in which < is no tag.
std::string without_script(std::string html) {
  const std::size_t from = html.find("<script>");
  const std::size_t to = html.find("</script>");
  if (from != std::string::npos && to != std::string::npos) html.erase(from + 8, to - from - 8);
  return html;
}

TEST(HtmlReport, TagsNestAndNothingIsLoadedFromElsewhere) {
  for (const auto& results : {test::sample_results(), test::sample_modes(), std::vector<RunResult>{}}) {
    const std::string html = html_report({"A <title> & more", "What \"it\" shows"}, results);
    EXPECT_EQ(nesting_error(without_script(html)), "");
    EXPECT_EQ(occurrences(html, "<script>"), 1U);
    for (const char* loads : {"http", "url(", " src=", "href", "fetch(", "import", "eval(", "Function("}) {
      EXPECT_EQ(html.find(loads), std::string::npos) << loads;
    }
    EXPECT_NE(html.find("A &lt;title&gt; &amp; more"), std::string::npos);
  }
}

TEST(HtmlReport, EveryModeIsPlottedOverTime) {
  const std::string html = html_report({"Demo", ""}, test::sample_modes());
  for (const char* row : {"Link rate", "Window in use", "Radio queue<", "Largest queueing delay"}) {
    for (const char* mode : {"no proxy", "i-tcp", "smvs"}) {
      EXPECT_NE(html.find(std::string(mode) + " · " + row), std::string::npos) << mode << ' ' << row;
    }
  }
  EXPECT_EQ(occurrences(html, "Allowance granted</text>"), 1U) << "only smvs grants allowances";
}

TEST(HtmlReport, AtMostFourPlotsOverTimeStandBesideEachOther) {
  std::vector<RunResult> runs;
  for (const char* const mode : {"none", "i-tcp", "smvs", "clamp", "wrb"})
    runs.push_back(test::sample_result(mode, "", 0.9, 20));
  const std::string html = html_report({"Five modes", ""}, runs);
  EXPECT_EQ(occurrences(html, "repeat(3, max-content)"), 1U);
  EXPECT_EQ(occurrences(html, "repeat(2, max-content)"), 1U) << "the other two stand below";
  const std::regex width("<svg class=\"plot\"[^>]* width=\"(\\d+)\"");
  for (std::sregex_iterator at(html.begin(), html.end(), width), end; at != end; ++at)
    EXPECT_LE(3 * std::stoi((*at)[1]) + 2 * 10, 1208) << "three fill a window of 1280 pixels";
}

TEST(HtmlReport, ALongTableIsShownOnRequest) {
  std::vector<RunResult> runs;
  for (int i = 1; i <= 30; ++i) runs.push_back(test::sample_result("none", std::to_string(i), 0.9, 20));
  EXPECT_NE(html_report({"Sweep", ""}, runs).find("<summary>All 30 points</summary>"), std::string::npos);
  runs.resize(3);
  EXPECT_EQ(html_report({"Sweep", ""}, runs).find("<summary>All 3 points</summary>"), std::string::npos);
}

TEST(HtmlReport, ALongDescriptionIsShownOnRequest) {
  const auto report = [](std::size_t letters) {
    return html_report({"Demo", std::string(letters, 'd')}, test::sample_modes());
  };
  EXPECT_EQ(report(450).find("<summary>What was run</summary>"), std::string::npos);
  EXPECT_NE(report(451).find("<summary>What was run</summary>"), std::string::npos);
}

TEST(HtmlReport, ExtremesOfALongRunAreKept) {
  std::vector<RunResult> runs = {test::sample_result("none", "", 0.85, 400)};
  std::vector<SeriesPoint>& series = runs.front().series;
  const SeriesPoint usual = series.front();
  series.assign(5000, usual);
  for (std::size_t i = 0; i < series.size(); ++i) series[i].time_s = 0.1 * static_cast<double>(i + 1);
  series[1234].queue_bytes = 100 * usual.queue_bytes + 1e6;
  series[4321].queue_bytes = 0;
  const std::string html = html_report({"Long", ""}, runs);
  const std::size_t title = html.find("<title>radio queue</title>", html.find("Radio queue<"));
  const std::string path = html.substr(html.rfind("<path", title), title - html.rfind("<path", title));
  std::set<std::string> heights;
  const std::regex point("[ML]([0-9.]+) ([0-9.]+)");
  std::size_t points = 0;
  for (std::sregex_iterator at(path.begin(), path.end(), point), end; at != end; ++at, ++points)
    heights.insert((*at)[2]);
  EXPECT_EQ(heights.size(), 3U) << "the usual length, the longest and the shortest";
  EXPECT_LE(points, 900U);
  EXPECT_GE(points, 400U);
}

TEST(HtmlReport, WindowsAndDropsArePlottedOverTimeIfRecorded) {
  std::vector<RunResult> runs = {test::sample_result("none", "", 0.85, 400)};
  for (const std::uint16_t port : {std::uint16_t{5000}, std::uint16_t{5001}}) {
    runs.front().windows.push_back({.time_s = 1,
                                    .server = "192.0.2.1",
                                    .ue = "10.45.0.2",
                                    .ue_port = port,
                                    .congestion_bytes = 8000,
                                    .advertised_bytes = 64000,
                                    .in_flight_bytes = 4000});
    runs.front().windows.push_back({.time_s = 2,
                                    .server = "192.0.2.1",
                                    .ue = "10.45.0.2",
                                    .ue_port = port,
                                    .congestion_bytes = 9000,
                                    .advertised_bytes = 64000,
                                    .in_flight_bytes = 4000});
  }
  runs.front().dropped.push_back({.time_s = 1.5,
                                  .ue = "10.45.0.2",
                                  .source = "192.0.2.1",
                                  .source_port = 80,
                                  .ue_port = 5000,
                                  .reason = "full",
                                  .sequence_bytes = 1e6});
  const std::string html = html_report({"Windows", ""}, runs);
  EXPECT_EQ(occurrences(html, "<title>congestion window</title>"), 1U) << "of the first connection";
  EXPECT_EQ(occurrences(html, "<title>advertised window</title>"), 1U);
  EXPECT_NE(html.find("<title>dropped: 1.5, 1</title>"), std::string::npos);
}

TEST(HtmlReport, ATimeWithoutPacketsIsAGap) {
  std::vector<RunResult> runs = {test::sample_result("none", "", 0.85, 400)};
  const auto lines = [&runs] {
    const std::string html = html_report({"Gap", ""}, runs);
    const std::size_t title = html.find("<title>radio queue</title>", html.find("Largest queueing delay"));
    return occurrences(html.substr(html.rfind("<path", title), title - html.rfind("<path", title)), "M");
  };
  EXPECT_EQ(lines(), 1U);
  for (std::size_t i = 100; i < 200; ++i) runs.front().series[i].radio_queue_delay_ms.reset();
  EXPECT_EQ(lines(), 2U);
}

TEST(HtmlReport, AScenarioFileSelectsThePlotsOverTime) {
  ReportTitle title{"Sweep", ""};
  title.over_time.from_s = 10;
  title.over_time.to_s = 20;
  title.over_time.where = {"period_s=0.2"};
  title.over_time.first = true;
  const std::string html = html_report(title, test::sample_results());
  EXPECT_EQ(html.find("<h3>period_s = 0.02</h3>"), std::string::npos);
  EXPECT_LT(html.find("<h3>period_s = 0.2</h3>"), html.find("All runs compared"));
  EXPECT_NE(html.find("data-x=\"10 20 lin\""), std::string::npos);
}

TEST(HtmlReport, PlotsOverTimeShowThreePointsOfASweepOrAll) {
  std::vector<RunResult> runs;
  for (const char* period : {"0.02", "0.04", "0.08", "0.16", "0.2"})
    runs.push_back(test::sample_result("none", period, 0.9, 20));
  ReportTitle title{"Sweep", ""};
  EXPECT_EQ(occurrences(html_report(title, runs), "<h3>period_s"), 3U);
  title.over_time.every = true;
  EXPECT_EQ(occurrences(html_report(title, runs), "<h3>period_s"), 5U);
}

TEST(HtmlReport, ASweepIsPlottedOverItsColumn) {
  const std::string html = html_report({"Sweep", ""}, test::sample_results());
  EXPECT_NE(html.find(">period_s</text>"), std::string::npos);
  EXPECT_NE(html.find(">Goodput / attainable goodput</text>"), std::string::npos);
  EXPECT_NE(html.find(">Link use</text>"), std::string::npos);
}

TEST(HtmlReport, TheSameResultsGiveTheSameBytes) {
  EXPECT_EQ(html_report({"Demo", ""}, test::sample_modes()), html_report({"Demo", ""}, test::sample_modes()));
}

TEST(HtmlReport, SampleFilesAreWritten) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "nodeb_report";
  write_file(folder / "modes.html", html_report({"Three modes", "Sample data"}, test::sample_modes()));
  write_file(folder / "sweep.html", html_report({"A sweep", "Sample data"}, test::sample_results()));
  EXPECT_GT(std::filesystem::file_size(folder / "modes.html"), 10'000U);
}

TEST(SvgPlot, NumbersThatCannotBeDrawnAreLeftOut) {
  Plot plot;
  plot.y.log = true;
  plot.marks.push_back({PlotMark::Kind::line, "", "m0", {{0, 1}, {1, 0}, {2, -5}, {3, std::nan("")}, {4, 100}}});
  const std::string svg = render_svg(plot);
  EXPECT_EQ(occurrences(svg, "nan"), 0U);
  EXPECT_EQ(occurrences(svg, "inf"), 0U);
  EXPECT_EQ(nesting_error(svg), "");
}

TEST(SvgPlot, ALineHasAGapWithoutMeasurements) {
  Plot plot;
  plot.marks.push_back({PlotMark::Kind::line, "", "m0", {{0, 1}, {1, 2}, {2, std::nan("")}, {3, 3}, {4, 100}}});
  EXPECT_EQ(occurrences(render_svg(plot), "M"), 2U);
}

TEST(SvgPlot, CategoriesOfBothAxesAreLabelled) {
  Plot plot;
  plot.x.categories = {"drop-tail", "red"};
  plot.marks.push_back({PlotMark::Kind::points, "", "m0", {{0, 1}, {1, 2}}});
  const std::string svg = render_svg(plot);
  EXPECT_NE(svg.find(">drop-tail</text>"), std::string::npos);
  EXPECT_NE(svg.find(">red</text>"), std::string::npos);
}

TEST(SvgPlot, TicksAreRoundNumbersInsideTheAxis) {
  EXPECT_EQ(axis_ticks(0, 10, 5, false), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(axis_ticks(3, 97, 4, false), (std::vector<double>{50}));
  EXPECT_EQ(axis_ticks(1, 1000, 4, true), (std::vector<double>{1, 10, 100, 1000}));
  EXPECT_EQ(axis_ticks(0.02, 8, 4, true), (std::vector<double>{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}));
  EXPECT_EQ(axis_ticks(1, 3000, 4, true), (std::vector<double>{1, 10, 100, 1000}));
  EXPECT_EQ(axis_ticks(210, 290, 4, true), (std::vector<double>{220, 240, 260, 280})) << "1, 2 and 5 are too few";
  EXPECT_TRUE(axis_ticks(5, 5, 4, false).empty());
}

/// Where the numbers below a plot begin and end, about, from left to right.
std::vector<std::pair<double, double>> numbers_below(const std::string& svg) {
  constexpr double half_a_digit = 3;
  const std::regex number("<text x=\"([0-9.]+)\"[^>]*class=\"tick gx\">([^<]+)<");
  std::vector<std::pair<double, double>> spans;
  for (std::sregex_iterator at(svg.begin(), svg.end(), number), end; at != end; ++at) {
    const double half = half_a_digit * static_cast<double>((*at)[2].length());
    spans.emplace_back(std::stod((*at)[1]) - half, std::stod((*at)[1]) + half);
  }
  return spans;
}

TEST(SvgPlot, LabelsOfAnAxisDoNotOverlap) {
  Plot plot;
  plot.x.log = true;
  plot.marks.push_back({PlotMark::Kind::line, "", "c", {{12, 1}, {2600, 2}}});
  for (plot.width = 200; plot.width <= 500; plot.width += 20) {
    const auto spans = numbers_below(render_svg(plot));
    ASSERT_GE(spans.size(), 3U) << plot.width;
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].second + 4, spans[i].first) << plot.width;
  }
}

TEST(SvgPlot, AnErrorBarIsWithinAnAxisWithoutBounds) {
  Plot plot;
  plot.marks.push_back({PlotMark::Kind::points, "runs", "m0", {{1, 10, 5}, {2, 20, 5}}});
  EXPECT_NE(render_svg(plot).find("data-y=\"5 25 lin\""), std::string::npos);
  plot.y.log = true;
  plot.marks.front().points.front().error = 10;
  EXPECT_NE(render_svg(plot).find("data-y=\"10 25 log\""), std::string::npos) << "nothing of 0 on such an axis";
}

TEST(SvgPlot, AnErrorBarLiesAlongItsBar) {
  Plot plot;
  plot.y.categories = {"smvs"};
  plot.x.max = 100;
  plot.marks.push_back({PlotMark::Kind::bar, "smvs", "m0", {{80, 0}}});
  EXPECT_EQ(render_svg(plot).find("class=\"error"), std::string::npos);
  plot.marks.front().points.front().error = 30;
  const std::string svg = render_svg(plot);
  ASSERT_NE(svg.find("class=\"error"), std::string::npos);
  EXPECT_EQ(svg.find("NaN"), std::string::npos);
}

/// Runs of two modes at two points of a swept column, with two seeds.
std::string compared_at(const std::string& column, const std::string& first, const std::string& second) {
  std::vector<RunResult> runs;
  for (const char* mode : {"smvs", "i-tcp"}) {
    for (const std::string& point : {first, second}) {
      for (const std::uint64_t seed : {1U, 2U}) {
        RunResult run = test::sample_result(mode, "", 0.8 + 0.05 * static_cast<double>(seed), 20);
        run.key.swept = {{column, point}};
        run.key.seed = seed;
        runs.push_back(run);
      }
    }
  }
  const std::vector<ResultGroup> groups = group_by_point(runs);
  return comparison_plots(groups, ModeColours(groups), {{"queue_mean_frames", "frames", 1}});
}

TEST(ComparisonPlots, NumbersAreJoinedByLinesAndCategoriesAreNot) {
  EXPECT_EQ(compared_at("scheduler", "rr", "mci").find("class=\"line "), std::string::npos);
  EXPECT_NE(compared_at("buffer", "10", "20").find("class=\"line "), std::string::npos);
}

TEST(ComparisonPlots, ARequestedPlotIsNotDrawnTwice) {
  EXPECT_EQ(compared_at("buffer", "10", "20").find("queue_mean_frames"), std::string::npos);
}

}  // namespace
}  // namespace sluice::emulator
