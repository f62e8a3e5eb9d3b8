// Result files of an experiment: builds the tables from runs, writes them, and reads results and series back. The
// commands of `nodeb` call write_results() and read_results(). Invariant: a table's columns are the keys, then a column
// list that writes and reads each cell.

#include "emulator/report/results_csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "emulator/report/columns.hpp"
#include "emulator/report/result_group.hpp"
#include "emulator/report/row_columns.hpp"

namespace sluice::emulator {
namespace {

/// Returns the swept columns of all runs, in order of first appearance.
std::vector<std::string> swept_columns(const std::vector<RunResult>& results) {
  std::vector<std::string> columns;
  for (const RunResult& result : results) {
    for (const auto& [column, value] : result.key.swept) {
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    }
  }
  return columns;
}

std::vector<std::string> key_columns(const std::vector<std::string>& swept) {
  std::vector<std::string> columns;
  for (std::size_t i = 0; i + 1 < key_table.size(); ++i) columns.emplace_back(key_table[i].name);
  columns.insert(columns.end(), swept.begin(), swept.end());
  columns.emplace_back(key_table.back().name);
  return columns;
}

std::vector<std::string> key_cells(const RunKey& key, const std::vector<std::string>& swept) {
  std::vector<std::string> cells = {key.scenario, key.clock, key.mode};
  for (const std::string& column : swept) {
    const auto at =
        std::find_if(key.swept.begin(), key.swept.end(), [&](const auto& pair) { return pair.first == column; });
    cells.push_back(at == key.swept.end() ? std::string() : at->second);
  }
  cells.push_back(std::to_string(key.seed));
  return cells;
}

/// Returns a table with one row for each element of a list in the results. The key columns come first.
template <typename Row>
CsvTable table_of(const std::vector<RunResult>& results, std::vector<Row> RunResult::*rows,
                  const std::vector<Column<Row>>& columns) {
  const std::vector<std::string> swept = swept_columns(results);
  CsvTable table;
  table.columns = key_columns(swept);
  for (const Column<Row>& column : columns) table.columns.push_back(column.name);
  for (const RunResult& result : results) {
    for (const Row& row : result.*rows) {
      std::vector<std::string> cells = key_cells(result.key, swept);
      for (const Column<Row>& column : columns) cells.push_back(column.write(row));
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

std::size_t need(const CsvTable& table, const std::string& name) {
  const std::optional<std::size_t> at = table.column(name);
  if (!at) throw std::runtime_error("the column " + name + " is missing");
  return *at;
}

double number_in(const CsvTable& table, std::size_t row, std::size_t column) {
  const std::optional<double> value = parse_number(table.rows[row][column]);
  if (!value) {
    throw std::runtime_error("line " + std::to_string(row + 2) + ": " + table.columns[column] +
                             " is not a number: " + table.rows[row][column]);
  }
  return *value;
}

RunKey key_of(const CsvTable& table, std::size_t row) {
  const std::size_t mode = need(table, "mode");
  const std::size_t seed = need(table, "seed");
  RunKey key;
  key.scenario = table.rows[row][need(table, "scenario")];
  key.clock = table.rows[row][need(table, "clock")];
  key.mode = table.rows[row][mode];
  key.seed = static_cast<std::uint64_t>(std::max(0.0, number_in(table, row, seed)));
  for (std::size_t i = mode + 1; i < seed; ++i) {
    if (!table.rows[row][i].empty()) key.swept.emplace_back(table.columns[i], table.rows[row][i]);
  }
  return key;
}

template <typename Row>
void read_cells(const CsvTable& table, std::size_t row, const std::vector<Column<Row>>& columns, Row& into) {
  for (const Column<Row>& column : columns) {
    const std::size_t at = need(table, column.name);
    if (!table.rows[row][at].empty()) column.read(into, number_in(table, row, at));
  }
}

/// Returns the keys of the map `member` that occur in at least one run.
template <typename Value>
std::set<std::string> names_in(const std::vector<RunResult>& results, std::map<std::string, Value> RunResult::*member) {
  std::set<std::string> names;
  for (const RunResult& result : results) {
    for (const auto& [name, value] : result.*member) names.insert(name);
  }
  return names;
}

std::string cell_in(const std::map<std::string, double>& values, const std::string& name) {
  const auto at = values.find(name);
  return at == values.end() ? std::string() : format_number(at->second);
}

/// Stores `value` in the member of `run` to which `column` belongs: a paper's value, a figure (a result column that
/// only some runs have) or a counter.
void read_further(RunResult& run, const std::string& column, double value) {
  if (column.starts_with(paper_prefix)) {
    run.paper[column.substr(paper_prefix.size())] = value;
  } else if (is_figure(column)) {
    run.figures[column] = value;
  } else {
    run.counters[column] = static_cast<std::uint64_t>(std::max(0.0, value));
  }
}

std::string identity(const RunKey& key) {
  std::string text = key.scenario + '\n' + key.clock + '\n' + key.mode + '\n' + std::to_string(key.seed);
  for (const auto& [column, value] : key.swept) text += '\n' + column + '=' + value;
  return text;
}

}  // namespace

CsvTable results_table(const std::vector<RunResult>& results) {
  const std::vector<std::string> swept = swept_columns(results);
  const std::set<std::string> counters = names_in(results, &RunResult::counters);
  const std::set<std::string> figures = names_in(results, &RunResult::figures);
  const std::set<std::string> paper = names_in(results, &RunResult::paper);
  CsvTable table;
  table.columns = key_columns(swept);
  for (const Column<RunResult>& column : measured_columns()) table.columns.push_back(column.name);
  table.columns.insert(table.columns.end(), counters.begin(), counters.end());
  table.columns.insert(table.columns.end(), figures.begin(), figures.end());
  for (const std::string& name : paper) table.columns.push_back(std::string(paper_prefix) + name);
  for (const RunResult& result : results) {
    std::vector<std::string> cells = key_cells(result.key, swept);
    for (const Column<RunResult>& column : measured_columns()) cells.push_back(column.write(result));
    for (const std::string& name : counters) {
      const auto at = result.counters.find(name);
      cells.push_back(at == result.counters.end() ? std::string() : std::to_string(at->second));
    }
    for (const std::string& name : figures) cells.push_back(cell_in(result.figures, name));
    for (const std::string& name : paper) cells.push_back(cell_in(result.paper, name));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

CsvTable series_table(const std::vector<RunResult>& results) {
  return table_of(results, &RunResult::series, point_columns());
}

CsvTable ues_table(const std::vector<RunResult>& results) {
  return table_of(results, &RunResult::ues, ue_columns());
}

CsvTable flows_table(const std::vector<RunResult>& results) {
  return table_of(results, &RunResult::flows, flow_columns());
}

CsvTable packets_table(const std::vector<RunResult>& results) {
  return table_of(results, &RunResult::packets, packet_columns());
}

CsvTable queues_table(const std::vector<RunResult>& results) {
  return table_of(results, &RunResult::queues, queue_columns());
}

CsvTable windows_table(const std::vector<RunResult>& results) {
  return table_of(results, &RunResult::windows, window_columns());
}

CsvTable drops_table(const std::vector<RunResult>& results) {
  return table_of(results, &RunResult::dropped, drop_columns());
}

const std::vector<SummaryColumn>& summary_table_columns() {
  static const std::vector<SummaryColumn> columns = {
      {"goodput", "mean over the seeds", [](const ResultGroup& g) { return g.mean.goodput; }},
      {"goodput_ci", "half of the 95 % confidence interval of the mean",
       [](const ResultGroup& g) { return g.goodput_ci; }},
      {"utilisation", "mean over the seeds", [](const ResultGroup& g) { return g.mean.utilisation; }},
      {"utilisation_ci", "half of the 95 % confidence interval of the mean",
       [](const ResultGroup& g) { return g.utilisation_ci; }},
      {"throughput_bps", "mean over the seeds", [](const ResultGroup& g) { return g.mean.throughput_bps; }},
      {"throughput_ci_bps", "half of the 95 % confidence interval of the mean",
       [](const ResultGroup& g) { return g.throughput_ci_bps; }},
      {"radio_queue_delay_p95_ms", "mean over the seeds",
       [](const ResultGroup& g) { return g.mean.radio_queue_delay.p95_ms; }},
      {"radio_queue_delay_p95_ci_ms", "half of the 95 % confidence interval of the mean",
       [](const ResultGroup& g) { return g.radio_p95_ci_ms; }},
      {"server_to_ue_delay_p95_ms", "mean over the seeds",
       [](const ResultGroup& g) { return g.mean.server_to_ue_delay.p95_ms; }},
      {"server_to_ue_delay_p95_ci_ms", "half of the 95 % confidence interval of the mean",
       [](const ResultGroup& g) { return g.server_to_ue_p95_ci_ms; }}};
  return columns;
}

CsvTable summary_table(const std::vector<RunResult>& results) {
  const std::vector<std::string> swept = swept_columns(results);
  CsvTable table;
  table.columns = key_columns(swept);
  table.columns.back() = "seeds";
  for (const SummaryColumn& column : summary_table_columns()) table.columns.emplace_back(column.name);
  const std::set<std::string> figures = names_in(results, &RunResult::figures);
  for (const std::string& name : figures) table.columns.insert(table.columns.end(), {name, name + "_ci"});
  for (const ResultGroup& group : group_by_point(results)) {
    std::vector<std::string> cells = key_cells(group.mean.key, swept);
    cells.back() = std::to_string(group.seeds);
    for (const SummaryColumn& column : summary_table_columns()) cells.push_back(format_number(column.value(group)));
    for (const std::string& name : figures) {
      cells.push_back(cell_in(group.mean.figures, name));
      cells.push_back(cell_in(group.ci, name));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<RunResult> results_from(const CsvTable& results, const CsvTable& series) {
  std::vector<RunResult> runs;
  std::map<std::string, std::size_t> known;
  const std::size_t last_measured = need(results, measured_columns().back().name);
  for (std::size_t row = 0; row < results.rows.size(); ++row) {
    RunResult run;
    run.key = key_of(results, row);
    read_cells(results, row, measured_columns(), run);
    for (std::size_t i = last_measured + 1; i < results.columns.size(); ++i) {
      if (results.rows[row][i].empty()) continue;
      read_further(run, results.columns[i], number_in(results, row, i));
    }
    known.emplace(identity(run.key), runs.size());
    runs.push_back(std::move(run));
  }
  for (std::size_t row = 0; row < series.rows.size(); ++row) {
    const auto at = known.find(identity(key_of(series, row)));
    if (at == known.end()) throw std::runtime_error("line " + std::to_string(row + 2) + " of the series has no result");
    SeriesPoint point;
    read_cells(series, row, point_columns(), point);
    runs[at->second].series.push_back(point);
  }
  return runs;
}

std::vector<std::string> write_results(const std::filesystem::path& directory, const std::vector<RunResult>& results) {
  std::vector<std::string> written;
  const bool several_seeds = std::any_of(
      results.begin(), results.end(), [&](const RunResult& run) { return run.key.seed != results.front().key.seed; });
  for (const ResultFile& file : result_files) {
    if (file.table == summary_table && !several_seeds) continue;
    const CsvTable table = file.table(results);
    if (!file.always && table.rows.empty()) continue;
    write_file(directory / file.name, format_csv(table));
    written.emplace_back(file.name);
  }
  return written;
}

std::string written_line(const std::string& directory, const std::vector<std::string>& files) {
  std::string line = "Written: " + directory + "/";
  for (const std::string& file : files) line += (&file == &files.front() ? "" : ", ") + file;
  return line + "\n";
}

std::vector<RunResult> read_results(const std::filesystem::path& directory) {
  const std::string results = read_file(directory / "results.csv");
  const std::string series = read_file(directory / "series.csv");
  try {
    return results_from(parse_csv(results), parse_csv(series));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error((directory / "results.csv").string() + ": " + error.what());
  }
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(path.string() + ": cannot be written");
}

std::string read_file(const std::filesystem::path& path, std::size_t limit) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + ": cannot be read");
  std::string text;
  std::array<char, 65536> block{};
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > limit)
      throw std::runtime_error(path.string() + ": is longer than " + std::to_string(limit) + " bytes");
  }
  return text;
}

}  // namespace sluice::emulator
