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

/// How far an experiment is.
struct ExperimentProgress {
  double fraction = 0;  ///< of the whole, 0 … 1
  std::size_t runs_done = 0;
  std::size_t runs = 0;
};

struct ExperimentOutcome {
  std::vector<RunResult> results;    ///< in the order of the plan
  std::vector<std::string> skipped;  ///< why runs were left out: a trace that is not there
  bool stopped = false;              ///< asked to, before everything was done
};

/// Runs that were finished before. Both are called from several threads at once.
struct RunStore {
  std::function<std::optional<RunResult>(const RunPlan&)> find;  ///< nothing: it has to be run
  std::function<void(const RunPlan&, const RunResult&)> keep;    ///< one that was run now
};

/// Runs every plan of an experiment in virtual time on `workers` threads, each with packet buffers of its own. What
/// comes out does not depend on how many there are. EAL must be running. `progress` is called from several threads, one
/// at a time. `stop` ends it early. What `store` finds is not run. Throws what a run throws, after the others have
/// ended.
[[nodiscard]] ExperimentOutcome run_experiment(const Plan& plan, TraceLibrary& traces, unsigned workers,
                                               const std::function<void(const ExperimentProgress&)>& progress,
                                               const std::atomic<bool>& stop, const RunStore& store = {});

/// DPDK memory that `workers` need, in MiB: the buffers that they begin with. Further ones are not from DPDK's.
[[nodiscard]] std::uint32_t experiment_memory_mib(const Plan& plan, unsigned workers);

}  // namespace sluice::emulator
