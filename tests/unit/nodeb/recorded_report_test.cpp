// Tests of whole reports against recorded ones, because a number or a line that moves in a picture breaks no rule.
// A changed picture is accepted by copying the file that the failed test names over the recorded one.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "emulator/report/csv.hpp"
#include "emulator/report/html_report.hpp"
#include "emulator/report/results_csv.hpp"
#include "emulator/report/svg_plot.hpp"
#include "emulator/report/text_table.hpp"
#include "tests/unit/nodeb/recorded.hpp"

namespace sluice::emulator {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Returns the report without its style and its script, which are constant texts.
std::string body_of(std::string html) {
  for (const auto& [open, close] : {std::pair<std::string, std::string>{"<style>", "</style>"},
                                    std::pair<std::string, std::string>{"<script>", "</script>"}}) {
    const std::size_t from = html.find(open) + open.size();
    html.erase(from, html.find(close) - from);
  }
  return html;
}

DelaySummary delay(double ms) {
  return {.count = 10, .p50_ms = ms, .p95_ms = 2 * ms, .p99_ms = 3 * ms, .mean_ms = 1.5 * ms, .max_ms = 5 * ms};
}

RunResult run_of(const std::string& mode, double utilisation, double delay_ms, std::uint64_t seed = 1) {
  RunResult run;
  run.key = {"sample", "virtual", mode, seed, {}};
  run.measured_s = 12.5;
  run.utilisation = utilisation;
  run.goodput = utilisation - 0.0625;
  run.throughput_bps = utilisation * 8e6;
  run.radio_queue_delay = delay(delay_ms);
  run.proxy_to_ue_delay = delay(1.25 * delay_ms);
  run.server_to_ue_delay = delay(1.5 * delay_ms);
  run.queue_mean_frames = 3 * delay_ms;
  run.queue_stddev_frames = delay_ms / 4;
  run.queue_empty = 0.125;
  run.drops = 7;
  run.retransmissions = 3;
  run.server_retransmissions = 4;
  run.jain = 0.75;
  run.fetches = 20;
  run.fetch_p50_ms = 10 * delay_ms;
  run.fetch_p95_ms = 30 * delay_ms;
  run.counters["drops_full"] = 5;
  return run;
}

/// A run of twelve seconds with a value in every row of the plots against time.
RunResult run_over_time(const std::string& mode, double delay_ms) {
  RunResult run = run_of(mode, 0.875, delay_ms);
  for (int i = 1; i <= 12; ++i) {
    SeriesPoint point;
    point.time_s = i;
    point.link_rate_bps = 8e6 + 1e6 * (i % 4);
    point.link_used_bps = 6e6 + 5e5 * (i % 3);
    point.throughput_bps = 5e6;
    point.outstanding_bytes = 1000 * delay_ms + 2000 * (i % 5);
    point.queue_bytes = 500 * delay_ms + 1000 * (i % 3);
    point.queue_frames = 10;
    if (i != 6) point.radio_queue_delay_ms = delay_ms + i;
    point.server_to_ue_delay_ms = 2 * delay_ms + i;
    if (mode == "smvs") {
      point.allowance_bps = 7e6 + 1e5 * i;
      point.reference_bytes = 4000 + 100 * i;
      point.router_queue_bytes = 3000 * i;
    }
    run.series.push_back(point);
    for (const char* const ue : {"10.45.0.2", "10.45.0.3"}) {
      UePoint one;
      one.time_s = i;
      one.ue = ue;
      one.queue_bytes = 400 * i;
      run.ues.push_back(one);
    }
  }
  for (const std::uint16_t port : {std::uint16_t{5000}, std::uint16_t{5001}}) {
    for (const double time : {2.0, 4.0, 6.0}) {
      run.windows.push_back({.time_s = time,
                             .server = "192.0.2.1",
                             .ue = "10.45.0.2",
                             .ue_port = port,
                             .congestion_bytes = 8000 + 1000 * time,
                             .advertised_bytes = 256000,
                             .in_flight_bytes = 4000});
    }
  }
  run.dropped.push_back({.time_s = 3.5,
                         .ue = "10.45.0.2",
                         .source = "192.0.2.1",
                         .source_port = 80,
                         .ue_port = 5000,
                         .reason = "full",
                         .sequence_bytes = 1.5e6});
  run.queues.push_back({.ue = "10.45.0.2",
                        .source = "192.0.2.1",
                        .source_port = 80,
                        .ue_port = 5000,
                        .packets = 90,
                        .bytes = 130000,
                        .dropped_packets = 2,
                        .dropped_bytes = 3000,
                        .queue_mean_bytes = 7000.5,
                        .delay = delay(delay_ms)});
  return run;
}

/// Two modes at the points of a number and of a word, with two seeds.
std::vector<RunResult> sweep() {
  std::vector<RunResult> runs;
  for (const char* const mode : {"none", "smvs"}) {
    const double best = mode == std::string("none") ? 40 : 8;
    for (const int buffer : {10, 20, 40}) {
      for (const char* const queue : {"drop-tail", "red"}) {
        for (const std::uint64_t seed : {1U, 2U}) {
          const double delay_ms =
              best + 0.5 * buffer + (queue == std::string("red") ? 2 : 0) + static_cast<double>(seed);
          RunResult run = run_of(mode, 0.5 + 0.01 * buffer, delay_ms, seed);
          run.key.swept = {{"buffer", std::to_string(buffer)}, {"queue", queue}};
          run.figures["short_fetch_ms"] = 5 * delay_ms;
          run.figures["long_fetch_ms"] = 60 * delay_ms;
          run.paper["utilisation"] = 0.75;
          runs.push_back(run);
        }
      }
    }
  }
  return runs;
}

PlotSpec frontier() {
  PlotSpec spec;
  spec.title = "Frontier & panels";
  spec.x.columns = {"radio_queue_delay_p95_ms"};
  spec.x.max = 100;
  spec.y.columns = {"utilisation"};
  spec.y.scale = 0.01;
  spec.y.label = "use, %";
  spec.panels = "queue";
  return spec;
}

PlotSpec categories() {
  PlotSpec spec;
  spec.title = "Categories";
  spec.x.columns = {"queue"};
  spec.y.columns = {"radio_queue_delay_mean_ms"};
  spec.y.log = true;
  spec.where = {"buffer=20"};
  spec.join_categories = true;
  return spec;
}

PlotSpec positions() {
  PlotSpec spec;
  spec.title = "Positions";
  spec.x.columns = {""};
  spec.x.label = "size, kB";
  spec.x.log = true;
  spec.y.columns = {"short_fetch_ms", "long_fetch_ms"};
  spec.y.names = {"short", "long"};
  spec.y.at = {15, 200};
  spec.y.min = 0;
  spec.lines = {"mode", "buffer"};
  spec.curves.push_back({"paper", "no proxy", "", {15, 200}, {100, 2000}});
  return spec;
}

TEST(RecordedReport, RunsAgainstTime) {
  ReportTitle title{"Two modes <in time>", "The runs that the plots of a report are recorded with."};
  title.over_time.ue = "10.45.0.3";
  title.notes = {{"Reproduces", "nothing"}, {"Differs", "in all"}};
  test::expect_recorded("over_time.html",
                        body_of(html_report(title, {run_over_time("none", 80), run_over_time("smvs", 8)})));
}

TEST(RecordedReport, ASweepWithRequestedPlots) {
  ReportTitle title{"A sweep", std::string(460, 'x')};
  title.plots = {frontier(), categories(), positions()};
  title.extra = {{"queue_mean_frames", "frames", 2}, {"long_fetch_ms", "long fetch, s", 1000}};
  test::expect_recorded("sweep.html", body_of(html_report(title, sweep())));
}

TEST(RecordedReport, ASweepWithoutRequestedPlots) {
  std::vector<RunResult> runs = sweep();
  std::erase_if(runs, [](const RunResult& run) { return run.key.swept.back().second == "red"; });
  test::expect_recorded("comparison.html", body_of(html_report({"A comparison", ""}, runs)));
}

TEST(RecordedReport, TheTableOnATerminal) {
  SummaryOptions narrow;
  narrow.width = 80;
  narrow.ratio = RatioSpec{"queue", "drop-tail", {"long_fetch_ms"}};
  std::vector<RunResult> runs = sweep();
  add_ratios(runs, *narrow.ratio);
  test::expect_recorded("table.txt",
                        summary_text(sweep(), {{"queue_mean_frames", "frames", 2}}) + summary_text(runs, {}, narrow));
}

/// Every kind of mark and of axis, with error bars, gaps, and points beyond the axes.
TEST(RecordedReport, EveryKindOfPlot) {
  std::string all;
  using Kind = PlotMark::Kind;
  const std::vector<PlotPoint> points{{1, 10, 4}, {2, 35}, {3, missing}, {4, 5, 2}, {5, 80}, {9, 20}};
  for (const bool log : {false, true}) {
    Plot plot;
    plot.title = log ? "A title that is longer than the plot is wide, so that a part of it is left out" : "Kinds";
    plot.x.label = "x, s";
    plot.x.log = log;
    plot.x.max = 6;
    plot.y.label = "y, ms";
    plot.y.log = log;
    if (!log) plot.y.min = -10;
    plot.y.max = 60;
    std::size_t shape = 0;
    for (const Kind kind : {Kind::line, Kind::dashed, Kind::thin, Kind::area, Kind::points, Kind::line_and_points,
                            Kind::dashed_and_points}) {
      PlotMark mark{kind, "mark " + std::to_string(shape), "m" + std::to_string(shape), points};
      for (PlotPoint& point : mark.points) point.y += static_cast<double>(shape);
      mark.shape = static_cast<MarkerShape>(shape++);
      mark.hollow = shape % 2 == 0;
      all += legend_swatch(mark) + "\n";
      plot.marks.push_back(mark);
    }
    all += render_svg(plot) + "\n";
  }
  Plot bars;
  bars.width = 300;
  bars.y.categories = {"smvs", "a mode with a long name", "none"};
  bars.x.label = "share, %";
  bars.x.min = 0;
  bars.x.max = 100;
  bars.marks.push_back({Kind::bar, "bar", "m0", {{80, 0, 30}, {120, 1}, {0, 2}}});
  all += legend_swatch(bars.marks.front()) + "\n" + render_svg(bars) + "\n";
  Plot words;
  words.x.categories = {"drop-tail", "a queue with a very long name", "red"};
  words.y.ticks = false;
  words.marks.push_back({Kind::line_and_points, "words", "m1", {{0, 3}, {1, 4, 1}, {2, 1}}, MarkerShape::star});
  all += render_svg(words) + "\n" + render_svg(Plot{}) + "\n";
  for (std::size_t i = 0; i < marker_shapes; ++i)
    all += std::string(marker_outline(static_cast<MarkerShape>(i))) + "\n";
  test::expect_recorded("plots.svg", all);
}

}  // namespace
}  // namespace sluice::emulator
