// Functions that the commands `run`, `verify` and `live` share: load an experiment, run it with a progress bar, write
// its tables, report and provenance.

#include "emulator/nodeb/experiment_files.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>

#include "dataplane/dpdk/eal.hpp"
#include "emulator/nodeb/commands.hpp"
#include "emulator/nodeb/progress_bar.hpp"
#include "emulator/provenance/sha256.hpp"
#include "emulator/report/html_report.hpp"
#include "emulator/report/results_csv.hpp"

namespace sluice::emulator {
namespace {

bool restrict_modes(Plan& plan, const std::vector<std::string>& modes) {
  if (modes.empty()) return true;
  for (const std::string& mode : modes) {
    if (!parse_mode(mode)) return false;
  }
  std::string known;
  for (const RunMode mode : plan.base.modes) known += (known.empty() ? "" : ", ") + std::string(to_string(mode));
  std::erase_if(plan.runs, [&](const RunPlan& run) {
    return std::find(modes.begin(), modes.end(), to_string(run.mode)) == modes.end();
  });
  if (!plan.runs.empty()) return true;
  std::fprintf(stderr, "nodeb: none of the requested modes is in the scenario, which has %s\n", known.c_str());
  return false;
}

/// Returns the columns that a report shows in addition to its standard ones: those that the scenario requests, then
/// those with a paper's values.
std::vector<ExtraColumn> extra_columns(const Scenario& scenario) {
  std::vector<ExtraColumn> columns;
  const auto add = [&columns](const ExtraColumn& column) {
    const auto same = [&column](const ExtraColumn& known) { return known.column == column.column; };
    const auto at = std::find_if(columns.begin(), columns.end(), same);
    if (at == columns.end()) {
      columns.push_back(column);
    } else if (at->unit.empty()) {
      *at = column;
    }
  };
  for (const std::string& column : scenario.output.columns) add({column, "", 1});
  if (scenario.paper) {
    for (const PaperValues& values : scenario.paper->values) add({values.column, values.unit, values.scale});
  }
  return columns;
}

std::vector<ReportNote> notes_of(const Scenario& scenario) {
  std::vector<ReportNote> notes;
  if (!scenario.paper) return notes;
  const PaperSpec& paper = *scenario.paper;
  notes.push_back({"Paper", paper.source});
  for (const std::string& text : paper.readings) notes.push_back({"Read as", text});
  for (const std::string& text : paper.reproduces) notes.push_back({"Reproduces", text});
  for (const std::string& text : paper.differs) notes.push_back({"Differs", text});
  return notes;
}

}  // namespace

std::optional<LoadedExperiment> load_experiment(const std::string& file, unsigned seeds,
                                                const std::vector<std::string>& modes) {
  std::vector<config::Error> unreadable;
  std::string text = config::read_text(file, config::DocumentLimits{}.bytes, unreadable);
  config::Loaded<Plan> loaded;
  if (unreadable.empty()) {
    loaded = parse_plan(text, file, seeds);
  } else {
    loaded.errors = std::move(unreadable);
  }
  for (const config::Error& warning : loaded.warnings) spdlog::warn("{}", warning.to_string());
  if (!loaded) {
    std::fputs(config::to_string(loaded.errors).c_str(), stderr);
    return std::nullopt;
  }
  if (!restrict_modes(*loaded, modes)) return std::nullopt;
  return LoadedExperiment{std::move(text), std::move(*loaded)};
}

bool restrict_runs(Plan& plan, const std::vector<std::size_t>& only) {
  if (only.empty()) return true;
  const std::set<std::size_t> numbers(only.begin(), only.end());
  if (*numbers.rbegin() >= plan.runs.size()) {
    std::fprintf(stderr, "nodeb: --only: expected a run from 0 to %zu, got %zu\n", plan.runs.size() - 1,
                 *numbers.rbegin());
    return false;
  }
  std::vector<RunPlan> chosen;
  chosen.reserve(numbers.size());
  for (const std::size_t number : numbers) chosen.push_back(std::move(plan.runs[number]));
  plan.runs = std::move(chosen);
  return true;
}

ExperimentOutcome run_with_bar(const Plan& plan, TraceLibrary& traces, unsigned workers, const RunStore& store) {
  const unsigned count = workers > 0 ? workers : std::max(1U, std::thread::hardware_concurrency());
  dpdk::EalConfig eal_config;
  eal_config.program = "nodeb";
  eal_config.memory_mib = experiment_memory_mib(plan, count);
  eal_config.log = [](unsigned, std::string_view line) { spdlog::warn("DPDK: {}", line); };
  const dpdk::Eal eal(eal_config);
  ExperimentOutcome outcome;
  {
    ProgressBar bar(plan.name);
    const auto show = [&bar](const ExperimentProgress& progress) {
      bar.show(progress.fraction, "run " + std::to_string(std::min(progress.runs_done + 1, progress.runs)) + " of " +
                                      std::to_string(progress.runs));
    };
    outcome = run_experiment(plan, traces, count, show, stop_requested, store);
  }
  for (const std::string& reason : outcome.skipped) std::fprintf(stderr, "nodeb: skipped: %s\n", reason.c_str());
  return outcome;
}

std::string table_of(const Plan& plan, const std::vector<RunResult>& results) {
  return summary_text(results, extra_columns(plan.base), {terminal_width(), plan.base.output.ratio}) +
         notes_text(notes_of(plan.base));
}

std::vector<std::string> write_experiment(const Plan& plan, const std::string& out,
                                          const std::vector<RunResult>& results) {
  std::vector<std::string> files = write_results(out, results);
  ReportTitle title{plan.base.title.empty() ? plan.name : plan.base.title, plan.base.description, {}, {}};
  title.extra = extra_columns(plan.base);
  title.notes = notes_of(plan.base);
  title.plots = plan.base.output.plots;
  title.over_time = plan.base.output.over_time;
  title.ratio = plan.base.output.ratio;
  write_file(std::filesystem::path(out) / "report.html", html_report(title, results));
  files.emplace_back("report.html");
  return files;
}

std::vector<std::uint64_t> seeds_of(const std::vector<RunResult>& results) {
  std::set<std::uint64_t> seeds;
  for (const RunResult& result : results) seeds.insert(result.key.seed);
  return {seeds.begin(), seeds.end()};
}

const Build& running_program() {
  static const Build build = this_build("/proc/self/exe");
  return build;
}

Provenance provenance_of(const LoadedExperiment& experiment, const TraceLibrary& traces) {
  Provenance provenance;
  provenance.program = running_program();
  provenance.machines = {this_machine()};
  provenance.inputs = inputs_of(experiment.plan, experiment.text, traces);
  return provenance;
}

void write_provenance(const std::string& out, Provenance provenance, const std::vector<std::string>& files) {
  const std::filesystem::path folder(out);
  for (const std::string& name : files) {
    provenance.files.push_back({name, sha256(read_file(folder / name, std::size_t{4} << 30))});
  }
  write_file(folder / provenance_file, to_json(provenance));
}

}  // namespace sluice::emulator
