#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"
#include "proxy/service/log_writer.hpp"

// What `nodeb` can be told to do. Each returns the program's exit code.

namespace sluice::emulator {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failure = 1;        ///< could not start, or failed while running
inline constexpr int exit_configuration = 2;  ///< command line or scenario refused
inline constexpr int exit_skipped = 77;       ///< nothing was run: a trace is missing
inline constexpr int exit_interrupted = 130;  ///< stopped by a signal before the end

/// Set by SIGINT and SIGTERM.
extern std::atomic<bool> stop_requested;
/// Has these signals set stop_requested; a second one ends the program at once, if it does not come with the first.
void catch_signals();

struct RunOptions {
  std::string file;
  std::string out;  ///< empty: results are only printed
  unsigned seeds = 1;
  std::vector<std::string> traces;  ///< folders of traces
  unsigned workers = 0;             ///< 0: one per processor
  std::vector<std::string> modes;   ///< empty: the scenario's
  std::string keep;                 ///< folder of finished runs; empty: they are not kept
  bool list = false;                ///< only say which runs there are
  std::vector<std::size_t> only;    ///< numbers of the list; empty: all
};
[[nodiscard]] int command_run(const RunOptions& options);

struct VerifyOptions {
  std::string folder;  ///< of a result
  std::vector<std::string> traces;
  unsigned workers = 0;
};
[[nodiscard]] int command_verify(const VerifyOptions& options);

struct LiveOptions {
  std::string file;
  std::string out;
  std::string mode;    ///< empty: that of live_mode()
  double seconds = 0;  ///< 0: the scenario's duration
  bool check = false;  ///< only look whether it could be begun
  std::vector<std::string> traces;
};
[[nodiscard]] int command_live(const LiveOptions& options);

[[nodiscard]] int command_check(const std::string& file, const std::vector<std::string>& traces);

struct ReportOptions {
  std::string out;
  std::string title;
  std::string description;
  std::vector<std::string> folders;
};
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
[[nodiscard]] int command_trace(const TraceOptions& options);

/// Reads a scenario; prints what is wrong with it. Nothing when it was refused.
[[nodiscard]] std::optional<Plan> read_plan(const std::string& file, unsigned seeds);
/// The mode that a word of the command line means; says which there are when it is none.
[[nodiscard]] std::optional<RunMode> parse_mode(const std::string& word);
/// Where traces are looked for: the folders given, else the scenario's own.
[[nodiscard]] TraceLibrary trace_library(const std::string& file, const std::vector<std::string>& folders);
/// Sends the program's log to standard error while it exists. proxy::LogWriter writes it on its own thread, so a pipe
/// that nobody reads or a stopped terminal does not block other threads. At most one object exists at a time.
class Log {
 public:
  Log();
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Writes `text` as it is, in the order of the log's lines.
  static void show(std::string_view text);

 private:
  proxy::LogWriter writer_;
};

}  // namespace sluice::emulator
