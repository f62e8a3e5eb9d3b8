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

// What the commands that run experiments share.

namespace sluice::emulator {

/// A scenario's text and the runs it asks for.
struct LoadedExperiment {
  std::string text;
  Plan plan;
};
/// Reads a scenario and leaves out the modes that were not asked for (none: all stay); prints what is wrong. Nothing
/// when it was refused.
[[nodiscard]] std::optional<LoadedExperiment> load_experiment(const std::string& file, unsigned seeds,
                                                              const std::vector<std::string>& modes);

/// Leaves only the runs of these numbers (none: all stay); prints which of them there is not.
[[nodiscard]] bool restrict_runs(Plan& plan, const std::vector<std::size_t>& only);

/// Starts EAL, runs all of a plan with a bar on standard error, and says what was skipped. `workers`: 0 = one per
/// processor. Once in a program.
[[nodiscard]] ExperimentOutcome run_with_bar(const Plan& plan, TraceLibrary& traces, unsigned workers,
                                             const RunStore& store = {});

/// The table for a terminal, with what a paper gives.
[[nodiscard]] std::string table_of(const Plan& plan, const std::vector<RunResult>& results);

/// Writes tables and report; returns the names of the files.
[[nodiscard]] std::vector<std::string> write_experiment(const Plan& plan, const std::string& out,
                                                        const std::vector<RunResult>& results);

/// The seeds of all results, in order.
[[nodiscard]] std::vector<std::uint64_t> seeds_of(const std::vector<RunResult>& results);

/// The program that runs now.
[[nodiscard]] const Build& running_program();

/// Where the results of a scenario are from, if it is run here and now.
[[nodiscard]] Provenance provenance_of(const LoadedExperiment& experiment, const TraceLibrary& traces);

/// Writes the provenance beside the files, which it names with their digests.
void write_provenance(const std::string& out, Provenance provenance, const std::vector<std::string>& files);

}  // namespace sluice::emulator
