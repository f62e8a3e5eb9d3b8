// Groups the runs of one point over their seeds: means and confidence intervals. The report and summary.csv use it.
// Invariant: group order and content depend on the results only, with groups in order of first appearance.

#include "emulator/report/result_group.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "emulator/report/columns.hpp"

namespace sluice::emulator {
namespace {

void add(DelaySummary& sum, const DelaySummary& more) {
  sum.count += more.count;
  if (more.count == 0) return;
  sum.p50_ms += more.p50_ms;
  sum.p95_ms += more.p95_ms;
  sum.p99_ms += more.p99_ms;
  sum.mean_ms += more.mean_ms;
  sum.max_ms = std::max(sum.max_ms, more.max_ms);
}

void divide(DelaySummary& sum, double by) {
  sum.p50_ms /= by;
  sum.p95_ms /= by;
  sum.p99_ms /= by;
  sum.mean_ms /= by;
}

void add(std::optional<double>& sum, const std::optional<double>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

std::uint64_t rounded(double value) {
  return static_cast<std::uint64_t>(std::llround(value));
}

void add(ResultGroup& group, const RunResult& run) {
  RunResult& sum = group.mean;
  group.utilisation_min = std::min(group.utilisation_min, run.utilisation);
  group.utilisation_max = std::max(group.utilisation_max, run.utilisation);
  ++group.seeds;
  sum.measured_s += run.measured_s;
  sum.goodput += run.goodput;
  sum.utilisation += run.utilisation;
  sum.throughput_bps += run.throughput_bps;
  add(sum.radio_queue_delay, run.radio_queue_delay);
  add(sum.proxy_to_ue_delay, run.proxy_to_ue_delay);
  add(sum.server_to_ue_delay, run.server_to_ue_delay);
  sum.queue_mean_frames += run.queue_mean_frames;
  sum.queue_stddev_frames += run.queue_stddev_frames;
  sum.queue_empty += run.queue_empty;
  sum.drops += run.drops;
  sum.retransmissions += run.retransmissions;
  sum.server_retransmissions += run.server_retransmissions;
  sum.jain += run.jain;
  sum.fetches += run.fetches;
  add(sum.fetch_p50_ms, run.fetch_p50_ms);
  add(sum.fetch_p95_ms, run.fetch_p95_ms);
  for (const auto& [name, value] : run.counters) sum.counters[name] += value;
}

/// Adds the confidence interval of each column over the seeds. Adds the mean of each figure (a result column that only
/// some runs have) over the seeds that have it.
void add_figures(ResultGroup& group, const std::vector<const RunResult*>& runs) {
  std::map<std::string, std::vector<double>> values;
  for (const RunResult* run : runs) {
    for (const auto& [name, value] : run->figures) values[name].push_back(value);
    for (const auto& [name, value] : run->counters) values[name].push_back(static_cast<double>(value));
    for (const Column<RunResult>& column : measured_columns()) {
      if (const std::optional<double> value = parse_number(column.write(*run))) values[column.name].push_back(*value);
    }
  }
  for (const auto& [name, list] : values) {
    group.ci[name] = confidence_interval(list);
    if (!is_figure(name)) continue;
    double sum = 0;
    for (const double value : list) sum += value;
    group.mean.figures[name] = sum / static_cast<double>(list.size());
  }
}

void divide(ResultGroup& group) {
  RunResult& sum = group.mean;
  const auto by = static_cast<double>(group.seeds);
  for (double* value : {&sum.measured_s, &sum.goodput, &sum.utilisation, &sum.throughput_bps, &sum.queue_mean_frames,
                        &sum.queue_stddev_frames, &sum.queue_empty, &sum.jain}) {
    *value /= by;
  }
  for (std::uint64_t* value : {&sum.drops, &sum.retransmissions, &sum.server_retransmissions, &sum.fetches}) {
    *value = rounded(static_cast<double>(*value) / by);
  }
  for (auto& [name, value] : sum.counters) value = rounded(static_cast<double>(value) / by);
  for (DelaySummary* delay : {&sum.radio_queue_delay, &sum.proxy_to_ue_delay, &sum.server_to_ue_delay}) {
    divide(*delay, by);
  }
  if (sum.fetch_p50_ms) *sum.fetch_p50_ms /= by;
  if (sum.fetch_p95_ms) *sum.fetch_p95_ms /= by;
}

/// Returns Student's t at 97.5 % by degrees of freedom.
double student_t(std::size_t freedom) {
  constexpr std::array<double, 30> table{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                         2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                         2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (freedom <= table.size()) return table[freedom - 1];
  return 1.96 + 2.4 / static_cast<double>(freedom);
}

bool same_point(const RunKey& a, const RunKey& b) {
  return a.scenario == b.scenario && a.clock == b.clock && a.mode == b.mode && a.swept == b.swept;
}

void add_intervals(ResultGroup& group, const std::vector<RunResult>& results) {
  std::array<std::vector<double>, 5> values;
  std::vector<const RunResult*> runs;
  for (const RunResult& run : results) {
    if (!same_point(group.mean.key, run.key)) continue;
    runs.push_back(&run);
    values[0].push_back(run.utilisation);
    values[1].push_back(run.throughput_bps);
    values[2].push_back(run.radio_queue_delay.p95_ms);
    values[3].push_back(run.server_to_ue_delay.p95_ms);
    values[4].push_back(run.goodput);
  }
  group.utilisation_ci = confidence_interval(values[0]);
  group.throughput_ci_bps = confidence_interval(values[1]);
  group.radio_p95_ci_ms = confidence_interval(values[2]);
  group.server_to_ue_p95_ci_ms = confidence_interval(values[3]);
  group.goodput_ci = confidence_interval(values[4]);
  add_figures(group, runs);
}

}  // namespace

double confidence_interval(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return student_t(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
}

std::vector<ResultGroup> group_by_point(const std::vector<RunResult>& results) {
  std::vector<ResultGroup> groups;
  for (const RunResult& run : results) {
    auto at = std::find_if(groups.begin(), groups.end(),
                           [&](const ResultGroup& group) { return same_point(group.mean.key, run.key); });
    if (at == groups.end()) {
      groups.emplace_back();
      at = groups.end() - 1;
      at->mean.key = run.key;
      at->mean.series = run.series;
      at->mean.ues = run.ues;
      at->mean.queues = run.queues;
      at->mean.windows = run.windows;
      at->mean.dropped = run.dropped;
      at->mean.paper = run.paper;
      at->mean.jain = 0;
      at->utilisation_min = at->utilisation_max = run.utilisation;
    }
    add(*at, run);
  }
  for (ResultGroup& group : groups) {
    divide(group);
    add_intervals(group, results);
  }
  return groups;
}

}  // namespace sluice::emulator
