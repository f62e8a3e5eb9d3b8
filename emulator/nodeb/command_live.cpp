// Command `nodeb live`: the Node-B in real time. Opens the ports, runs a LiveRun to its end and writes the result. This
// thread shows the status and serves the live page; the poll thread of LiveRun carries the packets. SIGINT and SIGTERM
// end the run early.

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "dataplane/dpdk/device_arguments.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/packet/pool_memory.hpp"
#include "emulator/nodeb/commands.hpp"
#include "emulator/nodeb/experiment_files.hpp"
#include "emulator/nodeb/progress_bar.hpp"
#include "emulator/nodeb/radio_page.hpp"
#include "emulator/report/results_csv.hpp"
#include "emulator/report/text_table.hpp"
#include "emulator/runtime/live_run.hpp"
#include "emulator/scenario/describe.hpp"
#include "emulator/scenario/live_mode.hpp"

namespace sluice::emulator {
namespace {

/// Returns the mode named by `word`, or the default one if `word` is empty. If the scenario cannot run in that mode,
/// prints an error and returns nothing.
std::optional<RunMode> mode_of(const Scenario& scenario, const std::string& word) {
  if (word.empty()) return live_mode(scenario);
  const std::optional<RunMode> mode = parse_mode(word);
  if (!mode) return std::nullopt;
  if (const auto problem = live_problem(scenario, *mode)) {
    std::fprintf(stderr, "nodeb: %s, expected %s, got %s\n", problem->key.c_str(), problem->expected.c_str(),
                 problem->got.c_str());
    return std::nullopt;
  }
  return mode;
}

/// Returns the bytes that a packet buffer must have for the longest packet of the ports and the built-in hosts.
std::uint16_t room_for(const Scenario& scenario) {
  return dpdk::buffer_room(std::max(scenario.live.mtu, scenario.hosts.mtu));
}

dpdk::EalConfig eal_config(const Scenario& scenario) {
  const LiveSpec& live = scenario.live;
  dpdk::EalConfig config;
  config.program = "nodeb";
  config.hugepages = live.hugepages;
  for (const std::string& device : {live.cell_core, live.cell_ue, live.hop_server, live.hop_proxy})
    config.shared_memory = config.shared_memory || dpdk::peer_maps_memory(device);
  config.memory_mib =
      static_cast<std::uint32_t>(128 + (packet::pool_footprint(live.buffers, room_for(scenario)) >> 20U));
  config.arguments = live.eal_arguments;
  config.log = [](unsigned, std::string_view line) { spdlog::warn("DPDK: {}", line); };
  return config;
}

constexpr auto look_period = std::chrono::milliseconds(50);
constexpr const char* buffers_short =
    "packet buffers ran short and limited the result: expected a higher value of live.buffers";

std::string status_line(const LiveStatus& status) {
  char line[160];
  const SeriesPoint& p = status.point;
  std::snprintf(line, sizeof line,
                "link %5.2f of %5.2f Mb/s  queue %6.1f kB, %5.0f ms  in flight %6.1f kB  missed TTIs %llu",
                p.link_used_bps / 1e6, p.link_rate_bps / 1e6, p.queue_bytes / 1e3, p.radio_queue_delay_ms.value_or(0),
                p.outstanding_bytes / 1e3, static_cast<unsigned long long>(status.ttis_missed));
  return line;
}

/// Waits for the end of the run, which takes `duration`, while `page` is served, and shows the status: a changing line
/// on a terminal, else a line every ten seconds.
void watch(LiveRun& run, Duration duration, std::optional<RadioPage>& page) {
  using Clock = std::chrono::steady_clock;
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const Clock::time_point started = Clock::now();
  Clock::time_point next = started;
  auto warn_once = [warned = false](const LiveStatus& status) mutable {
    if (status.buffers_short && !std::exchange(warned, true)) spdlog::warn("{}", buffers_short);
  };
  for (LiveStatus status = run.status(); !status.finished && !stop_requested; status = run.status()) {
    warn_once(status);
    page ? page->serve_for(look_period) : std::this_thread::sleep_for(look_period);
    if (Clock::now() < next) continue;
    next += terminal ? std::chrono::milliseconds(250) : std::chrono::milliseconds(10'000);
    const double gone = std::chrono::duration<double>(Clock::now() - started).count();
    const std::string left = format_seconds(to_seconds(duration) - gone) + " left";
    if (terminal) {
      Log::show("\r\033[K" + status_line(status) + "  " + left);
    } else if (gone > 1) {
      spdlog::info("{}  {}", status_line(status), left);
    }
  }
  if (terminal) Log::show("\r\033[K");
  warn_once(run.status());
}

void print_timing(const RunResult& result) {
  const auto count = [&](const char* name) { return static_cast<unsigned long long>(result.counters.at(name)); };
  const double share = static_cast<double>(count("ttis_missed")) / std::max(1.0, static_cast<double>(count("ttis")));
  std::printf("TTIs missed: %llu of %llu (%.1e); events late by p50 %llu us, p99 %llu us, at most %llu us\n",
              count("ttis_missed"), count("ttis"), share, count("lateness_p50_us"), count("lateness_p99_us"),
              count("lateness_max_us"));
  if (!result.counters.contains("report_echo_p99_us")) return;
  std::printf("Statuses confirmed the allowances of reports within %llu us (p50), %llu us (p99)\n",
              count("report_echo_p50_us"), count("report_echo_p99_us"));
}

}  // namespace

int command_live(const LiveOptions& options) {
  std::optional<LoadedExperiment> experiment = load_experiment(options.file, 1, {});
  if (!experiment) return exit_configuration;
  Plan& plan = experiment->plan;
  Scenario& scenario = plan.base;
  const std::optional<RunMode> mode = mode_of(scenario, options.mode);
  if (!mode) return exit_configuration;
  if (options.seconds > 0) scenario.duration = from_seconds(options.seconds);
  if (scenario.warmup >= scenario.duration) {
    std::fputs("nodeb: the duration must be longer than the scenario's warm-up\n", stderr);
    return exit_configuration;
  }
  if (options.check) return command_check(options.file, options.traces);
  TraceLibrary traces = trace_library(options.file, options.traces);
  Provenance provenance = provenance_of(*experiment, traces);
  provenance.clock = "real";
  const dpdk::Eal eal(eal_config(scenario));
  packet::PacketPool pool("nodeb", scenario.live.buffers, room_for(scenario));
  RunResult result;
  try {
    LiveRun run(scenario, *mode, pool, traces);
    for (const std::string& line : run.describe()) spdlog::info("{}", line);
    spdlog::info("{}", live_summary(scenario, *mode));
    run.start();
    std::optional<RadioPage> page;
    if (scenario.live.page) page.emplace(*scenario.live.page, run, std::string(to_string(*mode)));
    spdlog::info("ready: mode {}, {}", to_string(*mode), format_seconds(to_seconds(scenario.duration)));
    watch(run, scenario.duration, page);
    result = run.result();
  } catch (const TraceMissing& missing) {
    std::fprintf(stderr, "nodeb: skipped: %s\n", missing.what());
    return exit_skipped;
  }
  result.key.scenario = plan.name;
  std::fputs(summary_text({result}, {}, {terminal_width()}).c_str(), stdout);
  print_timing(result);
  if (!options.out.empty()) {
    const std::vector<std::string> files = write_results(options.out, {result});
    provenance.seeds = {result.key.seed};
    provenance.modes = {result.key.mode};
    write_provenance(options.out, provenance, files);
    std::fputs(written_line(options.out, files).c_str(), stdout);
  }
  return exit_ok;
}

}  // namespace sluice::emulator
