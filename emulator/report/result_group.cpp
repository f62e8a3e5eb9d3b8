#include "emulator/report/result_group.hpp"

#include <algorithm>
#include <cmath>

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

void divide(ResultGroup& group) {
  RunResult& sum = group.mean;
  const auto by = static_cast<double>(group.seeds);
  for (double* value : {&sum.measured_s, &sum.utilisation, &sum.throughput_bps, &sum.queue_mean_frames,
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

bool same_point(const RunKey& a, const RunKey& b) {
  return a.scenario == b.scenario && a.clock == b.clock && a.mode == b.mode && a.swept == b.swept;
}

}  // namespace

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
      at->mean.jain = 0;
      at->utilisation_min = at->utilisation_max = run.utilisation;
    }
    add(*at, run);
  }
  for (ResultGroup& group : groups) divide(group);
  return groups;
}

}  // namespace sluice::emulator
