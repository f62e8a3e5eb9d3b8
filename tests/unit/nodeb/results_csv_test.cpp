// Tests of the CSV files of results: columns, round trips, means over seeds and summaries.
#include "emulator/report/results_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/report/column_titles.hpp"
#include "emulator/report/columns.hpp"
#include "emulator/report/result_group.hpp"
#include "emulator/report/row_columns.hpp"
#include "emulator/report/text_table.hpp"
#include "tests/unit/nodeb/sample_results.hpp"

namespace sluice::emulator {
namespace {

TEST(Csv, CellsWithCommasQuotesAndLineBreaksAreReadBack) {
  const CsvTable table{{"a", "b"}, {{"1,5", "say \"no\""}, {"two\nlines", ""}}};
  const CsvTable back = parse_csv(format_csv(table));
  EXPECT_EQ(back.columns, table.columns);
  EXPECT_EQ(back.rows, table.rows);
}

TEST(Csv, BrokenTextIsRefusedWithItsLine) {
  const auto complaint = [](std::string_view text) -> std::string {
    try {
      static_cast<void>(parse_csv(text));
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(complaint(""), "line 1: a header row is missing");
  EXPECT_EQ(complaint("a,b\n1\n"), "line 2: 1 cells, the header has 2");
  EXPECT_EQ(complaint("a,b\n1,2\n\"x,3\n"), "line 3: a quote is not closed");
  EXPECT_EQ(complaint("a\n\"x\"y\n"), "line 2: text after a closing quote");
}

TEST(Csv, NumbersHaveSixDigitsAndNoExponent) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(0.02), "0.02");
  EXPECT_EQ(format_number(0.9512345678), "0.951235");
  EXPECT_EQ(format_number(123456.789), "123457");
  EXPECT_EQ(format_number(5000000), "5000000");
  EXPECT_EQ(format_number(-12.5), "-12.5");
  EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(parse_number("0.02"), 0.02);
  EXPECT_EQ(parse_number("0.02s"), std::nullopt);
  EXPECT_EQ(parse_number(""), std::nullopt);
  EXPECT_EQ(parse_number("inf"), std::nullopt);
}

TEST(ResultsCsv, ColumnsAreNamedWithTheirUnits) {
  const CsvTable table = results_table(test::sample_results());
  for (const char* name :
       {"mode", "period_s", "seed", "goodput", "utilisation", "throughput_bps", "radio_queue_delay_p50_ms",
        "radio_queue_delay_p95_ms", "radio_queue_delay_p99_ms", "proxy_to_ue_delay_p50_ms", "proxy_to_ue_delay_p95_ms",
        "proxy_to_ue_delay_p99_ms", "server_to_ue_delay_p50_ms", "server_to_ue_delay_p95_ms",
        "server_to_ue_delay_p99_ms", "drops", "retransmissions", "jain"}) {
    EXPECT_TRUE(table.column(name).has_value()) << name;
  }
  EXPECT_EQ(table.rows[0][*table.column("period_s")], "0.02");
  EXPECT_EQ(table.rows[0][*table.column("utilisation")], "0.97");
}

TEST(ResultsCsv, ResultsAreReadBackFromTheirFiles) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "nodeb_results";
  const std::vector<RunResult> results = test::sample_results();
  EXPECT_EQ(write_results(folder, results), (std::vector<std::string>{"results.csv", "series.csv"}));
  const std::vector<RunResult> back = read_results(folder);
  ASSERT_EQ(back.size(), results.size());
  EXPECT_EQ(format_csv(results_table(back)), format_csv(results_table(results)));
  EXPECT_EQ(format_csv(series_table(back)), format_csv(series_table(results)));
  std::filesystem::remove_all(folder);
}

TEST(ResultsCsv, MissingColumnsAndInvalidNumbersAreRefused) {
  CsvTable results = results_table(test::sample_results());
  const CsvTable series = series_table(test::sample_results());
  CsvTable broken = results;
  broken.columns[*broken.column("utilisation")] = "use";
  EXPECT_THROW(static_cast<void>(results_from(broken, series)), std::runtime_error);
  broken = results;
  broken.rows[1][*broken.column("drops")] = "many";
  EXPECT_THROW(static_cast<void>(results_from(broken, series)), std::runtime_error);
  EXPECT_THROW(static_cast<void>(read_results("/nonexistent/folder")), std::runtime_error);
}

TEST(ResultGroups, SeedsOfOnePointBecomeTheirMean) {
  std::vector<RunResult> results = test::sample_results();
  RunResult second = results[0];
  second.key.seed = 2;
  second.utilisation = 0.93;
  second.goodput = 0.84;
  second.drops = 6;
  results.push_back(second);
  const std::vector<ResultGroup> groups = group_by_point(results);
  ASSERT_EQ(groups.size(), results.size() - 1);
  EXPECT_EQ(groups[0].seeds, 2U);
  EXPECT_NEAR(groups[0].mean.goodput, 0.88, 1e-12);
  EXPECT_NEAR(groups[0].goodput_ci, confidence_interval({0.92, 0.84}), 1e-12);
  EXPECT_NEAR(groups[0].mean.utilisation, 0.95, 1e-12);
  EXPECT_EQ(groups[0].utilisation_min, 0.93);
  EXPECT_EQ(groups[0].mean.drops, 4U);
}

template <typename Row>
void expect_zeros(const std::vector<Column<Row>>& columns) {
  for (const Column<Row>& column : columns) EXPECT_THAT(column.write(Row{}), testing::AnyOf("", "0")) << column.name;
}

TEST(ResultRows, HaveOnlyZerosAtFirst) {
  for (const Column<RunResult>& column : measured_columns())
    EXPECT_THAT(column.write(RunResult{}), testing::AnyOf("", column.name == "jain" ? "1" : "0")) << column.name;
  expect_zeros(point_columns());
  expect_zeros(ue_columns());
  expect_zeros(flow_columns());
  expect_zeros(packet_columns());
  expect_zeros(queue_columns());
  expect_zeros(window_columns());
  expect_zeros(drop_columns());
}

TEST(TextTable, ColumnsAreAlignedForAnyCharacters) {
  EXPECT_EQ(align_table({{"mode", "proxy→UE ms"}, {"smvs", "7"}}, 1), "mode  proxy→UE ms\nsmvs            7\n");
}

TEST(TextTable, ASummaryHasOneRowPerPoint) {
  const std::string text = summary_text(test::sample_results());
  EXPECT_NE(text.find("no proxy"), std::string::npos);
  EXPECT_THAT(text, testing::ContainsRegex("92\\.0 % +97\\.0 %")) << "what arrived, then what was carried";
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 1 + 1 + 4 + 1)
      << "answer of one mode, empty line, heading, rows, and what the delays are";
  EXPECT_EQ(summary_text({}), "no results\n");
}

TEST(TextTable, AWideTableIsSplitIntoPartsThatBeginWithTheKeys) {
  const std::vector<std::vector<std::string>> rows = {
      {"mode", "goodput", "page", "game"}, {"none", "98 %", "1200", "–"}, {"smvs", "97 %", "–", "–"}};
  const auto parts = split_table(rows, 1, {14, 2});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0], (std::vector<std::vector<std::string>>{{"mode", "goodput"}, {"none", "98 %"}, {"smvs", "97 %"}}));
  EXPECT_EQ(parts[1], (std::vector<std::vector<std::string>>{{"mode", "page"}, {"none", "1200"}}))
      << "without a column and a row that have no value";
  EXPECT_EQ(split_table(rows, 1, {21, 2}).size(), 1U) << "columns of 6, 9 and 6 letters";
  EXPECT_EQ(split_table(rows, 1, {20, 2}).size(), 2U);
  const auto papers = split_table({{"mode", "goodput", "page", "paper"}, {"none", "98 %", "1200", "1100"}}, 1, {20, 2});
  ASSERT_EQ(papers.size(), 2U);
  EXPECT_EQ(papers[1][0], (std::vector<std::string>{"mode", "page", "paper"})) << "a paper's value stays beside ours";
}

TEST(TextTable, NoLineIsWiderThanTheTerminal) {
  std::vector<RunResult> results = test::sample_results();
  for (RunResult& run : results) {
    for (const char* const figure : {"page_mean_ms", "video_start_ms", "video_stalled_s", "game_down_p95_ms"})
      run.figures[figure] = 1234;
  }
  const std::string text = summary_text(
      results,
      {{"page_mean_ms", "", 1}, {"video_start_ms", "", 1}, {"video_stalled_s", "", 1}, {"game_down_p95_ms", "", 1}},
      {80, {}});
  std::istringstream lines(text.substr(text.find("\n\n"), text.find("Delays") - text.find("\n\n")));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U + 4) << line;  // "→" has three bytes
  EXPECT_NE(text.find("page, mean (ms)"), std::string::npos);
}

TEST(ColumnTitles, AreTheWordsOfTheNameWithTheUnit) {
  EXPECT_EQ(title_of_column("page_mean_ms").heading(), "page, mean (ms)");
  EXPECT_EQ(title_of_column("video_bit_rate_bps").heading(), "video bit rate (Mb/s)");
  EXPECT_EQ(title_of_column("video_bit_rate_bps").scale, 1e6);
  EXPECT_EQ(title_of_column("ratio_game_down_p95_ms").heading(), "game down, p95 (ratio)");
  EXPECT_EQ(title_of_column("utilisation").heading(), "link use (%)");
  EXPECT_EQ(title_of_column("flow_jain").heading(), "flow jain");
  EXPECT_EQ(title_of_column(ExtraColumn{"upload_bps", "kb/s", 1000}).heading(), "upload (kb/s)");
}

TEST(Jain, EqualSharesAreFairAndOneTakerIsNot) {
  EXPECT_DOUBLE_EQ(jain_index({3, 3, 3, 3}), 1.0);
  EXPECT_DOUBLE_EQ(jain_index({5, 0, 0, 0}), 0.25);
  EXPECT_DOUBLE_EQ(jain_index({}), 1.0);
  EXPECT_DOUBLE_EQ(jain_index({0, 0}), 1.0);
}

TEST(ConfidenceInterval, UsesStudentsTOverTheSeeds) {
  EXPECT_EQ(confidence_interval({}), 0);
  EXPECT_EQ(confidence_interval({5}), 0);
  // Mean 2, standard deviation 1, three values: 4.303 · 1 / √3.
  EXPECT_NEAR(confidence_interval({1, 2, 3}), 2.4843, 1e-3);
  std::vector<double> many;
  for (int i = 0; i < 1000; ++i) many.push_back(i % 2);
  EXPECT_NEAR(confidence_interval(many), 1.96 * 0.50025 / std::sqrt(1000), 1e-3);
}

TEST(ResultsCsv, TheSummaryHasMeansAndIntervals) {
  std::vector<RunResult> runs(3);
  for (std::size_t i = 0; i < 3; ++i) {
    runs[i].key = {"s", "virtual", "none", i + 1, {{"ue", "UE1"}}};
    runs[i].throughput_bps = static_cast<double>(i + 1);
    runs[i].figures["rpm"] = static_cast<double>(i + 1);
  }
  const std::string text = format_csv(summary_table(runs));
  EXPECT_THAT(text, testing::HasSubstr(",rpm,rpm_ci\n"));
  EXPECT_THAT(text, testing::ContainsRegex(",2,2\\.484[0-9]*\n"));
  EXPECT_THAT(text, testing::HasSubstr(
                        "scenario,clock,mode,ue,seeds,goodput,goodput_ci,utilisation,utilisation_ci,throughput_bps"));
  EXPECT_THAT(text, testing::HasSubstr("s,virtual,none,UE1,3,0,0,0,0,2,2.484"));
}

TEST(ResultsCsv, ConnectionsUesAndPacketsHaveTablesOfTheirOwn) {
  RunResult run;
  run.key = {"s", "virtual", "none", 7, {{"buffer_packets", "5"}}};
  FlowRow flow;
  flow.application = "bulk";
  flow.ue = "10.0.0.1";
  flow.direction = "upload";
  flow.bytes = 1000;
  flow.ended = "running";
  run.flows.push_back(flow);
  UePoint point;
  point.ue = "10.0.0.1";
  point.state = "handover";
  run.ues.push_back(point);
  run.packets.push_back({1.5, "10.0.0.1", "dropped", 1500, 0});
  const std::string flows = format_csv(flows_table({run}));
  EXPECT_THAT(flows, testing::HasSubstr("scenario,clock,mode,buffer_packets,seed,application,ue,ue_port,direction"));
  EXPECT_THAT(flows, testing::HasSubstr("s,virtual,none,5,7,bulk,10.0.0.1,0,upload"));
  EXPECT_THAT(format_csv(ues_table({run})), testing::HasSubstr(",10.0.0.1,handover,"));
  EXPECT_THAT(format_csv(packets_table({run})), testing::HasSubstr(",1.5,10.0.0.1,dropped,1500,0"));
}

TEST(ResultsCsv, FiguresAndPaperValuesAreReadBackAsSuch) {
  std::vector<RunResult> results = test::sample_results();
  results[0].figures["up_down_ratio"] = 7.5;
  results[0].paper["throughput_bps"] = 5.5e6;
  const CsvTable table = results_table(results);
  ASSERT_TRUE(table.column("up_down_ratio") && table.column("paper_throughput_bps"));
  EXPECT_EQ(table.rows[0][*table.column("paper_throughput_bps")], "5500000");
  EXPECT_EQ(table.rows[1][*table.column("up_down_ratio")], "") << "a run without";
  const auto back = results_from(table, series_table(results));
  EXPECT_EQ(back[0].figures, results[0].figures);
  EXPECT_EQ(back[0].paper, results[0].paper);
  EXPECT_TRUE(back[1].figures.empty() && back[1].paper.empty());
  EXPECT_EQ(back[0].counters, results[0].counters);
}

TEST(ResultsCsv, EveryWrittenColumnIsAKnownColumn) {
  std::vector<RunResult> results = test::sample_results();
  results[0].figures["settle_s"] = 1;
  const CsvTable table = results_table(results);
  for (std::size_t i = *table.column("seed") + 1; i < table.columns.size(); ++i) {
    EXPECT_TRUE(is_result_column(table.columns[i])) << table.columns[i];
  }
  EXPECT_FALSE(is_result_column("paper_throughput_bps"));
  EXPECT_FALSE(is_result_column(""));
  EXPECT_EQ(column_value(results[0], "settle_s"), 1);
  EXPECT_EQ(column_value(results[0], "drops"), 2);
  EXPECT_EQ(column_value(results[0], "reports_lost"), 1);
  EXPECT_EQ(column_value(results[1], "settle_s"), std::nullopt);
}

TEST(ResultsCsv, TheTableShowsRequestedColumnsBesideThePaperValue) {
  std::vector<RunResult> results = test::sample_results();
  results[0].paper["throughput_bps"] = 4.9e6;
  const std::string text =
      summary_text(results, {{"throughput_bps", "kb/s", 1000}, {"queue_stddev_frames", "", 1}}, {200, {}});
  EXPECT_THAT(text, testing::HasSubstr("throughput (kb/s)  paper  queue stddev (frames)\n"));
  EXPECT_THAT(text, testing::HasSubstr("4850   4900                  12.50\n"));
  EXPECT_THAT(text, testing::HasSubstr("4900      –                  12.50\n"));
}

TEST(ResultsCsv, FiguresAreMeansOverTheSeedsThatHaveThem) {
  RunResult a = test::sample_result("smvs", "1", 0.9, 10);
  RunResult b = a;
  RunResult c = a;
  b.key.seed = 2;
  c.key.seed = 3;
  a.figures["flow_jain"] = 0.8;
  b.figures["flow_jain"] = 0.9;
  a.paper["throughput_bps"] = b.paper["throughput_bps"] = c.paper["throughput_bps"] = 5e6;
  b.throughput_bps += 1e6;
  const auto groups = group_by_point({a, b, c});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_NEAR(groups[0].mean.figures.at("flow_jain"), 0.85, 1e-12);
  EXPECT_NEAR(groups[0].ci.at("flow_jain"), confidence_interval({0.8, 0.9}), 1e-12);
  EXPECT_EQ(groups[0].mean.paper.at("throughput_bps"), 5e6);
  EXPECT_NEAR(groups[0].ci.at("throughput_bps"), groups[0].throughput_ci_bps, 1);
}

TEST(ResultsCsv, EveryColumnOfEveryFileIsExplained) {
  std::vector<RunResult> results = test::sample_results();
  results.push_back(results.front());
  results.back().key.seed = 2;
  for (const ColumnText& figure : figure_table) results.front().figures[std::string(figure.name)] = 1;
  for (const ColumnText& counter : counter_table) results.front().counters[std::string(counter.name)] = 1;
  const std::string reference = results_reference();
  for (const ResultFile& file : result_files) {
    const std::size_t begin = reference.find("## `" + std::string(file.name) + "`");
    ASSERT_NE(begin, std::string::npos) << file.name;
    const std::string part = reference.substr(begin, reference.find("\n## ", begin) - begin);
    for (const std::string& column : file.table(results).columns) {
      const std::string row = "| `" + column + "` | ";
      const std::size_t at = std::min(part.find(row), reference.find(row));
      if (column == "period_s") continue;  // of the sample's sweep
      if (column.ends_with("_ci") && is_figure(column.substr(0, column.size() - 3))) {
        EXPECT_NE(part.find("`NAME_ci`"), std::string::npos) << column;
        continue;
      }
      ASSERT_NE(at, std::string::npos) << file.name << ": " << column;
      EXPECT_EQ(reference.find(row + " |"), std::string::npos) << file.name << ": " << column << " says nothing";
    }
  }
}

TEST(ResultsCsv, EverySeedIsInEveryFileThatIsWritten) {
  std::vector<RunResult> results = {test::sample_result("smvs", "", 0.9, 20), test::sample_result("smvs", "", 0.8, 25)};
  results.back().key.seed = 2;
  for (RunResult& run : results) {
    run.ues.resize(3);
    run.packets.resize(2);
  }
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "nodeb_seeds";
  const std::vector<std::string> written = write_results(folder, results);
  EXPECT_EQ(written, (std::vector<std::string>{"results.csv", "series.csv", "summary.csv", "ues.csv", "packets.csv"}));
  EXPECT_EQ(written_line("out", written), "Written: out/results.csv, series.csv, summary.csv, ues.csv, packets.csv\n");
  for (const char* const name : {"series.csv", "ues.csv", "packets.csv"}) {
    const CsvTable table = parse_csv(read_file(folder / name));
    std::set<std::string> seeds;
    for (const auto& row : table.rows) seeds.insert(row[*table.column("seed")]);
    EXPECT_EQ(seeds, (std::set<std::string>{"1", "2"})) << name;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sluice::emulator
