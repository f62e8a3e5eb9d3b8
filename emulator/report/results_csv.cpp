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

namespace sluice::emulator {
namespace {

const std::vector<Column<SeriesPoint>>& point_columns() {
  static const std::vector<Column<SeriesPoint>> columns = {
      number("time_s", &SeriesPoint::time_s),
      number("link_rate_bps", &SeriesPoint::link_rate_bps),
      number("link_used_bps", &SeriesPoint::link_used_bps),
      number("throughput_bps", &SeriesPoint::throughput_bps),
      number("outstanding_bytes", &SeriesPoint::outstanding_bytes),
      maybe("allowance_bps", &SeriesPoint::allowance_bps),
      number("queue_bytes", &SeriesPoint::queue_bytes),
      number("queue_frames", &SeriesPoint::queue_frames),
      maybe("reference_bytes", &SeriesPoint::reference_bytes),
      number("radio_queue_delay_ms", &SeriesPoint::radio_queue_delay_ms),
      number("proxy_to_ue_delay_ms", &SeriesPoint::proxy_to_ue_delay_ms),
      number("server_to_ue_delay_ms", &SeriesPoint::server_to_ue_delay_ms),
      count("drops", &SeriesPoint::drops),
      count("retransmissions", &SeriesPoint::retransmissions)};
  return columns;
}

template <typename Row>
Column<Row> text(std::string name, std::string Row::*member) {
  return {std::move(name), [member](const Row& row) { return row.*member; }, {}};
}

const std::vector<Column<UePoint>>& ue_columns() {
  static const std::vector<Column<UePoint>> columns = {number("time_s", &UePoint::time_s),
                                                       text("ue", &UePoint::ue),
                                                       text("state", &UePoint::state),
                                                       number("link_rate_bps", &UePoint::link_rate_bps),
                                                       number("link_used_bps", &UePoint::link_used_bps),
                                                       number("airtime", &UePoint::airtime),
                                                       number("queue_bytes", &UePoint::queue_bytes),
                                                       number("queue_mean_bytes", &UePoint::queue_mean_bytes),
                                                       count("arrived_bytes", &UePoint::arrived_bytes),
                                                       count("transmitted_bytes", &UePoint::transmitted_bytes),
                                                       count("delivered_bytes", &UePoint::delivered_bytes),
                                                       count("dropped_bytes", &UePoint::dropped_bytes),
                                                       count("dropped_packets", &UePoint::dropped_packets),
                                                       count("lost_packets", &UePoint::lost_packets),
                                                       count("forwarded_bytes", &UePoint::forwarded_bytes),
                                                       text("nodeb", &UePoint::nodeb)};
  return columns;
}

const std::vector<Column<FlowRow>>& flow_columns() {
  static const std::vector<Column<FlowRow>> columns = {
      text("application", &FlowRow::application),
      text("ue", &FlowRow::ue),
      {"ue_port", [](const FlowRow& row) { return std::to_string(row.ue_port); }, {}},
      text("direction", &FlowRow::direction),
      number("opened_s", &FlowRow::opened_s),
      maybe("handshake_ms", &FlowRow::handshake_ms),
      number("completion_ms", &FlowRow::completion_ms),
      count("bytes", &FlowRow::bytes),
      number("throughput_bps", &FlowRow::throughput_bps),
      number("measured_bps", &FlowRow::measured_bps),
      count("ue_retransmissions", &FlowRow::ue_retransmissions),
      count("server_retransmissions", &FlowRow::server_retransmissions),
      count("ue_timeouts", &FlowRow::ue_timeouts),
      count("server_timeouts", &FlowRow::server_timeouts),
      number("ue_srtt_ms", &FlowRow::ue_srtt_ms),
      number("server_srtt_ms", &FlowRow::server_srtt_ms),
      text("ended", &FlowRow::ended)};
  return columns;
}

const std::vector<Column<PacketRow>>& packet_columns() {
  static const std::vector<Column<PacketRow>> columns = {
      number("time_s", &PacketRow::time_s),
      text("ue", &PacketRow::ue),
      text("event", &PacketRow::event),
      {"bytes", [](const PacketRow& row) { return std::to_string(row.bytes); }, {}},
      number("queueing_ms", &PacketRow::queueing_ms)};
  return columns;
}

const std::vector<Column<QueueRow>>& queue_columns() {
  static const std::vector<Column<QueueRow>> columns = [] {
    std::vector<Column<QueueRow>> list = {
        text("ue", &QueueRow::ue),
        text("source", &QueueRow::source),
        {"source_port", [](const QueueRow& row) { return std::to_string(row.source_port); }, {}},
        {"ue_port", [](const QueueRow& row) { return std::to_string(row.ue_port); }, {}},
        count("packets", &QueueRow::packets),
        count("bytes", &QueueRow::bytes),
        count("dropped_packets", &QueueRow::dropped_packets),
        count("dropped_bytes", &QueueRow::dropped_bytes),
        number("queue_mean_bytes", &QueueRow::queue_mean_bytes)};
    add_delay(list, "delay", &QueueRow::delay);
    return list;
  }();
  return columns;
}

/// The columns that sweeps of any of the runs brought, in order of first appearance.
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
  std::vector<std::string> columns = {"scenario", "clock", "mode"};
  columns.insert(columns.end(), swept.begin(), swept.end());
  columns.emplace_back("seed");
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

/// One row for each of what a member of the results holds, keys first.
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

/// The names under which any of the runs has something.
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

/// A column behind the measured ones.
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

CsvTable summary_table(const std::vector<RunResult>& results) {
  const std::vector<std::string> swept = swept_columns(results);
  CsvTable table;
  table.columns = key_columns(swept);
  table.columns.back() = "seeds";
  for (const char* name :
       {"utilisation", "utilisation_ci", "throughput_bps", "throughput_ci_bps", "radio_queue_delay_p95_ms",
        "radio_queue_delay_p95_ci_ms", "server_to_ue_delay_p95_ms", "server_to_ue_delay_p95_ci_ms"}) {
    table.columns.emplace_back(name);
  }
  for (const ResultGroup& group : group_by_point(results)) {
    std::vector<std::string> cells = key_cells(group.mean.key, swept);
    cells.back() = std::to_string(group.seeds);
    for (const double value : {group.mean.utilisation, group.utilisation_ci, group.mean.throughput_bps,
                               group.throughput_ci_bps, group.mean.radio_queue_delay.p95_ms, group.radio_p95_ci_ms,
                               group.mean.server_to_ue_delay.p95_ms, group.server_to_ue_p95_ci_ms}) {
      cells.push_back(format_number(value));
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

void write_results(const std::filesystem::path& directory, const std::vector<RunResult>& results) {
  write_file(directory / "results.csv", format_csv(results_table(results)));
  write_file(directory / "series.csv", format_csv(series_table(results)));
  if (std::any_of(results.begin(), results.end(),
                  [&](const RunResult& run) { return run.key.seed != results.front().key.seed; })) {
    write_file(directory / "summary.csv", format_csv(summary_table(results)));
  }
  const auto asked = [&](const char* name, const CsvTable& table) {
    if (!table.rows.empty()) write_file(directory / name, format_csv(table));
  };
  asked("ues.csv", ues_table(results));
  asked("flows.csv", flows_table(results));
  asked("packets.csv", packets_table(results));
  asked("queues.csv", queues_table(results));
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
