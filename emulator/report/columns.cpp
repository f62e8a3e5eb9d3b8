#include "emulator/report/columns.hpp"

#include <algorithm>

namespace sluice::emulator {

const std::vector<Column<RunResult>>& measured_columns() {
  static const std::vector<Column<RunResult>> columns = [] {
    std::vector<Column<RunResult>> list;
    list.push_back(number("measured_s", &RunResult::measured_s, "time after the warm-up"));
    list.push_back(number("goodput", &RunResult::goodput,
                          "TCP and UDP payload that reached the UEs for the first time, divided by the attainable "
                          "payload: radio capacity minus headers of packets of the hosts' MTU; downloads only"));
    list.push_back(number("utilisation", &RunResult::utilisation,
                          "bytes that the radio carried divided by its capacity; retransmissions count"));
    list.push_back(number("throughput_bps", &RunResult::throughput_bps,
                          "TCP payload that the UEs acknowledged, and UDP payload that reached them"));
    add_delay(list, "radio_queue_delay", &RunResult::radio_queue_delay,
              "the time from entering the radio queue to the last byte on the air");
    add_delay(list, "proxy_to_ue_delay", &RunResult::proxy_to_ue_delay,
              "the queueing delay between proxy and UE, without propagation");
    add_delay(list, "server_to_ue_delay", &RunResult::server_to_ue_delay,
              "the queueing delay between server and UE, without propagation");
    list.push_back(number("queue_mean_frames", &RunResult::queue_mean_frames,
                          "mean of the radio queues over time, in radio frames"));
    list.push_back(number("queue_stddev_frames", &RunResult::queue_stddev_frames,
                          "standard deviation of the radio queues over time, in radio frames"));
    list.push_back(
        number("queue_empty", &RunResult::queue_empty, "share of the time in which the radio queue was empty"));
    list.push_back(count("drops", &RunResult::drops,
                         "packets that radio queues rejected or dropped early, or that were lost on the air"));
    list.push_back(count("retransmissions", &RunResult::retransmissions,
                         "segments sent towards the UEs more than once, by the sender on the radio leg"));
    list.push_back(count("server_retransmissions", &RunResult::server_retransmissions,
                         "segments that the servers sent more than once"));
    list.push_back(number("jain", &RunResult::jain, "Jain's index of the UEs' throughputs: 1/n … 1"));
    list.push_back(count("fetches", &RunResult::fetches, "objects that request and web applications fetched"));
    list.push_back(maybe("fetch_p50_ms", &RunResult::fetch_p50_ms, "time to fetch an object, median"));
    list.push_back(maybe("fetch_p95_ms", &RunResult::fetch_p95_ms, "time to fetch an object, 95th percentile"));
    return list;
  }();
  return columns;
}

bool is_figure(std::string_view column) {
  if (column.starts_with(ratio_prefix)) return is_result_column(column.substr(ratio_prefix.size()));
  return std::any_of(figure_table.begin(), figure_table.end(),
                     [&](const ColumnText& figure) { return figure.name == column; });
}

bool is_result_column(std::string_view column) {
  const auto& measured = measured_columns();
  return is_figure(column) ||
         std::any_of(counter_table.begin(), counter_table.end(),
                     [&](const ColumnText& counter) { return counter.name == column; }) ||
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
