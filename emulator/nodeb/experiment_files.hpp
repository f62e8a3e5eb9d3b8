#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/provenance/provenance.hpp"
#include "emulator/report/result.hpp"
#include "emulator/report/text_table.hpp"
#include "emulator/runtime/experiment.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

// Functions that the commands which run experiments share.

namespace sluice::emulator {

/// Text of a scenario, and the plan of its runs.
struct LoadedExperiment {
  std::string text;
  Plan plan;
};
/// Reads a scenario and keeps only the runs of `modes`; empty keeps all. If the scenario has errors, prints them and
/// returns nothing.
[[nodiscard]] std::optional<LoadedExperiment> load_experiment(const std::string& file, unsigned seeds,
                                                              const std::vector<std::string>& modes);

/// Keeps only the runs of the plan with the numbers `only`; if it is empty, all runs. Returns false and prints an error
/// if a number does not exist.
[[nodiscard]] bool restrict_runs(Plan& plan, const std::vector<std::size_t>& only);

/// Starts EAL, runs a plan with a progress bar and prints which runs were skipped. `workers` = 0 starts one thread per
/// processor. Returns the results. Callable once in a program, because EAL starts once.
[[nodiscard]] ExperimentOutcome run_with_bar(const Plan& plan, TraceLibrary& traces, unsigned workers,
                                             const RunStore& store = {});

/// Returns the table of results for a terminal. If the plan repeats a paper, the paper's values and notes on them are
/// included.
[[nodiscard]] std::string table_of(const Plan& plan, const std::vector<RunResult>& results);

/// Writes tables and report to the folder `out`. Returns the names of the files.
[[nodiscard]] std::vector<std::string> write_experiment(const Plan& plan, const std::string& out,
                                                        const std::vector<RunResult>& results);

/// Returns the seeds of all results in ascending order.
[[nodiscard]] std::vector<std::uint64_t> seeds_of(const std::vector<RunResult>& results);

/// Returns the description of this program's build: release, commit, compiler and digest of the executable.
[[nodiscard]] const Build& running_program();

/// Returns the provenance of an experiment that is run here and now.
[[nodiscard]] Provenance provenance_of(const LoadedExperiment& experiment, const TraceLibrary& traces);

/// Writes the provenance to the folder `out`, with the digests of the result files `files` in it.
void write_provenance(const std::string& out, Provenance provenance, const std::vector<std::string>& files);

}  // namespace sluice::emulator
