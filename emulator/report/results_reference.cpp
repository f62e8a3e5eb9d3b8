#include <string>
#include <vector>

#include "emulator/report/columns.hpp"
#include "emulator/report/results_csv.hpp"
#include "emulator/report/row_columns.hpp"

namespace sluice::emulator {
namespace {

std::string line(std::string_view column, std::string_view text) {
  return "| `" + std::string(column) + "` | " + std::string(text) + " |\n";
}

template <typename Row>
std::string lines(const std::vector<Column<Row>>& columns) {
  std::string text;
  for (const Column<Row>& column : columns) text += line(column.name, column.text);
  return text;
}

template <std::size_t N>
std::string lines(const std::array<ColumnText, N>& columns) {
  std::string text;
  for (const ColumnText& column : columns) text += line(column.name, column.text);
  return text;
}

std::string table(const std::string& rows) {
  return "| column | meaning |\n| --- | --- |\n" + rows + "\n";
}

std::string columns_of_results() {
  return table(lines(measured_columns())) + "Figures, if a run has them:\n\n" + table(lines(figure_table)) +
         "Counters, if a run has them:\n\n" + table(lines(counter_table)) + "With `" + std::string(paper_prefix) +
         "` before its name a column contains the value of a paper, with `" + std::string(ratio_prefix) +
         "` its value divided by that of another run (output.ratio).\n\n";
}

std::string columns_of_summary() {
  std::string rows = line("seeds", "number of seeds, in the place of column `seed`");
  for (const SummaryColumn& column : summary_table_columns()) rows += line(column.name, column.text);
  return table(rows) +
         "Then the figures that the runs have, each with half of its 95 % confidence interval (`NAME_ci`).\n\n";
}

std::string columns_of(std::string_view file) {
  if (file == "results.csv") return columns_of_results();
  if (file == "series.csv") return table(lines(point_columns()));
  if (file == "summary.csv") return columns_of_summary();
  if (file == "ues.csv") return table(lines(ue_columns()));
  if (file == "flows.csv") return table(lines(flow_columns()));
  if (file == "packets.csv") return table(lines(packet_columns()));
  if (file == "windows.csv") return table(lines(window_columns()));
  if (file == "drops.csv") return table(lines(drop_columns()));
  return table(lines(queue_columns()));
}

}  // namespace

std::string results_reference() {
  std::string text =
      "# Results of `nodeb`\n\nWritten by `nodeb --help-results`. Units are in the names of columns: `_bps` bits, "
      "`_bytes` "
      "bytes, `_ms`, `_us`, `_s` time. An empty cell: the run has no such value.\n\n## Columns of every file\n\n" +
      table(lines(key_table)) + "Columns of sweeps stand between `mode` and `seed`.\n\n";
  for (const ResultFile& file : result_files) {
    text += "## `" + std::string(file.name) + "`\n\nA row: " + file.row + ".\n\n" + columns_of(file.name);
  }
  return text;
}

}  // namespace sluice::emulator
