// Command line of `nodeb`: declares options and subcommands with CLI11, and calls the command. The manual page and the
// shell completion are generated from the same declarations. Exceptions that a command throws become exit code 1 with
// their message.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "emulator/nodeb/commands.hpp"
#include "emulator/report/results_csv.hpp"
#include "emulator/scenario/describe.hpp"
#include "proxy/config/core_dumps.hpp"
#include "proxy/daemon/status/version.hpp"
#include "proxy/ops/sluicectl/completion.hpp"
#include "proxy/ops/sluicectl/pages.hpp"

namespace {

using namespace sluice::emulator;

constexpr const char* footer =
    "Exit codes: 0 ended as requested, 1 could not start, failed while running, or verify found a difference, 2 "
    "bad\ncommand line, scenario or provenance, 77 skipped because a trace is missing, 130 stopped by a signal before "
    "the\nend of an experiment.";

struct Options {
  std::string check;
  bool help_scenario = false;
  bool help_results = false;
  bool manual = false;
  std::string completion;  ///< shell whose completion script is printed; empty: none
  bool core_dumps = false;
  std::vector<std::string> traces;
  RunOptions run;
  VerifyOptions verify;
  LiveOptions live;
  ReportOptions report;
  TraceOptions trace;
};

void declare_run(CLI::App& app, Options& options) {
  CLI::App* run = app.add_subcommand("run", "run a scenario in virtual time: every mode, swept value and seed");
  run->add_option("file", options.run.file, "scenario (YAML)")->required();
  run->add_option("--out", options.run.out, "folder for results.csv, series.csv and report.html");
  run->add_option("--seeds", options.run.seeds, "seeds per point, starting with the scenario's seed")
      ->check(CLI::Range(1, 10'000));
  run->add_option("--traces", options.run.traces, "folder of capacity traces; may be given several times");
  run->add_option("--workers", options.run.workers, "threads; one per processor by default")->check(CLI::Range(1, 256));
  run->add_option("--mode", options.run.modes, "only this mode; may be given several times");
  run->add_option("--keep", options.run.keep, "folder that keeps finished runs, which are not repeated");
  run->add_flag("--list", options.run.list, "print every run and the files it needs, as JSON, and exit");
  run->add_option("--only", options.run.only, "only the run of this number in the list; may be given several times");

  CLI::App* verify = app.add_subcommand("verify", "repeat the run of a result, and compare both byte for byte");
  verify->add_option("folder", options.verify.folder, "folder that run wrote")->required();
  verify->add_option("--traces", options.verify.traces, "folder of capacity traces; may be given several times");
  verify->add_option("--workers", options.verify.workers, "threads; one per processor by default")
      ->check(CLI::Range(1, 256));
}

void declare_live(CLI::App& app, Options& options) {
  CLI::App* live = app.add_subcommand("live", "emulate the Node-B in real time, between DPDK ports");
  live->add_option("file", options.live.file, "scenario (YAML) with a live section")->required();
  live->add_option("--mode", options.live.mode,
                   "mode of the proxy; none: no proxy; default: a mode that fits the live section");
  live->add_flag("--check", options.live.check, "print errors of the scenario in that mode, and exit");
  live->add_option("--seconds", options.live.seconds, "duration, instead of the scenario's")
      ->check(CLI::Range(0.1, 86'400.0));
  live->add_option("--out", options.live.out, "folder for results.csv and series.csv");
  live->add_option("--traces", options.live.traces, "folder of capacity traces; may be given several times");
}

void declare_others(CLI::App& app, Options& options) {
  CLI::App* report = app.add_subcommand("report", "write one table and one report from the folders of several runs");
  report->add_option("--out", options.report.out, "folder for results.csv, series.csv and report.html");
  report->add_option("--title", options.report.title, "title of the report");
  report->add_option("--description", options.report.description, "paragraph below the title");
  report->add_option("folders", options.report.folders, "folders that runs wrote")->required();

  CLI::App* trace = app.add_subcommand("trace", "capacity traces");
  trace->require_subcommand(1);
  CLI::App* generate = trace->add_subcommand("generate", "generate a cellular-like trace from the fading model");
  generate->add_option("--out", options.trace.out, "output file; default: standard output");
  generate->add_option("--seconds", options.trace.seconds, "length")->check(CLI::Range(1.0, 86'400.0));
  generate->add_option("--seed", options.trace.seed, "same seed, same trace");
  generate->add_option("--mean", options.trace.mean_mbps, "mean rate in Mb/s")->check(CLI::Range(0.1, 1000.0));
  generate->add_option("--speed", options.trace.speed_kmh, "speed of the UE in km/h")->check(CLI::Range(0.1, 500.0));
  generate->add_option("--snr", options.trace.snr_db, "mean SNR in dB; a lower one makes the rate vary more")
      ->check(CLI::Range(-10.0, 40.0));
  generate->add_option("--shadowing", options.trace.shadowing_db, "standard deviation of shadowing in dB")
      ->check(CLI::Range(0.0, 20.0));
  generate->add_option("--outage-every", options.trace.outage_every_s, "mean seconds between outages; 0 = none")
      ->check(CLI::Range(0.0, 3600.0));
}

void declare(CLI::App& app, Options& options) {
  app.footer(footer);
  app.set_version_flag("--version", std::string(sluice::proxy::version));
  app.add_option("--check", options.check, "check a scenario, print every error, and exit");
  app.add_option("--traces", options.traces, "with --check: folder of capacity traces");
  app.add_flag("--help-scenario", options.help_scenario, "print the reference of all keys of scenarios, and exit");
  app.add_flag("--help-results", options.help_results, "print the meaning of every column of the results, and exit");
  app.add_flag("--manual", options.manual, "print the manual page for man, and exit");
  sluice::manual::declare_completion(app, options.completion);
  app.add_flag("--core-dumps", options.core_dumps,
               "allow core files after a crash, and debuggers; a core file contains keys and payload");
  app.require_subcommand(0, 1);
  declare_run(app, options);
  declare_live(app, options);
  declare_others(app, options);
}

std::string manual_page(const CLI::App& app) {
  return sluice::manual::program_page(
      {"nodeb", 1, "Node-B emulator: the radio half of a mobile network", std::string(sluice::proxy::version)},
      {{"`nodeb` carries packets through an emulated radio link and reports its queues to sluice(8): in real time "
        "between DPDK ports, or in virtual time as experiments that can be repeated bit by bit. A scenario describes "
        "the network; `nodeb --help-scenario` explains every key."},
       {"sluice(8)", "sluice.yaml(5)"}},
      app);
}

int dispatch(const CLI::App& app, const Options& options) {
  if (options.help_scenario) {
    std::fputs(sluice::config::reference<Scenario>().c_str(), stdout);
    return exit_ok;
  }
  if (options.help_results) {
    std::fputs(results_reference().c_str(), stdout);
    return exit_ok;
  }
  if (options.manual) {
    std::fputs(manual_page(app).c_str(), stdout);
    return exit_ok;
  }
  if (!options.completion.empty()) {
    std::fputs(sluice::manual::completion(options.completion, app).c_str(), stdout);
    return exit_ok;
  }
  if (!options.check.empty()) return command_check(options.check, options.traces);
  if (app.got_subcommand("run")) return command_run(options.run);
  if (app.got_subcommand("verify")) return command_verify(options.verify);
  if (app.got_subcommand("live")) return command_live(options.live);
  if (app.got_subcommand("report")) return command_report(options.report);
  if (app.got_subcommand("trace")) return command_trace(options.trace);
  std::fputs("nodeb: a command is needed: run, verify, live, report, trace or --check; see --help\n", stderr);
  return exit_configuration;
}

}  // namespace

int main(int argc, char** argv) {
  catch_signals();
  const Log log;
  CLI::App app("Node-B emulator: the radio half of a mobile network, in real or in virtual time", "nodeb");
  Options options;
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_configuration;
  }
  if (!options.core_dumps) sluice::config::forbid_core_dumps();
  try {
    return dispatch(app, options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "nodeb: %s\n", problem.what());
    return exit_failure;
  }
}
