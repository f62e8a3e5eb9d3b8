// One download over 1 Gb/s and 102 ms: the proxy keeps what its hosts reach alone, from the first byte on.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <stdexcept>
#include <string>

#include "emulator/runtime/experiment.hpp"
#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator {
namespace {

/// The path itself holds 8 700 packets here, in the buffers that the proxy takes its own from.
const std::string long_path =
    "duration: 5s\nwarmup: 0s\nserver_proxy: {delay: 50ms, rate: 1Gb/s}\nproxy_nodeb: {delay: 1ms}\n"
    "hosts: {receive_buffer: 64MiB, send_buffer: 64MiB}\nbuffers: 80000\n"
    "cell:\n  tti: 1ms\n  uplink: {delay: 0ms}\n  ues:\n"
    "    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: constant, rate: 1Gb/s}}\n"
    "apps: [{type: bulk}]\n";

/// Throughput by mode, in bit/s.
std::map<std::string, double> throughputs(const std::string& settings) {
  const auto plan = parse_plan(long_path + settings, "test.yaml", 1);
  if (!plan) throw std::runtime_error(config::to_string(plan.errors));
  std::map<std::string, double> by_mode;
  TraceLibrary traces({});
  const std::atomic<bool> stop{false};
  const ExperimentOutcome outcome = run_experiment(
      *plan, traces, 1, [](const ExperimentProgress&) {}, stop);
  for (const RunResult& result : outcome.results) {
    EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
    by_mode[result.key.mode] = result.throughput_bps;
  }
  return by_mode;
}

TEST(LongPath, TheProxyKeepsWhatTheHostsReachAlone) {
  const auto with_reports = throughputs("modes: [none, i-tcp, smvs]\n");
  const auto without = throughputs("modes: [smvs]\nsmvs: {law: acks}\n");
  const double alone = with_reports.at("none");
  EXPECT_GT(alone, 700e6);
  EXPECT_GT(with_reports.at("i-tcp"), 0.95 * alone);
  EXPECT_GT(with_reports.at("smvs"), 0.95 * alone);
  EXPECT_GT(without.at("smvs"), 0.95 * alone);
}

}  // namespace
}  // namespace sluice::emulator
