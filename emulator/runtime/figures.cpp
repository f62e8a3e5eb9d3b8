#include "emulator/runtime/figures.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace sluice::emulator {
namespace {

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : sum_of(values) / static_cast<double>(values.size());
}

/// Each of the long transfers that ran all the time, and what a file would take at their rates.
void add_single_flows(RunResult& result, const std::vector<double>& throughout) {
  constexpr std::size_t named = 4;
  constexpr double megabyte = 8e6;  // bits
  std::vector<double> times;
  for (std::size_t i = 0; i < throughout.size(); ++i) {
    if (i < named) result.figures["flow_" + std::to_string(i + 1) + "_bps"] = throughout[i];
    if (throughout[i] > 0) times.push_back(megabyte / throughout[i]);
  }
  result.figures["fetch_1mb_s"] = mean_of(times);
}

}  // namespace

double measured_bps(const FlowRecord& flow, const RunResult& result) {
  return result.measured_s > 0 ? static_cast<double>(flow.measured) * 8 / result.measured_s : 0;
}

/// The flows that came and went, by size.
void add_fetch_figures(RunResult& result, const FlowLog& log, Instant measured_from, const IpAddress* first_ue) {
  constexpr std::uint64_t short_limit = 15'000;
  constexpr std::uint64_t medium_limit = 200'000;
  std::map<std::string, std::vector<double>> times;
  for (const FlowRecord& flow : log.flows) {
    if (flow.application != "flows" || flow.reason == tcp::CloseReason::none || flow.opened < measured_from) continue;
    const double time = to_milliseconds(flow.finished - flow.opened);
    if (flow.bytes < short_limit && first_ue != nullptr && flow.ends.ue == *first_ue) {
      times["first_ue_short_fetch_ms"].push_back(time);
    }
    const char* const size = flow.bytes < short_limit     ? "short_fetch_ms"
                             : flow.bytes <= medium_limit ? "medium_fetch_ms"
                                                          : "long_fetch_ms";
    times[size].push_back(time);
  }
  for (const auto& [figure, list] : times) result.figures[figure] = mean_of(list);
  if (log.fetch_times.count() == 0) return;
  result.figures["fetch_mean_ms"] = to_milliseconds(log.fetch_times.mean());
  result.figures["fetch_max_ms"] = to_milliseconds(log.fetch_times.max());
}

void add_flow_figures(RunResult& result, const FlowLog& log, Instant measured_from) {
  std::vector<double> uploads;
  std::vector<double> downloads;
  std::vector<double> throughout;  // of those that ran all the time
  for (const FlowRecord& flow : log.flows) {
    if (flow.application != "bulk") continue;
    const double rate = measured_bps(flow, result);
    (flow.upload ? uploads : downloads).push_back(rate);
    if (flow.opened > measured_from || flow.reason != tcp::CloseReason::none) continue;
    if (throughout.empty() && flow.spread.variation()) result.figures["flow_1_variation"] = *flow.spread.variation();
    throughout.push_back(rate);
  }
  if (!uploads.empty()) {
    result.figures["upload_bps"] = sum_of(uploads);
    result.figures["download_bps"] = sum_of(downloads);
    if (mean_of(downloads) > 0) result.figures["up_down_ratio"] = mean_of(uploads) / mean_of(downloads);
  }
  if (throughout.size() < 2) return;
  add_single_flows(result, throughout);
  result.figures["flow_jain"] = jain_index(throughout);
  result.figures["flow_min_bps"] = *std::min_element(throughout.begin(), throughout.end());
  result.figures["flow_max_bps"] = *std::max_element(throughout.begin(), throughout.end());
}

void add_queue_figures(RunResult& result, const Scenario& scenario) {
  const double interval = to_seconds(scenario.interval);
  const auto window = static_cast<std::size_t>(std::max(1.0, 1.0 / interval));
  double queue = 0;
  double reference = 0;
  for (std::size_t i = 0; i < result.series.size(); ++i) {
    if (!result.series[i].reference_bytes) return;
    queue += result.series[i].queue_bytes;
    reference += *result.series[i].reference_bytes;
    if (i >= window) {
      queue -= result.series[i - window].queue_bytes;
      reference -= *result.series[i - window].reference_bytes;
    }
    if (i + 1 < window || reference <= 0) continue;
    if (queue < 0.8 * reference || queue > 1.2 * reference) continue;
    result.figures["settle_s"] = result.series[i].time_s;
    return;
  }
}

}  // namespace sluice::emulator
