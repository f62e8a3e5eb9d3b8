// configs/scenarios/long-path.yaml: one download over 1 Gb/s and 102 ms, from the first byte on.

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

/// Throughput by mode, in bit/s.
std::map<std::string, double> throughputs() {
  const auto plan = load_plan(SLUICE_SOURCE_DIR "/configs/scenarios/long-path.yaml");
  if (!plan) throw std::runtime_error(config::to_string(plan.errors));
  TraceLibrary traces({});
  const std::atomic<bool> stop{false};
  const ExperimentOutcome outcome = run_experiment(
      *plan, traces, 1, [](const ExperimentProgress&) {}, stop);
  std::map<std::string, double> by_mode;
  for (const RunResult& result : outcome.results) {
    EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
    by_mode[result.key.mode] = result.throughput_bps;
  }
  return by_mode;
}

TEST(LongPath, TheProxyKeepsTheThroughputOfTheHostsAlone) {
  const auto of = throughputs();
  const double alone = of.at("none");
  EXPECT_GT(alone, 700e6);
  EXPECT_GT(of.at("i-tcp"), 0.95 * alone);
  EXPECT_GT(of.at("smvs"), 0.95 * alone);
  EXPECT_GT(of.at("smvs by acks"), 0.95 * alone);
}

}  // namespace
}  // namespace sluice::emulator
