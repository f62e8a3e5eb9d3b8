#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/report/result.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// Progress of an experiment.
struct ExperimentProgress {
  double fraction = 0;  ///< share of the whole experiment that is done, 0 … 1
  std::size_t runs_done = 0;
  std::size_t runs = 0;
};

struct ExperimentOutcome {
  std::vector<RunResult> results;    ///< results in the order of the plan's runs
  std::vector<std::string> skipped;  ///< runs that were left out, with the reason, such as a missing trace
  bool stopped = false;              ///< true if the experiment was ended before all runs were done
};

/// Store of earlier results. Both functions are called from several threads at once.
struct RunStore {
  std::function<std::optional<RunResult>(const RunPlan&)> find;  ///< returns the stored result of a run, or nothing
  std::function<void(const RunPlan&, const RunResult&)> keep;    ///< stores the result of a run that has just ended
};

/// Executes every run of a plan in virtual time on `workers` threads, each with its own packet buffers. Results do not
/// depend on the number of threads. Requires a running EAL. `progress` is called from several threads, but never at the
/// same time. `stop` ends the experiment early. Runs whose results `store` contains are not repeated. An exception that
/// a run throws is passed on after the other threads have ended.
[[nodiscard]] ExperimentOutcome run_experiment(const Plan& plan, TraceLibrary& traces, unsigned workers,
                                               const std::function<void(const ExperimentProgress&)>& progress,
                                               const std::atomic<bool>& stop, const RunStore& store = {});

/// Returns the DPDK memory in MiB for the initial buffers of `workers` pools. Later buffers do not come from DPDK.
[[nodiscard]] std::uint32_t experiment_memory_mib(const Plan& plan, unsigned workers);

}  // namespace sluice::emulator
