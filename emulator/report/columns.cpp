#include "emulator/report/columns.hpp"

#include <algorithm>
#include <iterator>

namespace sluice::emulator {

const std::vector<Column<RunResult>>& measured_columns() {
  static const std::vector<Column<RunResult>> columns = [] {
    std::vector<Column<RunResult>> list;
    list.push_back(number("measured_s", &RunResult::measured_s));
    list.push_back(number("utilisation", &RunResult::utilisation));
    list.push_back(number("throughput_bps", &RunResult::throughput_bps));
    add_delay(list, "radio_queue_delay", &RunResult::radio_queue_delay);
    add_delay(list, "proxy_to_ue_delay", &RunResult::proxy_to_ue_delay);
    add_delay(list, "server_to_ue_delay", &RunResult::server_to_ue_delay);
    list.push_back(number("queue_mean_frames", &RunResult::queue_mean_frames));
    list.push_back(number("queue_stddev_frames", &RunResult::queue_stddev_frames));
    list.push_back(number("queue_empty", &RunResult::queue_empty));
    list.push_back(count("drops", &RunResult::drops));
    list.push_back(count("retransmissions", &RunResult::retransmissions));
    list.push_back(count("server_retransmissions", &RunResult::server_retransmissions));
    list.push_back(number("jain", &RunResult::jain));
    list.push_back(count("fetches", &RunResult::fetches));
    list.push_back(maybe("fetch_p50_ms", &RunResult::fetch_p50_ms));
    list.push_back(maybe("fetch_p95_ms", &RunResult::fetch_p95_ms));
    return list;
  }();
  return columns;
}

bool is_figure(std::string_view column) {
  return std::any_of(figure_table.begin(), figure_table.end(),
                     [&](const ColumnText& figure) { return figure.name == column; });
}

bool is_result_column(std::string_view column) {
  const auto& measured = measured_columns();
  return is_figure(column) ||
         std::find(std::begin(counter_table), std::end(counter_table), column) != std::end(counter_table) ||
         std::any_of(measured.begin(), measured.end(), [&](const auto& known) { return known.name == column; });
}

std::optional<double> column_value(const RunResult& result, std::string_view column) {
  const std::string name(column);
  if (const auto figure = result.figures.find(name); figure != result.figures.end()) return figure->second;
  if (const auto counter = result.counters.find(name); counter != result.counters.end()) {
    return static_cast<double>(counter->second);
  }
  for (const Column<RunResult>& known : measured_columns()) {
    if (known.name == column) return parse_number(known.write(result));
  }
  return std::nullopt;
}

}  // namespace sluice::emulator
