#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "dataplane/dpdk/eal.hpp"
#include "emulator/nodeb/commands.hpp"
#include "emulator/nodeb/progress_bar.hpp"
#include "emulator/report/html_report.hpp"
#include "emulator/report/results_csv.hpp"
#include "emulator/report/text_table.hpp"
#include "emulator/runtime/experiment.hpp"

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
  std::fprintf(stderr, "nodeb: none of the modes asked for is in the scenario, which has %s\n", known.c_str());
  return false;
}

/// The columns asked for, then those that a paper has values for.
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

void write_report(const Plan& plan, const std::string& out, const std::vector<RunResult>& results) {
  std::vector<std::string> files = write_results(out, results);
  ReportTitle title{plan.base.title.empty() ? plan.name : plan.base.title, plan.base.description, {}, {}};
  title.extra = extra_columns(plan.base);
  title.notes = notes_of(plan.base);
  write_file(std::filesystem::path(out) / "report.html", html_report(title, results));
  files.emplace_back("report.html");
  std::fputs(written_line(out, files).c_str(), stdout);
}

}  // namespace

int command_run(const RunOptions& options) {
  std::optional<Plan> plan = read_plan(options.file, options.seeds);
  if (!plan || !restrict_modes(*plan, options.modes)) return exit_configuration;
  TraceLibrary traces = trace_library(options.file, options.traces);
  const unsigned workers = options.workers > 0 ? options.workers : std::max(1U, std::thread::hardware_concurrency());

  dpdk::EalConfig eal_config;
  eal_config.program = "nodeb";
  eal_config.memory_mib = experiment_memory_mib(*plan, workers);
  eal_config.log = [](unsigned, std::string_view line) { spdlog::warn("DPDK: {}", line); };
  const dpdk::Eal eal(eal_config);

  ExperimentOutcome outcome;
  {
    ProgressBar bar(plan->name);
    outcome = run_experiment(
        *plan, traces, workers,
        [&bar](const ExperimentProgress& progress) {
          bar.show(progress.fraction, "run " + std::to_string(std::min(progress.runs_done + 1, progress.runs)) +
                                          " of " + std::to_string(progress.runs));
        },
        stop_requested);
  }
  for (const std::string& reason : outcome.skipped) std::fprintf(stderr, "nodeb: skipped: %s\n", reason.c_str());
  if (outcome.stopped) {
    std::fputs("nodeb: stopped before the end; nothing is written\n", stderr);
    return exit_interrupted;
  }
  if (outcome.results.empty()) return exit_skipped;
  std::fputs(summary_text(outcome.results, extra_columns(plan->base)).c_str(), stdout);
  std::fputs(notes_text(notes_of(plan->base)).c_str(), stdout);
  if (!options.out.empty()) write_report(*plan, options.out, outcome.results);
  return exit_ok;
}

}  // namespace sluice::emulator
