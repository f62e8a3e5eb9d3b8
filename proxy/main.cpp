// Command line of `sluice`: reads the configuration, and runs the proxy or prints its documentation. Exit codes are
// 0, 1 for a failure to start or while running, and 2 for a bad command line or configuration. Invariant: core dumps
// are forbidden before secrets are read, unless --core-dumps is given.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/core_dumps.hpp"
#include "proxy/daemon/runtime/logging.hpp"
#include "proxy/daemon/runtime/resources.hpp"
#include "proxy/daemon/runtime/runtime.hpp"
#include "proxy/daemon/service/system_check.hpp"
#include "proxy/daemon/status/explain.hpp"
#include "proxy/daemon/status/version.hpp"
#include "proxy/ops/sluicectl/completion.hpp"
#include "proxy/ops/sluicectl/pages.hpp"

namespace {

constexpr int exit_ok = 0;
constexpr int exit_failure = 1;
constexpr int exit_configuration = 2;

constexpr const char* footer =
    "Exit codes: 0 ended as requested, 1 could not start or failed while running, 2 bad command line or "
    "configuration.\nSignals: SIGTERM and SIGINT stop the program: split connections are handed back to their hosts "
    "for stop.drain or twice that, and the rest is reset; a second signal ends the wait. SIGHUP reopens the log file "
    "and reads the configuration again, unless a change waits for confirmation or was taken back.";

struct Options {
  std::string file;
  bool check = false;
  bool system = false;
  std::string user = "sluice";
  bool print = false;
  bool show_secrets = false;
  bool help_config = false;
  bool manual = false;
  bool manual_config = false;
  bool help_words = false;
  bool manual_words = false;
  std::string completion;  ///< shell for which a completion script is printed; empty if none is printed
  bool core_dumps = false;
};

void declare(CLI::App& app, Options& options) {
  app.footer(footer);
  app.set_version_flag("--version", std::string(sluice::proxy::version));
  app.add_option("file", options.file, "configuration file (YAML)");
  auto* check = app.add_flag("--check", options.check,
                             "check the file and the interfaces that it names, print every error, and exit");
  auto* system = app.add_flag("--system", options.system,
                              "check this machine before anything is opened: interfaces, devices, memory, huge pages, "
                              "groups, and files that the service's user reads; with --check and before a start");
  app.add_option("--user", options.user,
                 "user of the service, whose access to files root checks; with --check the default is sluice");
  auto* print = app.add_flag("--print-config", options.print, "print every key with its value, and exit");
  auto* help = app.add_flag("--help-config", options.help_config, "print the reference of all keys, and exit");
  app.add_flag("--help-words", options.help_words,
               "print what every column, counter, phase, reason and metric means, and exit");
  app.add_flag("--manual", options.manual, "print the manual page for man, and exit");
  app.add_flag("--manual-config", options.manual_config, "print the manual page of the file, sluice.yaml, and exit");
  app.add_flag("--manual-words", options.manual_words, "print the manual page of --help-words, and exit");
  sluice::manual::declare_completion(app, options.completion);
  app.add_flag("--show-secrets", options.show_secrets, "with --print-config, print secrets too")->needs(print);
  app.add_flag("--core-dumps", options.core_dumps,
               "allow core files after a crash, and debuggers; a core file contains keys and payload");
  check->excludes(print)->excludes(help);
  system->excludes(print)->excludes(help);
  print->excludes(help);
}

int print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return exit_ok;
}

std::string manual_page(const CLI::App& app) {
  return sluice::manual::program_page(
      {"sluice", 8, "TCP performance-enhancing proxy for mobile networks", std::string(sluice::proxy::version)},
      {{"`sluice` is a bump in the wire between two DPDK ports. It splits TCP connections transparently, or rewrites "
        "the windows of connections that stay end to end, so that the queue of the radio network stays short. One file "
        "configures it: sluice.yaml(5).",
        "As a service it is `sluice.service`, which reads `/etc/sluice/sluice.yaml`."},
       {"sluice.yaml(5)", "sluicectl(1)", "sluice-words(7)", "nodeb(1)"}},
      app);
}

std::string manual_page_of_file() {
  return sluice::manual::file_page(
      {"sluice.yaml", 5, "configuration of sluice", std::string(sluice::proxy::version)},
      {{"A file of sluice(8) is YAML. Unknown keys are refused. Durations, sizes and rates carry their unit. `sluice "
        "--check FILE` prints every error with its line and column.",
        "`include: [FILE, ...]` at the top level inserts the keys of other files; a key of the file wins over one that "
        "it "
        "includes. In values, `${NAME}` is replaced by an environment variable, which must be set.",
        "A file with secrets in it must not be readable for everybody."},
       {"sluice(8)", "sluicectl(1)", "sluice-words(7)"}},
      sluice::config::key_tables<sluice::proxy::Config>());
}

std::string manual_page_of_words() {
  sluice::manual::Roff page({"sluice-words", 7, "columns, counters, phases, reasons and metrics of sluice",
                             std::string(sluice::proxy::version)});
  const std::vector<sluice::proxy::Explanation> all = sluice::proxy::explanations();
  for (const sluice::proxy::WordSection& section : sluice::proxy::word_sections()) {
    page.section(section.title);
    page.paragraph(section.text);
    for (const sluice::proxy::Explanation& each : all) {
      if (each.kind == section.kind) page.item("`" + each.word + "`", each.meaning + ".");
    }
  }
  page.section("SEE ALSO");
  page.paragraph("`sluice(8)`, `sluicectl(1)`, `sluice.yaml(5)`");
  return page.text();
}

int run(const sluice::proxy::Config& config, const std::string& file,
        const std::vector<sluice::config::Error>& warnings) {
  sluice::proxy::Logging log(config.logging);
  for (const sluice::config::Error& warning : warnings) log.warn(warning.to_string());
  try {
    sluice::proxy::require_descriptors(config);
    sluice::proxy::Runtime runtime(config, log, file);
    return runtime.run() ? exit_ok : exit_failure;
  } catch (const std::exception& problem) {
    log.fail(sluice::proxy::explain(problem, config));
    return exit_failure;
  }
}

/// Returns a line that states how much payload the configured packet buffers hold: for all connections of a shard, for
/// those of a UE, and for one connection.
std::string memory_line(const sluice::proxy::Config& config) {
  const sluice::proxy::PacketMemory memory = sluice::proxy::packet_memory(config);
  const auto megabytes = [](sluice::Bytes bytes) { return std::to_string(bytes.count() / 1'000'000) + " MB"; };
  return "packet memory: " + std::to_string(config.pool.buffers) +
         " buffers; connections of a shard may hold and advertise " + megabytes(memory.shard) + ", those of one UE " +
         megabytes(memory.ue) + ", one alone " + megabytes(memory.connection) + " each way\n";
}

/// Checks the configuration against this machine and prints what is missing. Returns true if nothing is missing, so
/// that a start can succeed.
bool check_machine(const sluice::proxy::Config& config, const Options& options) {
  using sluice::proxy::SystemScope;
  const SystemScope scope = options.system ? SystemScope::whole : SystemScope::interfaces_present;
  std::vector<sluice::config::Error> errors = sluice::proxy::system_errors(config, options.file, scope);
  const auto of_user = sluice::proxy::errors_of_user(config, options.file, options.user);
  // Root may check a file that no service runs with, so only a check of the whole machine refuses it for the user's
  // sake.
  if (options.check && options.system) errors.insert(errors.end(), of_user.begin(), of_user.end());
  if (options.check && !options.system) {
    for (const auto& warning : of_user) std::fprintf(stderr, "warning: %s\n", warning.to_string().c_str());
  }
  std::fputs(sluice::config::to_string(errors).c_str(), stderr);
  return errors.empty();
}

int with_file(const Options& options) {
  const auto loaded = sluice::proxy::load_config(options.file);
  if (!loaded) {
    std::fputs(sluice::config::to_string(loaded.errors).c_str(), stderr);
    return exit_configuration;
  }
  using sluice::config::Secrets;
  if (options.print) return print(print_config(*loaded, options.show_secrets ? Secrets::show : Secrets::hide));
  if (!options.check && options.system && !check_machine(*loaded, options)) return exit_failure;
  if (!options.check) return run(*loaded, options.file, loaded.warnings);
  for (const auto& warning : loaded.warnings) std::fprintf(stderr, "warning: %s\n", warning.to_string().c_str());
  if (!check_machine(*loaded, options)) return exit_configuration;
  return print(memory_line(*loaded) + "OK\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Userspace TCP performance-enhancing proxy for mobile networks", "sluice");
  Options options;
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_configuration;
  }
  if (!options.core_dumps) sluice::config::forbid_core_dumps();
  if (options.help_config) return print(sluice::proxy::config_reference());
  if (options.manual) return print(manual_page(app));
  if (options.manual_config) return print(manual_page_of_file());
  if (options.help_words) return print(sluice::proxy::word_reference());
  if (options.manual_words) return print(manual_page_of_words());
  if (!options.completion.empty()) return print(sluice::manual::completion(options.completion, app));
  if (options.file.empty()) {
    std::fputs("sluice: a configuration file is needed; see --help and --help-config\n", stderr);
    return exit_configuration;
  }
  try {
    return with_file(options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "sluice: %s\n", problem.what());
    return exit_failure;
  }
}
