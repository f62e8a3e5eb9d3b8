#include "emulator/runtime/figures.hpp"

#include <algorithm>
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

}  // namespace

double measured_bps(const FlowRecord& flow, const RunResult& result) {
  return result.measured_s > 0 ? static_cast<double>(flow.measured) * 8 / result.measured_s : 0;
}

void add_flow_figures(RunResult& result, const FlowLog& log, Instant measured_from) {
  std::vector<double> uploads;
  std::vector<double> downloads;
  std::vector<double> throughout;  // of those that ran all the time
  for (const FlowRecord& flow : log.flows) {
    if (flow.application != "bulk") continue;
    const double rate = measured_bps(flow, result);
    (flow.upload ? uploads : downloads).push_back(rate);
    if (flow.opened <= measured_from && flow.reason == tcp::CloseReason::none) throughout.push_back(rate);
  }
  if (!uploads.empty()) {
    result.figures["upload_bps"] = sum_of(uploads);
    result.figures["download_bps"] = sum_of(downloads);
    if (mean_of(downloads) > 0) result.figures["up_down_ratio"] = mean_of(uploads) / mean_of(downloads);
  }
  if (throughout.size() < 2) return;
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
