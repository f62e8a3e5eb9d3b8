// Command `nodeb run`: runs an experiment in virtual time and writes tables, report and provenance. Finished runs can
// be kept in a folder and are not repeated; `--list` and `--only` distribute runs over machines.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "emulator/nodeb/commands.hpp"
#include "emulator/nodeb/experiment_files.hpp"
#include "emulator/provenance/kept_runs.hpp"
#include "emulator/report/results_csv.hpp"

namespace sluice::emulator {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the store of finished runs. Its file names depend on the program and its inputs, so results of other
/// programs or inputs are not found.
KeptRuns kept_runs(const RunOptions& options, const LoadedExperiment& experiment, const TraceLibrary& traces) {
  const Inputs inputs = inputs_of(experiment.plan, experiment.text, traces);
  return {options.keep, identity(running_program()) + '\n' + identity(inputs), experiment.plan.name};
}

Json file_list(const std::vector<Input>& inputs) {
  Json list = Json::array();
  for (const Input& input : inputs) {
    list.push_back({{"name", input.name}, {"sha256", input.sha256}, {"path", input.path}});
  }
  return list;
}

/// Returns the list of runs as JSON, with the file name of each result and the files that each run reads. Scripts that
/// distribute runs over machines read it.
std::string listing(const LoadedExperiment& experiment, const TraceLibrary& traces, const KeptRuns& kept) {
  const Inputs inputs = inputs_of(experiment.plan, experiment.text, traces);
  Json json = {{"program", identity(running_program())},
               {"experiment", experiment.plan.name},
               {"scenario", file_list({inputs.scenario}).front()},
               {"profiles", file_list(inputs.scenarios)},
               {"traces", file_list(inputs.traces)},
               {"missing_traces", inputs.missing},
               {"runs", Json::array()}};
  std::size_t number = 0;
  for (const RunPlan& run : experiment.plan.runs) {
    Json swept = Json::object();
    for (const auto& [column, value] : run.swept) swept[column] = value;
    json["runs"].push_back({{"run", number++},
                            {"kept", kept.name_of(run)},
                            {"mode", run.mode_name},
                            {"seed", run.seed},
                            {"swept", std::move(swept)}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunStore store_of(KeptRuns& kept, const RunOptions& options) {
  if (options.keep.empty()) return {};
  return {[&kept](const RunPlan& run) { return kept.find(run); },
          [&kept](const RunPlan& run, const RunResult& result) { kept.keep(run, result); }};
}

}  // namespace

int command_run(const RunOptions& options) {
  std::optional<LoadedExperiment> experiment = load_experiment(options.file, options.seeds, options.modes);
  if (!experiment) return exit_configuration;
  Plan& plan = experiment->plan;
  TraceLibrary traces = trace_library(options.file, options.traces);
  KeptRuns kept = kept_runs(options, *experiment, traces);
  if (options.list) {
    std::fputs(listing(*experiment, traces, kept).c_str(), stdout);
    return exit_ok;
  }
  // The inputs are recorded before runs are selected, because a result names all inputs.
  Provenance provenance = provenance_of(*experiment, traces);
  if (!restrict_runs(plan, options.only)) return exit_configuration;
  const ExperimentOutcome outcome = run_with_bar(plan, traces, options.workers, store_of(kept, options));
  for (const std::string& reason : kept.refused()) spdlog::warn("{}; it was run again", reason);
  if (outcome.stopped) {
    std::fputs(options.keep.empty() ? "nodeb: stopped before the end; nothing is written\n"
                                    : "nodeb: stopped before the end; the finished runs are kept\n",
               stderr);
    return exit_interrupted;
  }
  if (outcome.results.empty()) return exit_skipped;
  std::fputs(table_of(plan, outcome.results).c_str(), stdout);
  if (options.out.empty()) return exit_ok;
  const std::vector<std::string> files = write_experiment(plan, options.out, outcome.results);
  provenance.seeds = seeds_of(outcome.results);
  provenance.seeds_per_point = options.seeds;
  provenance.modes = options.modes;
  provenance.runs = options.only;
  if (!options.keep.empty()) {
    const std::set<Machine> machines = kept.machines();
    provenance.machines.assign(machines.begin(), machines.end());
  }
  write_provenance(options.out, provenance, files);
  std::fputs(written_line(options.out, files).c_str(), stdout);
  return exit_ok;
}

}  // namespace sluice::emulator
