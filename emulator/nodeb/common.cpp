// Functions that several commands of `nodeb` share: signals, log, and reading scenarios from the command line. The
// signal handler only uses async-signal-safe calls.

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <memory>

#include "emulator/nodeb/commands.hpp"
#include "emulator/report/text_table.hpp"
#include "emulator/scenario/describe.hpp"
#include "proxy/daemon/service/log_sink.hpp"

namespace sluice::emulator {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

namespace {

/// Time of the first signal in seconds of CLOCK_MONOTONIC. The type permits access from a signal handler.
volatile std::sig_atomic_t stop_requested_at = 0;

/// Requests a stop at the first signal. Ignores further signals for about a second, because a terminal and a parent
/// process may both send one for one cause. Ends the program at a later signal.
extern "C" void on_stop_signal(int number) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto seconds = static_cast<std::sig_atomic_t>(now.tv_sec);
  if (!stop_requested.exchange(true)) {
    stop_requested_at = seconds;
  } else if (seconds - stop_requested_at > 1) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}

}  // namespace

void catch_signals() {
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
  std::signal(SIGPIPE, SIG_IGN);
}

namespace {

/// Writer of the log that the existing Log object uses; null if there is no such object.
proxy::LogWriter* log_writer = nullptr;

std::unique_ptr<spdlog::formatter> log_formatter() {
  return std::make_unique<spdlog::pattern_formatter>("%H:%M:%S.%e %^%l%$ %v");
}

}  // namespace

Log::Log() : writer_(STDERR_FILENO, proxy::loss_line_by(log_formatter())) {
  log_writer = &writer_;
  const bool colours = isatty(STDERR_FILENO) == 1;
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("nodeb", std::make_shared<proxy::LogSink>(writer_, log_formatter(), colours)));
}

Log::~Log() {
  log_writer = nullptr;
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
}

void Log::show(std::string_view text) {
  if (log_writer != nullptr) log_writer->write(text);
}

std::optional<Plan> read_plan(const std::string& file, unsigned seeds) {
  config::Loaded<Plan> loaded = load_plan(file, seeds);
  for (const config::Error& warning : loaded.warnings) spdlog::warn("{}", warning.to_string());
  if (loaded) return std::move(*loaded);
  std::fputs(config::to_string(loaded.errors).c_str(), stderr);
  return std::nullopt;
}

std::optional<RunMode> parse_mode(const std::string& word) {
  using Word = config::Scalar<RunMode>;
  const std::optional<RunMode> mode = Word::parse(word);
  if (!mode)
    std::fprintf(stderr, "nodeb: --mode: expected %s, got \"%s\"\n", std::string(Word::kind).c_str(), word.c_str());
  return mode;
}

std::size_t terminal_width() {
  constexpr std::size_t usual = SummaryOptions{}.width;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

TraceLibrary trace_library(const std::string& file, const std::vector<std::string>& folders) {
  std::vector<std::string> places = folders;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  places.push_back(folder.empty() ? "." : folder.string());
  return TraceLibrary(std::move(places));
}

}  // namespace sluice::emulator
