// The HTML report of an experiment: title, answer, figures, comparison, table, notes and time series in one file. The
// commands `run`, `report` and `verify` of `nodeb` call html_report(). Invariant: all text from scenarios is escaped,
// and equal results give equal bytes.

#include "emulator/report/html_report.hpp"

#include <algorithm>
#include <set>

#include "emulator/report/answer.hpp"
#include "emulator/report/comparison_plots.hpp"
#include "emulator/report/csv.hpp"
#include "emulator/report/figure_plots.hpp"
#include "emulator/report/report_script.hpp"
#include "emulator/report/report_style.hpp"
#include "emulator/report/result_group.hpp"
#include "emulator/report/series_plots.hpp"
#include "emulator/report/svg_plot.hpp"
#include "emulator/report/text_table.hpp"

namespace sluice::emulator {
namespace {

std::string joined(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string facts(const std::vector<RunResult>& results, const std::vector<ResultGroup>& groups) {
  std::set<std::string> scenarios;
  std::set<std::string> clocks;
  std::set<std::uint64_t> seeds;
  for (const RunResult& run : results) {
    scenarios.insert(run.key.scenario);
    clocks.insert(run.key.clock);
    seeds.insert(run.key.seed);
  }
  std::string text = "Scenario " + joined(scenarios) + "; " + joined(clocks) + " time; " +
                     std::to_string(groups.size()) + (groups.size() == 1 ? " point" : " points") + ", " +
                     std::to_string(seeds.size()) + (seeds.size() == 1 ? " seed" : " seeds");
  if (!results.empty()) text += "; measured over " + format_number(results.front().measured_s) + " s";
  return "<p class=\"soft\">" + escape_html(text) + ".</p>\n";
}

std::string html_notes(const std::vector<ReportNote>& notes) {
  std::string out;
  for (const ReportNote& note : notes) {
    out += "<p><b>" + escape_html(note.kind) + ":</b> " + escape_html(note.text) + "</p>\n";
  }
  return out;
}

std::string html_table(const std::vector<std::vector<std::string>>& rows, std::size_t keys) {
  std::string out = "<div class=\"scroll\"><table>\n";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string tag = row == 0 ? "th" : "td";
    out += "<tr>";
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      out += "<" + tag + (i < keys ? " class=\"key\">" : ">") + escape_html(rows[row][i]) + "</" + tag + ">";
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

/// Returns the table of results, one row per group of runs that differ only in the seed. The table is in parts that fit
/// a window of 1280 pixels. A long table is collapsed and shown on request.
std::string html_results(const std::vector<ResultGroup>& groups, const std::vector<ExtraColumn>& extra) {
  constexpr std::size_t long_table = 24;
  // A letter of the tables is about 7.4 pixels wide, and the padding of a cell is that of three letters.
  constexpr TableWidth page{156, 3};
  const std::size_t keys = summary_key_columns(groups);
  std::string out;
  for (const auto& part : split_table(summary_rows(groups, extra), keys, page)) out += html_table(part, keys);
  if (groups.size() <= long_table) return out;
  return "<details><summary>All " + std::to_string(groups.size()) + " points</summary>\n" + out + "</details>\n";
}

/// Returns the description of the experiment. A long one is collapsed, because it would hide the results.
std::string html_description(const std::string& description) {
  constexpr std::size_t long_text = 450;
  if (description.empty()) return {};
  const std::string paragraph = "<p>" + escape_html(description) + "</p>\n";
  if (description.size() <= long_text) return paragraph;
  return "<details><summary>What was run</summary>\n" + paragraph + "</details>\n";
}

/// Returns the sentences that compare the results as HTML: the first one in large type, and the others as a list.
std::string html_answer(const Answer& answer) {
  if (answer.sentences.empty()) return {};
  std::string out = "<p class=\"answer\">" + escape_html(answer.sentences.front()) + "</p>\n";
  if (answer.sentences.size() == 1) return out;
  out += "<ul class=\"answers\">";
  for (std::size_t i = 1; i < answer.sentences.size(); ++i) out += "<li>" + escape_html(answer.sentences[i]) + "</li>";
  return out + "</ul>\n";
}

std::string cell(const std::string& text, bool key = false) {
  return (key ? "<td class=\"key\">" : "<td>") + escape_html(text) + "</td>";
}

/// Returns a table of the flows in the radio queues. It shows the first seed of each combination of mode and swept
/// values, and at most 40 flows per run.
std::string queue_tables(const std::vector<ResultGroup>& groups) {
  constexpr std::size_t most = 40;
  std::string rows;
  for (const ResultGroup& group : groups) {
    const RunResult& run = group.mean;
    std::string label = run.key.mode;
    for (const auto& [column, value] : run.key.swept) label += ", " + column + " " + value;
    for (std::size_t i = 0; i < std::min(run.queues.size(), most); ++i) {
      const QueueRow& row = run.queues[i];
      rows += "<tr>" + cell(label, true) + cell(row.ue + " port " + std::to_string(row.ue_port), true) +
              cell(row.source, true) + cell(std::to_string(row.packets)) + cell(std::to_string(row.dropped_packets)) +
              cell(format_number(row.queue_mean_bytes)) +
              cell(format_number(row.delay.p50_ms) + " / " + format_number(row.delay.p95_ms) + " / " +
                   format_number(row.delay.p99_ms)) +
              "</tr>\n";
    }
  }
  if (rows.empty()) return rows;
  return "<h2>Flows in the radio queues</h2>\n<div class=\"scroll\"><table>\n<tr><th class=\"key\">run</th>"
         "<th class=\"key\">UE</th><th class=\"key\">from</th><th>packets</th><th>drops</th><th>queue, mean bytes"
         "</th><th>delay ms</th></tr>\n" +
         rows + "</table></div>\n";
}

constexpr const char* definitions =
    "<p class=\"soft\">Delays are queueing delays in milliseconds, p50 / p95 / p99: the time between two points minus "
    "the propagation delay of the hops between them. Radio queue: from entering the Node-B's queue to the last byte on "
    "the air. Proxy→UE and server→UE: from the first transmission of a segment by the proxy or the server to its "
    "arrival at the UE, loss recovery included. Goodput is the share of the attainable TCP and UDP payload that "
    "reached the UEs, downloads only. Link use is the share of the radio capacity that was used, retransmissions "
    "included. Rexmit counts segments sent towards the UE more than once. Fetch times are p50 / p95.</p>\n";

}  // namespace

std::string notes_text(const std::vector<ReportNote>& notes) {
  std::string out;
  for (const ReportNote& note : notes) out += note.kind + ": " + note.text + '\n';
  return out;
}

std::string html_report(const ReportTitle& title, const std::vector<RunResult>& results) {
  const std::vector<ResultGroup> groups = group_by_point(results);
  const ModeColours colours(groups);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  out += escape_html(title.title) + "</title>\n<style>" + std::string(report_style) + "</style>\n</head>\n<body>\n";
  out += "<h1>" + escape_html(title.title) + "</h1>\n";
  const Answer answer = answer_of(groups, title.ratio);
  out += html_answer(answer) + facts(results, groups);
  out += html_description(title.description);
  const std::string figures = figure_plots(groups, colours, title.plots);
  const std::string comparison = comparison_plots(groups, colours, title.extra, answer.columns);
  const std::string over_time = series_plots(groups, colours, title.over_time);
  out += figures;
  if (title.over_time.first) out += over_time;
  out += figures.empty() && !title.over_time.first
             ? "<h2>Comparison</h2>\n" + comparison
             : "<details><summary>All runs compared</summary>\n" + comparison + "</details>\n";
  out += "<h2>Results</h2>\n" + html_results(groups, title.extra) + html_notes(title.notes) + definitions;
  out += queue_tables(groups);
  if (!title.over_time.first) out += over_time;
  out += "<script>" + std::string(report_script) + "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace sluice::emulator
