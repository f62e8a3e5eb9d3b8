#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"
#include "proxy/daemon/service/log_writer.hpp"

// Commands of `nodeb` and their options. Each command returns the exit code of the program.

namespace sluice::emulator {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failure = 1;        ///< exit code if the start or the run failed
inline constexpr int exit_configuration = 2;  ///< exit code if the command line or the scenario was refused
inline constexpr int exit_skipped = 77;       ///< exit code if nothing was run, because a trace is missing
inline constexpr int exit_interrupted = 130;  ///< exit code if a signal stopped the program before the end

/// True after SIGINT or SIGTERM.
extern std::atomic<bool> stop_requested;
/// Installs handlers of SIGINT and SIGTERM that set stop_requested. Another signal, more than a second after the first,
/// ends the program at once.
void catch_signals();

struct RunOptions {
  std::string file;
  std::string out;  ///< folder for the results; empty: results are only printed
  unsigned seeds = 1;
  std::vector<std::string> traces;  ///< folders that contain traces
  unsigned workers = 0;             ///< number of threads; 0: one per processor
  std::vector<std::string> modes;   ///< names of the modes to run; empty: those of the scenario
  std::string keep;                 ///< folder for finished runs; empty: they are not kept
  bool list = false;                ///< true to print the list of runs instead of running them
  std::vector<std::size_t> only;    ///< numbers of the runs to execute, as in the printed list of runs; empty: all
};
/// Runs an experiment in virtual time. Returns the exit code.
[[nodiscard]] int command_run(const RunOptions& options);

struct VerifyOptions {
  std::string folder;  ///< folder of a result
  std::vector<std::string> traces;
  unsigned workers = 0;
};
/// Runs the scenario of a stored result again, and compares the new result with the stored one. Returns the exit code:
/// exit_failure if they differ.
[[nodiscard]] int command_verify(const VerifyOptions& options);

struct LiveOptions {
  std::string file;
  std::string out;
  std::string mode;    ///< name of the mode; empty: the mode that live_mode() returns
  double seconds = 0;  ///< duration; 0: the scenario's
  bool check = false;  ///< true to check the scenario without running it
  std::vector<std::string> traces;
};
/// Runs the Node-B in real time. Returns the exit code.
[[nodiscard]] int command_live(const LiveOptions& options);

/// Checks a scenario and the files it names. Prints all errors. Returns the exit code.
[[nodiscard]] int command_check(const std::string& file, const std::vector<std::string>& traces);

struct ReportOptions {
  std::string out;
  std::string title;
  std::string description;
  std::vector<std::string> folders;
};
/// Writes one table and one report of the results in several folders together. Returns the exit code.
[[nodiscard]] int command_report(const ReportOptions& options);

struct TraceOptions {
  std::string out;
  double seconds = 120;
  std::uint64_t seed = 1;
  double mean_mbps = 5;
  double speed_kmh = 3;
  double snr_db = 12;
  double shadowing_db = 6;
  double outage_every_s = 20;
};
/// Generates a capacity trace.
[[nodiscard]] int command_trace(const TraceOptions& options);

/// Reads a scenario and prints its errors. Returns nothing if there is an error.
[[nodiscard]] std::optional<Plan> read_plan(const std::string& file, unsigned seeds);
/// Returns the mode with the name `word`. If there is none, prints the valid names and returns nothing.
[[nodiscard]] std::optional<RunMode> parse_mode(const std::string& word);
/// Returns the width of the terminal at standard output in columns; 160 if standard output is no terminal.
[[nodiscard]] std::size_t terminal_width();
/// Returns a trace library that searches `folders` and then the folder of the scenario `file`.
[[nodiscard]] TraceLibrary trace_library(const std::string& file, const std::vector<std::string>& folders);
/// Sends the program's log to standard error while the object exists. At most one object exists at a time.
/// proxy::LogWriter writes on its own thread, so an unread pipe or a stopped terminal does not block other threads.
class Log {
 public:
  Log();
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Writes `text` unchanged, in order with the lines of the log.
  static void show(std::string_view text);

 private:
  proxy::LogWriter writer_;
};

}  // namespace sluice::emulator
