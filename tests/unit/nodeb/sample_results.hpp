#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "emulator/report/result.hpp"

namespace sluice::emulator::test {

inline RunResult sample_result(const std::string& mode, const std::string& period_s, double utilisation,
                               double delay_ms) {
  RunResult result;
  result.key = {"sample", "virtual", mode, 1, {}};
  if (!period_s.empty()) result.key.swept = {{"period_s", period_s}};
  result.measured_s = 60;
  result.utilisation = utilisation;
  result.goodput = utilisation - 0.05;
  result.throughput_bps = utilisation * 5e6;
  const auto delay = [delay_ms](double factor) {
    return DelaySummary{
        1, factor * delay_ms, factor * delay_ms * 2, factor * delay_ms * 3, factor * delay_ms, factor * delay_ms * 4};
  };
  result.radio_queue_delay = delay(1);
  result.proxy_to_ue_delay = delay(1.25);
  result.server_to_ue_delay = delay(1.5);
  result.queue_mean_frames = 100;
  result.queue_stddev_frames = 12.5;
  result.drops = 2;
  result.retransmissions = 3;
  result.counters["reports_lost"] = 1;
  for (int i = 1; i <= 600; ++i) {
    SeriesPoint point;
    point.time_s = 0.1 * i;
    point.link_rate_bps = 5e6 + 4e6 * std::sin(0.05 * i);
    point.link_used_bps = utilisation * point.link_rate_bps;
    point.throughput_bps = 0.96 * point.link_used_bps;
    point.outstanding_bytes = 40e3 + 500 * delay_ms * (1 + std::sin(0.3 * i));
    point.queue_bytes = 300 * delay_ms * (1 + std::sin(0.3 * i));
    point.queue_frames = point.queue_bytes / 40;
    point.radio_queue_delay_ms = delay_ms * (1 + std::sin(0.3 * i)) + 1;
    point.server_to_ue_delay_ms = 1.5 * *point.radio_queue_delay_ms;
    if (mode == "smvs") {
      point.allowance_bps = 0.9 * point.link_rate_bps;
      point.reference_bytes = 4000;
    }
    result.series.push_back(point);
  }
  return result;
}

/// Two modes at two periods.
inline std::vector<RunResult> sample_results() {
  return {sample_result("smvs", "0.02", 0.97, 20), sample_result("smvs", "0.2", 0.98, 21),
          sample_result("none", "0.02", 0.71, 90), sample_result("none", "0.2", 0.83, 120)};
}

/// Three modes, no sweep.
inline std::vector<RunResult> sample_modes() {
  return {sample_result("none", "", 0.85, 400), sample_result("i-tcp", "", 0.91, 250),
          sample_result("smvs", "", 0.97, 25)};
}

}  // namespace sluice::emulator::test
