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
  std::erase_if(plan.runs, [&](const RunPlan& run) {
    return std::find(modes.begin(), modes.end(), to_string(run.mode)) == modes.end();
  });
  if (!plan.runs.empty()) return true;
  std::fputs("nodeb: none of the modes asked for is in the scenario\n", stderr);
  return false;
}

void write_report(const Plan& plan, const std::string& out, const std::vector<RunResult>& results) {
  write_results(out, results);
  const std::string title = plan.base.title.empty() ? plan.name : plan.base.title;
  write_file(std::filesystem::path(out) / "report.html", html_report({title, plan.base.description}, results));
  std::fprintf(stdout, "Written: %s/results.csv, series.csv, report.html\n", out.c_str());
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
  std::fputs(summary_text(outcome.results).c_str(), stdout);
  if (!options.out.empty()) write_report(*plan, options.out, outcome.results);
  return exit_ok;
}

}  // namespace sluice::emulator
